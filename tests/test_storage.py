"""Model files: whole, ours, without pickle, and good to learn on from."""

import json
import os
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seqattractor as sa
from seqattractor._files import atomic_write

X = sa.datasets.random_periodic(7, 20, rng=0)
NETWORKS = [
    sa.SequenceAttractor(30, random_state=0),
    sa.SequenceAttractor(30, learn="V", max_epochs=2000, random_state=0),
    sa.SequenceAttractor(30, random_state=np.random.default_rng(5), order=2),
    sa.VisibleNetwork(random_state=0),
    sa.PseudoInverseMemory(),
    sa.OneHotNetwork(),
]


@pytest.mark.parametrize("net", NETWORKS, ids=lambda net: type(net).__name__)
def test_a_network_comes_back_as_it_was_saved(net, tmp_path):
    net.fit(X)
    net.metadata_ = {"frame_shape": [4, 5], "name": "wälk"}
    net.save(tmp_path / "model.npz")
    again = sa.load(tmp_path / "model.npz")
    assert type(again) is type(net)
    for name, value in net.get_params().items():
        if name != "random_state":
            assert getattr(again, name) == value
    assert again.metadata_ == net.metadata_
    for name, value in vars(net).items():
        if name.endswith("_"):
            assert type(getattr(again, name)) is type(value)
            assert np.array_equal(getattr(again, name), value)
    cue = X[:2] if again.order_ == 2 else X[0]
    assert np.array_equal(again.recall(cue, steps=9), net.recall(cue, steps=9))


@settings(max_examples=15)
@given(seed=st.integers(0, 999), rounds=st.integers(1, 4))
def test_learning_on_after_loading_equals_never_having_saved(seed, rounds, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.npz"
    straight = sa.SequenceAttractor(12, random_state=seed)
    broken = sa.SequenceAttractor(12, random_state=seed)
    for _ in range(rounds):
        straight.partial_fit(X)
        broken.partial_fit(X)
        broken.save(path)
        broken = sa.load(path)
    assert np.array_equal(straight.U_, broken.U_)
    assert np.array_equal(straight.V_, broken.V_)
    assert np.array_equal(straight.visible_errors_, broken.visible_errors_)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.npz"
    sa.SequenceAttractor(30, random_state=0).fit(X).save(path)
    return path


def test_the_file_is_an_npz_that_numpy_reads_without_pickle(model):
    with np.load(model, allow_pickle=False) as arrays:
        assert arrays["U_"].shape == (30, 20)
    header = json.loads(zipfile.ZipFile(model).read("header.json"))
    assert header["format"] == "seqattractor-model"
    assert header["class"] == "SequenceAttractor"
    assert header["parameters"]["n_hidden"] == 30


@pytest.mark.parametrize("keep", [0, 10, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_named_as_such(model, keep):
    data = model.read_bytes()
    model.write_bytes(data[: int(keep * len(data)) if keep < 1 else keep])
    with pytest.raises(ValueError, match=r"model\.npz .*truncated"):
        sa.load(model)


def test_a_file_with_a_flipped_byte_is_named_as_damaged(model):
    data = bytearray(model.read_bytes())
    data[len(data) // 2] ^= 255
    model.write_bytes(bytes(data))
    with pytest.raises(ValueError, match=r"truncated|damaged"):
        sa.load(model)


def rewrite(model, change):
    """Write the model again with a changed header."""
    with zipfile.ZipFile(model) as old:
        members = {name: old.read(name) for name in old.namelist()}
    members["header.json"] = json.dumps(change(json.loads(members["header.json"]))).encode()
    with zipfile.ZipFile(model, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda h: {**h, "version": 99}, "version 99, but this seqattractor reads version 1"),
        (lambda h: {**h, "format": "other"}, "not a seqattractor model"),
        (lambda h: [], "not a seqattractor model"),
        (lambda h: {**h, "class": "Unheard"}, "class 'Unheard', which is not known"),
        (lambda h: {**h, "class": "object"}, "class 'object', which is not known"),
        (lambda h: {**h, "parameters": {"n_hidde": 3}}, "header .* is damaged"),
        (lambda h: {k: v for k, v in h.items() if k != "values"}, "header .* is damaged"),
    ],
)
def test_a_foreign_or_newer_header_is_refused_in_one_sentence(model, change, says):
    rewrite(model, change)
    with pytest.raises(ValueError, match=says) as caught:
        sa.load(model)
    assert "\n" not in str(caught.value)


def test_an_array_that_promises_more_than_it_holds_is_refused_before_memory_is_taken(model):
    with zipfile.ZipFile(model, "a") as archive:
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000, 100), }"
        archive.writestr("W_.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 64)
    with pytest.raises(ValueError, match="shorter than its header says"):
        sa.load(model)


@pytest.mark.parametrize(
    ("array", "says"), [(None, "U_ is missing"), (np.ones((3, 3)), r"U_ has the shape \(3, 3\), not \(30, 20\)")]
)
def test_an_array_that_is_missing_or_of_another_shape_is_named(model, array, says):
    with zipfile.ZipFile(model) as old:
        members = {name: old.read(name) for name in old.namelist() if name != "U_.npy"}
    with zipfile.ZipFile(model, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
        if array is not None:
            with new.open("U_.npy", "w") as member:
                np.lib.format.write_array(member, array)
    with pytest.raises(ValueError, match=f"damaged.*{says}"):
        sa.load(model)


def test_a_model_saved_before_its_header_named_the_arrays_is_read(model):
    rewrite(model, lambda h: {k: v for k, v in h.items() if k != "arrays"})
    assert sa.load(model).score(X) == 1


def test_a_pipe_or_a_device_is_not_replaced_by_a_file(model):
    pipe = model.with_name("pipe")
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="is not a regular file"):
        sa.load(model).save(pipe)
    assert pipe.is_fifo()


def test_pickled_arrays_are_refused(model):
    with zipfile.ZipFile(model, "a") as archive, archive.open("evil.npy", "w") as member:
        np.lib.format.write_array(member, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="damaged"):
        sa.load(model)


def test_what_is_not_there_or_not_a_model_gets_one_clear_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        sa.load(tmp_path / "none.npz")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        sa.load(tmp_path)
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(ValueError, match="not a seqattractor model"):
        sa.load(tmp_path / "text.npz")
    np.savez(tmp_path / "plain.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="no header"):
        sa.load(tmp_path / "plain.npz")


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(model):
    before = model.read_bytes()
    net = sa.load(model)
    net.odd_ = object()
    with pytest.raises(TypeError, match="odd_ is of type object, which a model file cannot hold"):
        net.save(model)

    def interrupted():
        with atomic_write(model) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert model.read_bytes() == before
    assert [p.name for p in model.parent.iterdir()] == ["model.npz"]


def test_a_name_that_cannot_be_written_is_told_as_it_was_given(model):
    with pytest.raises(OSError, match="too long") as caught:
        sa.load(model).save(model.with_name("x" * 300))
    assert str(caught.value.filename).endswith("/" + "x" * 300)


def test_a_folder_that_does_not_exist_is_named(tmp_path, model):
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist"):
        sa.load(model).save(tmp_path / "nowhere" / "m.npz")
