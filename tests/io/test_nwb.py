"""NWB files: spikes, calcium and position become sequences, one per epoch; what leads out of a file
or damages it is rejected.
"""

import json
import shutil
import sys
import warnings

import h5py
import numpy as np
import pynapple as nap
import pytest

import seqattractor as sa
from nwb_files import (
    LAPS,
    SILENT,
    UNITS,
    empty_session,
    spike_times,
    traces,
    whole_session,
    with_epochs,
    with_series,
    with_spikes,
    write_session,
)
from own_files import rejects


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A file that holds all kinds of things."""
    return write_session(tmp_path_factory.mktemp("nwb") / "session.nwb", whole_session())


@pytest.fixture
def changed(session, tmp_path):
    """A copy of that file to which something is done with h5py."""
    path = tmp_path / "changed.nwb"

    def change(what):
        shutil.copy(session, path)
        with h5py.File(path, "r+") as file:
            what(file)
        return path

    return change


def raster(intervals, width):
    """Where each unit fired, in plain numpy: (T, 5) zeros and ones for each interval."""
    found = []
    for start, stop in intervals:
        edges = start + width * np.arange(round((stop - start) / width) + 1)
        columns = [
            np.histogram(times[times < stop], edges)[0] > 0 for times in spike_times().values()
        ]
        found.append(np.column_stack(columns))
    return found


def test_laps_become_sequences_of_bins_with_a_column_per_unit(session):
    X = sa.io.load(session, bin=0.1, epochs="laps")
    assert [(x > 0).tolist() for x in X.split()] == [x.tolist() for x in raster(LAPS, 0.1)]
    assert X.names == ["laps 0", "laps 1", "laps 2"]
    assert X.units == ["10", "11", "12", "13", "14"]
    assert (X.rate, X.kind, X.options) == (10.0, "spikes", {"bin": 0.1, "epochs": "laps"})
    assert (X[:, X.units.index(str(SILENT))] == -1).all()


def test_a_column_of_labels_names_the_epochs(session):
    assert sa.io.load(session, bin=0.1, epochs="trials").names == ["left 0", "right 1", "left 2"]


def test_without_epochs_the_recording_is_one_sequence_as_pynapple_has_it(session):
    X = sa.io.load(session, bin=0.1)
    assert X.names == ["session"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pynapple, about a silent unit
        units = nap.load_file(str(session))["units"]
    assert (X.patterns == sa.io.from_pynapple(units, 0.1).patterns).all()


def test_a_threshold_counts_spikes_and_frames_are_those_of_each_lap(session):
    often = sa.io.load(session, bin=1.0, epochs="laps", threshold=3, frames=(0, 2))
    times = spike_times()[12]
    counts = [
        ((start + k <= times) & (times < start + k + 1)).sum() for start, _ in LAPS for k in (0, 1)
    ]
    assert ((often[:, 2] > 0) == (np.array(counts) > 3)).all()
    assert often.lengths.tolist() == [2, 2, 2]


def test_calcium_is_cut_at_a_threshold_for_each_trace(session):
    X = sa.io.load(session, key="DfOverF", threshold="otsu", bin=0.1)
    assert (X.units, X.kind) == (["100", "101", "102"], "traces")
    on = (X > 0).mean(axis=0)
    assert ((on > 0.08) & (on < 0.16)).all()  # the bright cell is not on more often than the others
    samples = sa.io.load(session, key="processing/ophys/DfOverF/traces", threshold=0.5)
    assert ((samples > 0) == (traces() > 0.5)).all()
    assert samples.rate == 30.0
    rejects(session, "more than two values .* give a threshold", key="traces")


def test_position_is_read_in_the_unit_that_the_file_names(session):
    X = sa.io.load(session, key="position", threshold=0.5, epochs="laps")
    assert X.units == ["x", "y"]
    t = np.arange(50) / 20 + LAPS[1][0]
    assert (X.split()[1][:50, 0] > 0).tolist() == (
        np.sin(t) > 0.5
    ).tolist()  # metres; the file holds centimetres


def test_the_only_series_of_a_file_needs_no_key(tmp_path):
    path = write_session(
        tmp_path / "a.nwb", with_series(empty_session(), "licks", [0, 1, 1, 0], rate=4.0)
    )
    assert sa.io.load(path).patterns.ravel().tolist() == [-1, 1, 1, -1]


def test_what_is_not_there_is_listed(session, tmp_path):
    rejects(session, "give the width of a time bin in seconds with bin")
    rejects(
        session,
        "no table of intervals called 'lap'; there are: intervals/laps, intervals/trials",
        bin=0.1,
        epochs="lap",
    )
    rejects(session, "no units or time series called 'x'; there are: .*units", key="x")
    rejects(
        session, "2 things called 'processing'.*; give more of its place with key", key="processing"
    )
    rejects(write_session(tmp_path / "a.nwb", empty_session()), "neither spikes nor a time series")
    silent = with_spikes(empty_session(), {1: np.array([])})
    rejects(write_session(tmp_path / "b.nwb", silent), "holds no spikes", bin=0.1)
    several = with_series(
        with_series(empty_session(), "a", [0, 1], rate=1.0), "b", [0, 1], rate=1.0
    )
    rejects(
        write_session(tmp_path / "c.nwb", several),
        "holds acquisition/a, acquisition/b; choose one with key",
    )


def test_epochs_without_an_end_are_left_out_with_a_warning(tmp_path):
    laps = [(0.0, 2.0), (3.0, np.nan), (4.0, 4.001)]
    path = write_session(tmp_path / "a.nwb", with_epochs(with_spikes(empty_session()), laps))
    with pytest.warns(
        UserWarning, match="2 of 3 epochs of .*a.nwb were left out .the first is laps 1."
    ):
        assert sa.io.load(path, bin=0.1, epochs="laps").names == ["laps 0"]


def test_epochs_may_overlap(tmp_path):
    path = write_session(
        tmp_path / "a.nwb", with_epochs(with_spikes(empty_session()), [(0.0, 2.0), (1.0, 3.0)])
    )
    first, second = sa.io.load(path, bin=0.1, epochs="laps").split()
    assert (first[10:] == second[:10]).all()


def test_only_nwb_files_and_spikes_have_epochs(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 3)))
    message = "is read as neither spikes nor NWB, and only these have epochs; give bin for spikes"
    rejects(tmp_path / "a.npy", message, epochs="laps")
    with pytest.raises(
        TypeError,
        match="epochs must be the name of a table or a file of intervals, such as 'trials'",
    ):
        sa.io.load(tmp_path / "a.npy", epochs=3)


def test_missing_values_and_samples_are_named(tmp_path):
    def reject(match, data, **times):
        rejects(
            write_session(
                tmp_path / f"{len(list(tmp_path.iterdir()))}.nwb",
                with_series(empty_session(), "a", data, **times),
            ),
            match,
        )

    reject("holds nan in frame 1, value 0; fill or drop it first", [0.0, np.nan, 1.0], rate=2.0)
    reject("no sample for 8 s after 1 s", [0, 1, 0, 1], timestamps=[0.0, 1.0, 9.0, 10.0])
    reject("do not run forwards", [0, 1, 0], timestamps=[0.0, 2.0, 1.0])
    reject(
        r"has \d+ bins of 0.02 s and 1 units, more than can be stored; take wider",
        np.zeros(180_000),
        rate=50.0,
    )
    reject("values of type .* not numbers", ["a", "b"], rate=2.0)


# -- files that could hurt
# --------------------------------------------------------------------------------------------------


def test_nothing_is_read_from_another_file(changed, session):
    def link(file):
        del file["units/spike_times"]
        file["units/spike_times"] = h5py.ExternalLink(str(session), "/units/spike_times")

    rejects(
        changed(link),
        "takes '/units/spike_times' from another file, .*only what a file holds itself is read",
        bin=0.1,
    )

    def raw(file):
        del file["units/spike_times"]
        file.create_dataset(
            "units/spike_times", (10,), dtype="f8", external=[("/etc/passwd", 0, 80)]
        )

    rejects(changed(raw), "from another file, '/etc/passwd'", bin=0.1)

    def virtual(file):
        del file["units/spike_times"]
        layout = h5py.VirtualLayout((160,), dtype="f8")
        layout[:] = h5py.VirtualSource(str(session), "/units/spike_times", (160,))
        file.create_virtual_dataset("units/spike_times", layout)

    rejects(changed(virtual), "from another file", bin=0.1)


def test_sizes_are_looked_at_before_an_array_is_read(changed):
    def promise(shape, **more):
        def change(file):
            attributes = dict(file["units/spike_times"].attrs)
            del file["units/spike_times"]
            file.create_dataset("units/spike_times", shape, dtype="f8", **more).attrs.update(
                attributes
            )
            file["units/spike_times_index"].attrs["target"] = file["units/spike_times"].ref

        return change

    rejects(
        changed(promise((2**40,), chunks=(2**10,))),
        "1099511627776 values in 'units', more than are read",
        bin=0.1,
    )
    rejects(
        changed(promise((160,), maxshape=(None,), chunks=(2**28 + 1,))),
        "more than are read",
        bin=0.1,
    )

    def last(file):
        file["units/spike_times"][-1] = 1e12

    rejects(
        changed(last),
        "bins of 0.1 s and 5 units, more than can be stored; take wider bins with bin",
        bin=0.1,
    )


def test_tables_that_do_not_fit_together_are_damaged(changed):
    def index(values):
        def change(file):
            file["units/spike_times_index"][:] = values

        return change

    for values in ([40, 80, 120, 120, 161], [40, 20, 120, 120, 160]):
        rejects(
            changed(index(values)), "is damaged: 'units' does not assign spikes to units", bin=0.1
        )

    def infinite(file):
        file["units/spike_times"][3] = np.inf

    rejects(changed(infinite), "not all finite", bin=0.1)


def test_damaged_files_are_rejected_with_a_sentence(session, tmp_path):
    whole = session.read_bytes()
    path = tmp_path / "a.nwb"
    heap = whole.index(b"GCOL")
    for content, match in (
        (b"GIF89a" + whole, "cannot be read as NWB: it is damaged, or its name does not fit"),
        (
            whole[: len(whole) // 2],
            "cannot be read as NWB: it is damaged, or of an unknown version",
        ),
        (whole[:100] + bytes(400) + whole[500:], "cannot be read as NWB"),
        # HDF5 would go round in the heap for ever.
        (
            whole[: heap + 16] + bytes(4080) + whole[heap + 4096 :],
            "a heap of texts in it has no end",
        ),
    ):
        path.write_bytes(content)
        rejects(path, match, bin=0.1)
    with h5py.File(path, "w") as file:
        file["X"] = [1, 2]
    rejects(path, "cannot be read as NWB", bin=0.1)


def test_without_pynwb_one_sentence_explains_how_to_install_it(session, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynwb", None)
    with pytest.raises(
        ValueError,
        match=r'NWB files need pynwb; install it with: pip install "seqattractor\[nwb\]"',
    ):
        sa.io.load(session, bin=0.1)


# -- the command line
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_laps_are_learned_and_recalled_on_the_command_line(session, tmp_path, run):
    code, out, _ = run(
        "learn", session, "--bin", 0.25, "--epochs", "laps", "--network", "lookup", "-o", "laps.npz"
    )
    assert code == 0
    assert "3 sequences (laps 0, laps 1, laps 2), 30 patterns of 5 units" in out
    code, out, _ = run("recall", "laps.npz", "--cue", "1:0", "-o", "lap.csv", "--json")
    assert code == 0
    assert json.loads(out)["spikes"]["units"][0]["unit"] == "10"
    table = (tmp_path / "lap.csv").read_text().split()
    assert table[0] == "time,10,11,12,13,14"
    rows = np.array([[float(cell) for cell in row.split(",")] for row in table[1:]])
    assert rows[:, 0].tolist() == [0.25 * k for k in range(10)]
    assert (rows[:, 1:] == raster(LAPS[1:2], 0.25)[0]).all()

    code, out, _ = run("recall", "laps.npz", "--cue", session)  # read as it was for learning
    assert code == 0
    assert "nearest to frame 0 of laps 0 (overlap 1.000)" in out
    fired = np.argwhere(raster(LAPS[:1], 0.25)[0])
    (tmp_path / "cue.csv").write_text(
        "time,unit\n" + "\n".join(f"{0.25 * t},{UNITS[unit]}" for t, unit in fired)
    )
    code, out, _ = run(
        "recall", "laps.npz", "--cue", "cue.csv"
    )  # spikes of another kind have no laps
    assert code == 0
    assert "cue.csv, nearest to frame 0 of laps 0 (overlap 1.000)" in out


def test_only_recordings_have_epochs(tmp_path, run):
    np.save(tmp_path / "a.npy", np.where(np.random.default_rng(0).random((6, 30)) < 0.5, -1, 1))
    err = run("learn", "a.npy", "-o", "a.npz", "--network", "lookup", "--epochs", "laps")[2]
    assert "only these have epochs; give --bin for spikes, or leave --epochs out" in err
