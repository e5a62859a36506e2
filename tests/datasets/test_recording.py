"""A generated recording has laps, and events of the kinds that it names."""

import numpy as np
import pynapple as nap
import pytest
from pynwb import NWBHDF5IO

import seqattractor as sa

KINDS = ("forward", "reverse", "partial", "shuffled", "rates", "population bursts", "cell bursts")
SESSION = sa.datasets.recording(n_events=30, rng=0)


def test_events_are_of_the_kinds_that_were_asked_for():
    assert [SESSION.kinds.count(kind) for kind in KINDS] == [30] * 7
    some = sa.datasets.recording(n_events={"rates": 2, "reverse": 1}, rng=0)
    assert some.kinds == ["rates", "rates", "reverse"]
    assert some.is_replay.tolist() == [False, False, True]
    assert "2 rates" in some.describe()
    assert [row["kind"] for row in some.rows()] == some.kinds
    assert len(sa.datasets.recording(n_events=0, rng=0).event_counts()) == 0


def middles(kind):
    """Of events of a kind: the correlation of when cells fire with where their fields are."""
    found = []
    for event, each in zip(SESSION.event_counts(0.005), SESSION.kinds, strict=True):
        if each == kind:
            bins, cells = np.nonzero(event)
            found.append(np.corrcoef(bins, SESSION.fields[0][cells])[0, 1])
    return np.array(found)


def test_replay_runs_along_the_fields_and_nothing_else_does():
    for kind, sign in (("forward", 1), ("reverse", -1)):
        assert (sign * middles(kind) > 0.2).all()
        assert np.median(sign * middles(kind)) > 0.9
    for kind in ("rates", "population bursts", "cell bursts"):
        assert abs(middles(kind).mean()) < 4 * middles(kind).std() / np.sqrt(30)


def test_speeds_say_direction_and_compression():
    speeds = SESSION.speeds
    for kind, sign in (("forward", 1), ("reverse", -1), ("rates", 0)):
        of_kind = speeds[np.array(SESSION.kinds) == kind]
        assert (np.sign(of_kind) == sign).all()
    fast = np.abs(speeds[SESSION.is_replay])
    assert ((fast >= 10) & (fast <= 20)).all()


def test_events_that_are_no_replay_have_the_rates_of_replay():
    many = sa.datasets.recording(n_events={kind: 150 for kind in KINDS if kind != "partial"}, rng=1)
    kinds, spikes = np.array(many.kinds), [each.sum() for each in many.event_counts()]
    rates = np.array(spikes) / np.diff(many.events, axis=1).ravel()
    forward = rates[kinds == "forward"]
    for kind in set(many.kinds) - {"forward"}:
        other = rates[kinds == kind]
        error = np.hypot(forward.std(), other.std()) / np.sqrt(150)
        assert abs(other.mean() - forward.mean()) < 4 * error, kind


def test_loss_takes_spikes_away_and_jitter_only_moves_them():
    def spikes(**options):
        session = sa.datasets.recording(n_events={"forward": 150}, rng=2, **options)
        return sum(each.sum() for each in session.event_counts())

    whole = spikes(loss=0)
    assert spikes(loss=0.6) / whole == pytest.approx(0.4, abs=4 * np.sqrt(0.24 / whole) + 0.03)
    moved = sa.datasets.recording(n_events={"forward": 20}, jitter=0.01, rng=2)
    still = sa.datasets.recording(n_events={"forward": 20}, jitter=0.0, rng=2)
    assert len(moved.times) == len(still.times)
    assert not np.array_equal(moved.times, still.times)


def test_maps_alternate_and_share_what_they_should():
    session = sa.datasets.recording(n_laps=4, n_maps=2, shared=0.3, n_events=2, rng=3)
    assert session.lap_maps.tolist() == [0, 1, 0, 1]
    one, other = session.fields
    assert (one[one < 0.3] == other[one < 0.3]).all()
    assert (one[one >= 0.3] != other[one >= 0.3]).mean() > 0.8
    assert set(session.event_maps) <= {0, 1}
    assert "on 2 maps" in session.describe()


def test_the_same_seed_gives_the_same_recording():
    one, two, other = (sa.datasets.recording(n_events=2, rng=seed) for seed in (4, 4, 5))
    assert np.array_equal(one.times, two.times)
    assert np.array_equal(one.cells, two.cells)
    assert not np.array_equal(one.times[:100], other.times[:100])


def test_pynapple_has_the_same_spikes_and_intervals():
    found = SESSION.to_pynapple()
    counted = found["units"].count(0.1, ep=found["laps"][0]).values
    assert counted.tolist() == SESSION.lap_counts(0.1)[0].tolist()
    assert np.allclose(found["events"].values, SESSION.events)
    assert list(found["events"].kind) == SESSION.kinds
    assert sa.datasets.recording(n_events=0, rng=0).to_pynapple()["events"] is None


def test_an_nwb_file_has_the_same_spikes_and_intervals(tmp_path):
    path = tmp_path / "session.nwb"
    SESSION.write_nwb(path)
    with NWBHDF5IO(path, "r") as file:
        session = file.read()
        for cell in range(60):
            expected = SESSION.times[SESSION.cells == cell]
            assert np.array_equal(session.units["spike_times"][cell], expected)
        events = session.intervals["events"].to_dataframe()
        assert events["kind"].tolist() == SESSION.kinds
        assert np.array_equal(events[["start_time", "stop_time"]].to_numpy(), SESSION.events)
        assert len(session.intervals["laps"]) == 6
    assert isinstance(nap.load_file(str(path))["units"], nap.TsGroup)


def test_a_recording_that_cannot_be_written_leaves_no_file(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(NWBHDF5IO, "write", fails)
    with pytest.raises(KeyboardInterrupt):
        SESSION.write_nwb(tmp_path / "session.nwb")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_events": {"backward": 3}}, "unknown kind 'backward'; kinds are forward"),
        ({"n_events": {"forward": -1}}, "n_events"),
        ({"n_laps": 0}, "n_laps"),
        ({"loss": 1}, "loss must be a fraction from 0 to below 1"),
        ({"shared": -0.1}, "shared must be a fraction"),
        ({"compression": (20, 10)}, "compression must be"),
        ({"jitter": -1}, "jitter"),
        ({"peak_rate": 0}, "peak_rate"),
    ],
)
def test_bad_input_gets_a_sentence(options, match):
    with pytest.raises(ValueError, match=match):
        sa.datasets.recording(rng=0, **options)
