"""pynapple objects become sequences in the bins in which pynapple counts, and recalls become
pynapple objects with times.
"""

import sys

import numpy as np
import pynapple as nap
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqattractor as sa
from nwb_files import LAPS, SILENT, spike_times, traces

US = 1e6  # microseconds in a second


def group(seed=0):
    trains = {unit: nap.Ts(times) for unit, times in spike_times(seed).items()}
    return nap.TsGroup(trains, time_support=nap.IntervalSet(0, 10))


def laps():
    return nap.IntervalSet(*zip(*LAPS, strict=True))


def plain_counts(spikes, start, end, width, n_units):
    """Count in plain loops, in whole microseconds: the bins whose middle lies in the interval."""
    n_bins = 0
    while 2 * n_bins * width + width <= 2 * (end - start):
        n_bins += 1
    counts = [[0] * n_units for _ in range(n_bins)]
    for time, unit in spikes:
        if start <= time <= end and (time - start) // width < n_bins:
            counts[(time - start) // width][unit] += 1
    return np.array(counts, dtype=int).reshape(n_bins, n_units)


@given(
    st.lists(st.tuples(st.integers(0, 4_000_000), st.integers(0, 3)), max_size=40),
    st.integers(1_000, 500_000),
    st.integers(0, 3_000_000),
    st.integers(0, 3_000_000),
    st.booleans(),
)
def test_spikes_are_counted_as_by_hand(spikes, width, start, length, on_edges):
    if on_edges:  # spikes at the edges of bins are where arithmetic goes wrong
        spikes = [(start + time // width * width, unit) for time, unit in spikes]
    times, units = ([spike[k] for spike in spikes] for k in (0, 1))
    where = {"n_units": 4, "start": start / US, "end": (start + length) / US}
    expected = plain_counts(spikes, start, start + length, width, 4)
    found = sa.io.bin_spikes(np.array(times) / US, units, width / US, counts=True, **where)
    assert found.tolist() == expected.tolist()
    raster = sa.io.bin_spikes(np.array(times) / US, units, width / US, **where)
    assert raster.tolist() == (expected > 0).tolist()


def test_a_spike_on_an_edge_lies_in_the_bin_that_begins_there():
    assert np.flatnonzero(sa.io.bin_spikes([0.0, 0.3], [0, 0], 0.1)[:, 0]).tolist() == [0, 3]


@pytest.mark.parametrize("width", [0.1, 0.25, 0.7])
def test_the_bins_are_those_in_which_pynapple_counts(width):
    for seed in range(3):
        for epochs in (laps(), nap.IntervalSet(0, 10)):
            counted = group(seed).count(width, ep=epochs)
            X = sa.io.from_pynapple(group(seed), width, epochs)
            assert ((X.patterns > 0) == (counted.values > 0)).all()
            twice = sa.io.from_pynapple(group(seed), width, epochs, threshold=1)
            assert ((twice.patterns > 0) == (counted.values > 1)).all()
            inside = [
                ((start <= counted.t) & (counted.t <= end)).sum() for start, end in epochs.values
            ]
            assert inside == X.lengths.tolist()


def test_one_sequence_per_epoch_and_one_column_per_unit():
    X = sa.io.from_pynapple(group(), 0.25, laps())
    assert X.names == ["epoch 0", "epoch 1", "epoch 2"]
    assert X.lengths.tolist() == [10, 10, 10]  # the last lap lasts 9.84 bins
    assert X.units == ["10", "11", "12", "13", "14"]
    assert (X.rate, X.kind) == (4.0, "spikes")
    assert (X[:, X.units.index(str(SILENT))] == -1).all()


def test_without_epochs_the_time_support_counts():
    assert sa.io.from_pynapple(group(), 0.25).lengths.tolist() == [40]
    restricted = group().restrict(laps())
    assert (
        sa.io.from_pynapple(restricted, 0.25) == sa.io.from_pynapple(group(), 0.25, laps())
    ).all()
    assert sa.io.from_pynapple(restricted, 0.25).lengths.tolist() == [10, 10, 10]


def test_epochs_are_called_by_their_labels():
    named = nap.IntervalSet([0, 5], [2, 7], metadata={"label": ["left", "right"]})
    assert sa.io.from_pynapple(group(), 0.25, named).names == ["left", "right"]


def test_epochs_that_are_too_short_are_left_out_with_a_warning():
    with pytest.warns(
        UserWarning,
        match="1 of 2 epochs of the TsGroup were left out .the first is epoch 1.: they are shorter",
    ):
        X = sa.io.from_pynapple(group(), 0.5, nap.IntervalSet([0, 5], [2, 5.1]))
    assert X.names == ["epoch 0"]
    with pytest.raises(ValueError, match="2 epochs, and none that can be used"):
        sa.io.from_pynapple(group(), 50.0, nap.IntervalSet([0, 5], [2, 5.1]))


def test_a_signal_is_averaged_in_bins_and_cut_for_each_trace():
    values = traces()
    frame = nap.TsdFrame(t=np.arange(300) / 30, d=values, columns=["a", "b", "c"])
    X = sa.io.from_pynapple(frame, 0.1, threshold="median")
    assert X.shape == (100, 3)
    averages = values.reshape(100, 3, 3).mean(axis=1)
    assert ((X.patterns > 0) == (averages > np.median(averages, axis=0))).all()
    assert (X.units, X.rate, X.kind) == (["a", "b", "c"], 10.0, "traces")
    otsu = sa.io.from_pynapple(frame, 0.1, threshold="otsu")
    # Of a bump exp(-8 t^2), about 0.6 s lie above half of its height, and each cell has two,
    # whatever its brightness.
    assert (((otsu > 0).mean(axis=0) > 0.08) & ((otsu > 0).mean(axis=0) < 0.16)).all()
    one = sa.io.from_pynapple(frame[:, 1], 0.1, threshold=5.0)
    assert (one.shape, one.units) == ((100, 1), ["0"])
    assert ((one.patterns[:, 0] > 0) == (averages[:, 1] > 5)).all()


def test_without_bins_every_sample_is_a_time_step():
    frame = nap.TsdFrame(t=np.arange(300) / 30, d=traces())
    X = sa.io.from_pynapple(frame, epochs=nap.IntervalSet([1, 5], [2.99, 6.99]), threshold=0.5)
    assert (X.lengths.tolist(), X.rate) == ([60, 60], 30.0)
    assert ((X.split()[0] > 0) == (traces()[30:90] > 0.5)).all()


def test_a_trace_that_never_changes_is_off():
    frame = nap.TsdFrame(t=np.arange(4) * 1.0, d=np.column_stack([[0.0, 1, 0, 1], [3.0] * 4]))
    for threshold in ("otsu", "median"):
        assert sa.io.from_pynapple(frame, threshold=threshold).tolist() == [
            [-1, -1],
            [1, -1],
            [-1, -1],
            [1, -1],
        ]


@pytest.mark.parametrize("starts", [None, [0.0, 3.0, 100.0]])
def test_sequences_come_back_from_pynapple(starts):
    X = sa.io.from_pynapple(group(), 0.3, laps())
    frame = sa.io.to_pynapple(X, start=2.0 if starts is None else starts)
    assert isinstance(frame, nap.TsdFrame)
    for again in (sa.io.from_pynapple(frame), sa.io.from_pynapple(frame, 0.3)):
        assert (again.patterns == X.patterns).all()
        assert again.lengths.tolist() == X.lengths.tolist()
        assert (again.names, again.units) == (X.names, X.units)
        assert again.rate == pytest.approx(X.rate, rel=1e-5)
    assert frame.t[0] == pytest.approx((2.0 if starts is None else 0.0) + 0.15)
    assert frame.time_support.start.tolist() == pytest.approx(
        starts or [2.0, 4.7, 7.4]
    )  # 8 bins and a gap of one


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.floats(0.5, 100),
    st.floats(-50, 1000),
)
def test_any_sequences_come_back_from_pynapple(seed, lengths, rate, start):
    rng = np.random.default_rng(seed)
    X = sa.Sequences(rng.choice([-1, 1], (sum(lengths), 3)), lengths, rate=rate)
    again = sa.io.from_pynapple(sa.io.to_pynapple(X, start=start), 1 / rate)
    assert (again.patterns == X.patterns).all()
    assert again.lengths.tolist() == lengths
    assert again.names == X.names


def test_a_recall_becomes_a_frame_with_times():
    X = sa.io.from_pynapple(group(), 0.25, laps())
    net = sa.zoo.LookupMemory(order="auto").fit(X)
    recalled = net.recall(X[: net.order_], steps=10 - net.order_)
    frame = sa.io.to_pynapple(recalled, rate=X.rate, units=X.units, start=LAPS[0][0])
    assert frame.t.tolist() == [0.125 + 0.25 * k for k in range(10)]
    assert list(frame.columns) == X.units
    counted = group().count(0.25, ep=laps()[0])
    assert frame.t.tolist() == counted.t.tolist()
    assert (frame.values == (counted.values > 0)).all()
    several = sa.io.to_pynapple([recalled, recalled[:3]], rate=4)
    assert several.time_support.end.tolist() == [2.5, 3.5]


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: sa.io.from_pynapple(group()), "spikes need bins; give bin_size, in seconds"),
        (lambda: sa.io.from_pynapple(group(), -1), "bin_size must be above 0"),
        (
            lambda: sa.io.from_pynapple(group(), 1e-7),
            "100000000 bins of 1e-07 s and 5 units, more than can be stored; take wider bins with "
            "bin_size",
        ),
        (
            lambda: sa.io.from_pynapple(nap.TsdFrame(t=[0, 1.0], d=[[1], [np.nan]])),
            "holds nan in frame 1, value 0; fill or drop",
        ),
        (
            lambda: sa.io.from_pynapple(nap.TsdFrame(t=[0, 1, 2.0], d=[[1], [5], [3]])),
            "more than two values",
        ),
        (
            lambda: sa.io.from_pynapple(nap.Tsd(t=[0, 1, 9.0, 10], d=[1, 0, 1, 0])),
            "no sample for 8 s after 1 s, in epoch 0",
        ),
        (
            lambda: sa.io.from_pynapple(nap.Tsd(t=[0, 1, 9.0], d=[1, 0, 1]), 2.0),
            "no sample between 2 and 4 s, in epoch 0; take wider",
        ),
        (
            lambda: sa.io.from_pynapple(
                nap.Tsd(t=[4.0], d=[1], time_support=nap.IntervalSet(0, 5))
            ),
            "too few samples",
        ),
        (
            lambda: sa.io.from_pynapple(group(), 0.1, threshold="mean"),
            "a threshold that is not a number must be one of",
        ),
        (lambda: sa.io.to_pynapple(np.ones((3, 2))), "give a rate"),
        (
            lambda: sa.io.to_pynapple(np.ones((3, 2)), rate=2, units=["a"]),
            "units must name every column",
        ),
        (lambda: sa.io.to_pynapple(np.ones((3, 2)), rate=0), "rate must be above 0"),
        (
            lambda: sa.io.to_pynapple([np.ones((3, 2))] * 2, rate=1, start=[0, 2]),
            "sequence 1 starts before sequence 0 ends",
        ),
        (
            lambda: sa.io.to_pynapple([np.ones((3, 2))] * 2, rate=1, start=[0]),
            "2 sequences, but 1 times",
        ),
    ],
)
def test_what_cannot_be_is_rejected_with_a_sentence(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_other_things_are_rejected():
    with pytest.raises(TypeError, match="data must be a TsGroup, Tsd or TsdFrame of pynapple"):
        sa.io.from_pynapple(nap.Ts([0.0, 1.0]), 0.1)
    with pytest.raises(TypeError, match="epochs must be an IntervalSet"):
        sa.io.from_pynapple(group(), 0.1, [(0, 1)])


@pytest.mark.parametrize(
    "call", [lambda: sa.io.from_pynapple(None), lambda: sa.io.to_pynapple(np.ones((2, 2)), rate=1)]
)
def test_without_pynapple_one_sentence_explains_how_to_install_it(monkeypatch, call):
    monkeypatch.setitem(sys.modules, "pynapple", None)
    with pytest.raises(
        ValueError,
        match=r'pynapple is not installed; install it with: pip install "seqattractor\[nwb\]"',
    ):
        call()
