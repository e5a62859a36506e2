"""Laps and events come from arrays, files and pynapple, and results go back to pynapple and NWB."""

import numpy as np
import pynapple as nap
import pytest
from pynwb import NWBHDF5IO
from scipy.io import savemat

import seqattractor as sa

KINDS = {"forward": 3, "reverse": 3, "rates": 2}
SESSION = sa.datasets.recording(n_cells=30, n_laps=3, n_events=KINDS, loss=0.2, rng=0)
BIN, EVENT_BIN = 0.1, 0.02


@pytest.fixture(scope="module")
def learned():
    laps = sa.replay.consensus(SESSION.lap_counts(BIN))
    return sa.zoo.LookupMemory(on_conflict="learn").fit(laps)


@pytest.fixture(scope="module")
def expected(learned):
    return sa.replay.test(learned, SESSION.event_counts(EVENT_BIN), n_shuffles=40, rng=1)


def write_epochs(path, intervals):
    path.write_text("".join(f"{start!r},{end!r}\n" for start, end in intervals.tolist()))
    return str(path)


def write_spikes(path):
    """The spikes of the session as the ending says."""
    table = np.column_stack([SESSION.times, SESSION.cells])
    if path.suffix == ".nwb":
        SESSION.write_nwb(path)
    elif path.suffix == ".npy":
        np.save(path, table)
    elif path.suffix == ".mat":
        trains = np.empty((30, 1), dtype=object)
        for cell in range(30):
            trains[cell, 0] = SESSION.times[SESSION.cells == cell]
        savemat(path, {"spikes": trains})
    else:
        path.write_text("".join(f"{time!r},{cell}\n" for time, cell in table.tolist()))
    return path


@pytest.mark.parametrize("ending", [".nwb", ".csv", ".npy", ".mat"])
def test_files_of_spikes_give_the_laps_and_the_events(ending, tmp_path, learned, expected):
    path, names = write_spikes(tmp_path / f"session{ending}"), ("laps", "events")
    if ending != ".nwb":
        intervals = {"laps.txt": SESSION.laps, "events.txt": SESSION.events}
        names = [write_epochs(tmp_path / name, each) for name, each in intervals.items()]
    laps = sa.io.load(path, bin=BIN, epochs=names[0])
    events = sa.io.load(path, bin=EVENT_BIN, epochs=names[1])
    assert laps.units == events.units
    for found, counts in ((laps, SESSION.lap_counts(BIN)), (events, SESSION.event_counts())):
        on = np.concatenate(counts) > 0
        assert ((found.patterns > 0) == on).all()
        assert found.lengths.tolist() == [len(each) for each in counts]
    assert sa.replay.consensus(laps).units == laps.units
    tested = sa.replay.test(learned, events, sequences=laps, n_shuffles=40, rng=1)
    assert tested.p_values.tolist() == expected.p_values.tolist()


def test_pynapple_gives_the_same_numbers_as_arrays(learned, expected):
    recorded = SESSION.to_pynapple()
    units, laps, events = (recorded[name] for name in ("units", "laps", "events"))
    given = {"epochs": events, "bin_size": EVENT_BIN}
    tested = sa.replay.test(learned, units, n_shuffles=40, rng=1, **given)
    assert tested.p_values.tolist() == expected.p_values.tolist()
    for k, counted in enumerate(tested.events):
        assert (counted == (units.count(EVENT_BIN, ep=events[k]).values > 0)).all()
    of_laps = {"epochs": laps, "bin_size": BIN}
    found = sa.replay.consensus(units, **of_laps)
    again = sa.replay.consensus(SESSION.lap_counts(BIN))
    assert (found.patterns == again.patterns).all()
    assert found.units == [str(cell) for cell in range(30)]
    memory, options = sa.zoo.LookupMemory(on_conflict="learn"), {"n_shuffles": 10, "rng": 0}
    one = sa.replay.cross_validate(units, memory, **of_laps, **options)
    two = sa.replay.cross_validate(SESSION.lap_counts(BIN), memory, **options)
    assert one.memory.tolist() == two.memory.tolist()


def test_an_event_that_is_too_short_for_a_bin_keeps_its_entry(learned):
    units = SESSION.to_pynapple()["units"]
    start, end = SESSION.events[0]
    events = nap.IntervalSet([start, end + 0.1], [end, end + 0.101])
    given = {"epochs": events, "bin_size": EVENT_BIN}
    tested = sa.replay.test(learned, units, n_shuffles=10, rng=0, **given)
    assert tested.tested.tolist() == [True, False]
    assert len(tested.to_pynapple(events)) == 2


def test_results_go_back_to_pynapple_beside_what_was_known(learned):
    recorded, laps = SESSION.to_pynapple(), sa.replay.consensus(SESSION.lap_counts(BIN))
    counts = [*SESSION.event_counts(EVENT_BIN)[:-1], np.zeros((4, 30))]
    tested = sa.replay.test(learned, counts, sequences=laps, n_shuffles=40, rng=1)
    back = tested.to_pynapple(recorded["events"])
    assert np.allclose(back.values, SESSION.events)
    assert list(back.kind) == SESSION.kinds
    for name, values in (("p", tested.p_values), ("q", tested.q_values), ("speed", tested.speeds)):
        assert np.array_equal(back[name], values)
    assert np.array_equal(back["score"], tested.scores, equal_nan=True)
    assert list(back["follows"]) == ["consensus"] * 7 + [""]
    assert back["from_pattern"].tolist() == [*tested.starts[:-1], -1]
    assert len(back[back["p"] <= 0.05]) == (tested.p_values <= 0.05).sum()
    with pytest.raises(ValueError, match="8 events were tested, but there are 3 epochs"):
        tested.to_pynapple(recorded["laps"])
    with pytest.raises(TypeError, match="epochs must be an IntervalSet"):
        tested.to_pynapple([(0, 1)])


def test_results_go_into_a_copy_of_a_session(tmp_path, expected):
    session, copy = write_spikes(tmp_path / "session.nwb"), tmp_path / "tested.nwb"
    before = session.read_bytes()
    sa.io.write_intervals(copy, session, SESSION.events, expected.columns())
    assert session.read_bytes() == before
    assert copy.stat().st_size - len(before) < 50_000
    with NWBHDF5IO(copy, "r") as file:
        written = file.read()
        table = written.intervals["replay"].to_dataframe()
        assert len(written.units) == 30
        assert {"laps", "events", "replay"} <= set(written.intervals)
    assert table["start_time"].tolist() == SESSION.events[:, 0].tolist()
    for name, values in expected.columns().items():
        assert np.array_equal(table[name], values)
    assert sa.io.load(copy, bin=BIN, epochs="replay").lengths.sum() > 0
    assert "replay" in nap.load_file(str(copy)).keys()  # noqa: SIM118  # of pynapple, not a dict


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"intervals": [(0, 1, 2)]}, r"shape \(E, 2\)"),
        ({"columns": {"p": [0.1, 0.2]}}, "there are 8 intervals"),
        ({"name": "laps"}, "has a 'laps' already"),
        ({"path": "session.nwb"}, "is the session itself"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(change, match, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = write_spikes(tmp_path / "session.nwb")
    before = session.read_bytes()
    given = {"path": "tested.nwb", "intervals": SESSION.events, "columns": {"p": np.ones(8)}}
    given |= change
    path = given.pop("path")
    with pytest.raises(ValueError, match=match):
        sa.io.write_intervals(path, "session.nwb", **given)
    assert session.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["session.nwb"]


def test_other_units_than_those_that_were_learned_are_rejected(learned, tmp_path):
    laps = sa.io.load(write_spikes(tmp_path / "session.nwb"), bin=BIN, epochs="laps")
    turned = sa.io.align_units(laps, laps.units[::-1])
    with pytest.raises(ValueError, match="cell 0 of the events is the unit '29', but the memory"):
        sa.replay.test(learned, turned, sequences=laps, n_shuffles=5)
    named = sa.zoo.LookupMemory(on_conflict="learn").fit(sa.io.to_pynapple(laps))
    with pytest.raises(ValueError, match="cell 0 of the events is the unit '29'"):
        sa.replay.test(named, turned, n_shuffles=5)
    fewer = sa.Sequences(laps.patterns[:, :20], laps.lengths, units=laps.units[:20])
    with pytest.raises(ValueError, match="20 cells, but the memory has learned patterns of 30"):
        sa.replay.test(learned, fewer, n_shuffles=5)


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({}, ValueError, "which needs epochs, an IntervalSet, and a bin_size"),
        ({"epochs": nap.IntervalSet(0, 1)}, ValueError, "which needs epochs"),
        ({"epochs": [(0, 1)], "bin_size": 0.1}, TypeError, "epochs must be an IntervalSet"),
        ({"epochs": nap.IntervalSet(0, 1), "bin_size": 0}, ValueError, "bin_size must be above 0"),
        ({"epochs": nap.IntervalSet([], []), "bin_size": 1}, ValueError, "epochs is empty"),
    ],
)
def test_bad_epochs_get_a_sentence(learned, given, error, match):
    with pytest.raises(error, match=match):
        sa.replay.test(learned, SESSION.to_pynapple()["units"], **given)
    with pytest.raises(TypeError, match="epochs and bin_size go with a TsGroup"):
        sa.replay.test(learned, SESSION.event_counts(), bin_size=0.1)
