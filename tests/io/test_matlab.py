"""MATLAB files as people bring them, written by scipy and h5py, independent of our reader."""

import struct

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

import seqattractor as sa
from own_files import FRAMES, PATTERNS, rejects
from seqattractor.io._arrays import open_arrays

TIMES, UNITS = [0.05, 0.06, 0.31], [2, 1, 1]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_arrays_of_every_type_of_number_are_read_as_scipy_reads_them(tmp_path, packed, dtype):
    rng = np.random.default_rng(3)
    written = {
        f"a{k}": rng.integers(0, 2, shape).astype(dtype)
        for k, shape in enumerate([(5, 7), (1, 4), (3, 4, 5), (0, 3)])
    }
    scipy.io.savemat(tmp_path / "a.mat", written, do_compression=packed)
    with open_arrays(tmp_path / "a.mat") as arrays:
        found = {name: read() for name, read in arrays.items()}
    assert list(found) == list(written)
    for name, array in found.items():
        assert array.dtype == np.dtype(dtype)
        assert np.array_equal(array, written[name]), name


def test_patterns_and_frames_are_read_beside_texts_and_structures(tmp_path):
    beside = {"who": "me", "about": {"rate": 3.0}, "fps": 12.0, "time": np.arange(5) / 12}
    scipy.io.savemat(
        tmp_path / "a.mat", {"X": PATTERNS.astype(float), **beside}, do_compression=True
    )
    found = sa.io.load(tmp_path / "a.mat")
    assert np.array_equal(found, PATTERNS)
    assert found.rate == 12.0
    scipy.io.savemat(tmp_path / "b.mat", {"frames": FRAMES})
    assert np.array_equal(sa.io.load(tmp_path / "b.mat"), PATTERNS)
    assert sa.io.load(tmp_path / "b.mat").frame_shape == FRAMES.shape[1:]
    rejects(
        tmp_path / "a.mat",
        "'who' in .* holds texts, structures, objects or sparse numbers",
        key="who",
    )
    rejects(tmp_path / "a.mat", "has no array 'Y'; it holds X, who, about, fps, time", key="Y")


def cell(*trains):
    """A cell of MATLAB with these vectors."""
    made = np.empty((1, len(trains)), dtype=object)
    for k, train in enumerate(trains):
        made[0, k] = np.array(train)
    return made


@pytest.mark.parametrize(
    "content",
    [
        {"s": np.column_stack([TIMES, UNITS])},
        {"times": TIMES, "unit": UNITS},
        {"spikes": cell([0.06, 0.31], [0.05])},
    ],
    ids=["n x 2", "two vectors", "a cell"],
)
def test_spikes_are_read_in_the_three_forms_that_people_have(tmp_path, content):
    scipy.io.savemat(tmp_path / "s.mat", content)
    found = sa.io.load(tmp_path / "s.mat", bin=0.1)
    assert found.units == ["1", "2"]
    assert found.tolist() == [[1, 1], [-1, -1], [1, -1]]  # bins from the first spike on


def test_a_unit_without_spikes_keeps_its_place_in_a_cell(tmp_path):
    scipy.io.savemat(tmp_path / "s.mat", {"spikes": cell([0.06, 0.31], [], [0.05]), "other": 3.0})
    assert sa.io.load(tmp_path / "s.mat", bin=0.1, key="spikes").units == ["1", "2", "3"]


def test_a_file_of_version_7_3_is_read_through_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file["X"] = PATTERNS.T.astype(float)  # as MATLAB stores it, the last axis first
        file["word"] = np.array([[104, 105]], dtype=np.uint16)
        file["word"].attrs["MATLAB_class"] = np.bytes_("char")
    with (tmp_path / "a.mat").open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + struct.pack("<H", 0x200) + b"IM")
    assert np.array_equal(sa.io.load(tmp_path / "a.mat"), PATTERNS)
    rejects(tmp_path / "a.mat", "'word' in .* holds texts or cells", key="word")
    whole = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "a.mat").write_bytes(whole[: len(whole) // 2])
    rejects(tmp_path / "a.mat", "cannot be read as a MATLAB file: it is damaged")


def test_files_that_cannot_be_read_are_rejected_with_a_way_out(tmp_path):
    (tmp_path / "a.mat").write_bytes(b"X" * 300)
    rejects(
        tmp_path / "a.mat",
        "is not a MATLAB file of version 5 or later, or it is damaged; save it again with -v7",
    )
    scipy.io.savemat(tmp_path / "a.mat", {"X": PATTERNS * 1j})
    rejects(
        tmp_path / "a.mat",
        "'X' in .* holds complex numbers; only full arrays of real numbers are read",
    )
    scipy.io.savemat(tmp_path / "a.mat", {"X": PATTERNS})
    content = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "a.mat").write_bytes(content + content[128:])
    rejects(tmp_path / "a.mat", "two of its variables are called 'X'")


@given(st.data())
def test_a_file_with_wrong_bytes_is_read_or_rejected_with_a_sentence(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "a.mat"
    content = {"X": PATTERNS} if data.draw(st.booleans()) else {"spikes": cell([0.1, 0.2], [0.3])}
    scipy.io.savemat(path, content, do_compression=data.draw(st.booleans()))
    whole = bytearray(path.read_bytes())
    for place, byte in data.draw(
        st.lists(st.tuples(st.integers(124, len(whole) - 1), st.integers(0, 255)), min_size=1)
    ):
        whole[place] = byte
    path.write_bytes(
        whole[: data.draw(st.integers(1, len(whole)))] if data.draw(st.booleans()) else whole
    )
    sentence = str(path)
    try:
        sa.io.load(path, **({"bin": 0.1} if "spikes" in content else {}))
    except ValueError as error:
        sentence = str(error)
    assert str(path) in sentence
    assert "\n" not in sentence
