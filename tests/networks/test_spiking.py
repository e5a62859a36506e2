"""A network as integrate-and-fire neurons: the patterns of `recall` without disturbances, and what
noise, jitter and dead neurons do.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt

import oracle_spikes
import seqattractor as sa
from every_network import draw_network, ways_to_certify
from quiet import fit_quietly

WAYS = ways_to_certify()
X = sa.datasets.random_periodic(16, 40, rng=0)
TRAINED = {
    "the paper's": lambda: sa.SequenceAttractor(80, random_state=0),
    "with biases": lambda: sa.SequenceAttractor(80, bias=True, random_state=0),
    "order 2": lambda: sa.SequenceAttractor(80, order=2, random_state=0),
    "sparse": lambda: sa.SparseSequenceAttractor(80, random_state=0),
    "no hidden neurons": lambda: sa.VisibleNetwork(random_state=0),
    "one-hot": sa.OneHotNetwork,
    "Hebbian": sa.zoo.HebbianMemory,
}


def draw_weights(rng, order, hidden, silent):
    """A network of random weights, which nothing has trained."""
    N, M = 7, 11
    if not hidden:
        return sa.networks.from_arrays(rng.normal(size=(N, order * N)), order=order)
    U, V = rng.normal(size=(M, order * N)), rng.normal(size=(N, M))
    bias = rng.normal(size=M), rng.normal(size=N)
    return sa.networks.from_arrays(
        U, V, hidden_bias=bias[0], visible_bias=bias[1], silent=silent, order=order
    )


# -- without disturbances
# --------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    way=st.sampled_from(sorted(WAYS)),
    kind=st.sampled_from(("whole", "mostly zero", "binary")),
    order=st.sampled_from((1, 2)),
    tau=st.sampled_from((0.025, 1e-3, 3.0)),
    ratio=st.sampled_from((0.1, 1.0, 40.0)),
    seed=st.integers(0, 999),
)
def test_spikes_show_the_patterns_of_recall_ties_included(way, kind, order, tau, ratio, seed):
    cls, parameters = WAYS[way]
    rng = np.random.default_rng(seed)
    net = draw_network(cls, 4, rng, order=order, kind=kind, given=parameters)
    cue = rng.choice([-1, 1], size=(net.order_, 4))
    if any(layer.rounded for layer in net.layers()):
        return  # the network itself adds up otherwise, and may decide ties by rounding
    run = sa.spiking_recall(net, cue, 9, tau=tau, tau_m=tau / ratio)
    assert np.array_equal(run.patterns, net.recall(cue, 9))


@pytest.mark.parametrize("name", TRAINED)
def test_trained_networks_show_the_patterns_of_recall(name):
    net = fit_quietly(TRAINED[name](), X)
    for seed in range(5):
        cue = sa.noise.flip(X[: net.order_], 6, rng=seed)
        run = sa.spiking_recall(net, cue, 50)
        assert np.array_equal(run.patterns, net.recall(cue, 50))
        if hasattr(net, "hidden"):
            windows = np.lib.stride_tricks.sliding_window_view(run.patterns[:-1], net.order_, 0)
            assert np.array_equal(run.active, net.hidden(windows.swapaxes(1, 2).squeeze()) > 0)


def test_a_unit_that_is_on_fires_once_in_its_window():
    net = fit_quietly(TRAINED["the paper's"](), X)
    run = sa.spiking_recall(net, X[0], 20, tau=0.1, jitter=2e-3, rng=0)
    times, neurons = run.spikes()
    assert np.all(np.diff(times) >= 0)
    counts = np.zeros(run.patterns.shape, dtype=int)
    np.add.at(counts, (np.rint(times / 0.1).astype(int), neurons), 1)
    assert np.array_equal(counts, run.patterns > 0)
    times, neurons = run.spikes("hidden")
    assert len(times) == run.active.sum()
    assert np.all(np.abs((times / 0.1) % 1 - 0.5) < 0.2)


# -- jitter and dead neurons, against events in plain Python
# ---------------------------------------------------------


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize(("hidden", "silent"), [(True, -1), (True, 0), (False, -1)])
@pytest.mark.parametrize("jitter", [1e-3, 2e-2])  # the second one makes many spikes late
def test_the_same_neurons_fire_as_event_by_event(order, hidden, silent, jitter):
    rng = np.random.default_rng(1)
    tau, tau_m, steps = 0.04, 0.03, 12
    changed = 0
    for seed in range(12):
        net = draw_weights(rng, order, hidden, silent)
        cue = rng.choice([-1, 1], size=(order, 7))
        how = {"tau": tau, "tau_m": tau_m, "jitter": jitter, "rng": seed, "dead_visible": seed % 3}
        run = sa.spiking_recall(net, cue, steps, **how, dead_hidden=2 * hidden)
        before = [-1, silent]
        plain = [
            (layer.weights.tolist(), layer.offset.tolist(), low)
            for layer, low in zip(net.layers(), before, strict=False)
        ]
        shown = [
            [time if on else None for time, on in zip(times, pattern > 0, strict=True)]
            for times, pattern in zip(run.visible_times[:order].tolist(), cue, strict=True)
        ]
        pulses = [run.hidden_times.tolist()] * hidden + [run.visible_times[order:].tolist()]
        dead = [set(run.dead_hidden.tolist())] * hidden + [set(run.dead_visible.tolist())]
        assert [len(each) for each in dead] == [2] * hidden + [seed % 3]
        fired = oracle_spikes.run(plain, shown, pulses, dead, tau, tau_m)
        assert np.array_equal(fired[-1], run.patterns[order:] > 0)
        assert not hidden or np.array_equal(fired[0], run.active)
        changed += not np.array_equal(run.patterns, net.recall(cue, steps))
    assert changed > 0  # so that what is compared is not recall itself


def test_dead_neurons_are_as_many_as_asked_for_and_never_fire():
    net = fit_quietly(TRAINED["the paper's"](), X)
    run = sa.spiking_recall(net, X[0], 30, dead_hidden=20, dead_visible=3, rng=4)
    assert len(set(run.dead_hidden)) == 20
    assert len(set(run.dead_visible)) == 3
    assert not run.active[:, run.dead_hidden].any()
    assert np.all(run.patterns[:, run.dead_visible] == -1)
    assert run.describe().endswith("Dead neurons: 3 visible and 20 hidden.")


# -- membrane noise
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0.25, 1.25])
def test_noise_flips_a_neuron_as_often_as_its_distribution_says(ratio):
    """Each of 1500 neurons repeats its own state, at a distance of 1 from its threshold."""
    net, noise = sa.networks.from_arrays(np.eye(1500)), 0.7
    run = sa.spiking_recall(net, np.ones(1500), 1, tau_m=0.025 / ratio, noise=noise, rng=0)
    # tau dv = -v dt + noise from a reset one window ago
    spread = noise * math.sqrt(1 - math.exp(-2 * ratio))
    expected = math.erfc(1 / spread / math.sqrt(2)) / 2
    error = math.sqrt(expected * (1 - expected) / 1500)
    assert abs(np.mean(run.patterns[1] < 0) - expected) < 4 * error


def test_noise_is_relative_to_each_neuron():
    rng = np.random.default_rng(0)
    W, scale = rng.normal(size=(30, 30)), 2.0 ** rng.integers(-5, 6, size=30)
    cue = rng.choice([-1, 1], 30)
    one, other = (
        sa.spiking_recall(sa.networks.from_arrays(w), cue, 20, noise=0.5, rng=3).patterns
        for w in (W, scale[:, None] * W)
    )
    assert np.array_equal(one, other)


def test_the_same_seed_gives_the_same_spikes():
    net = fit_quietly(TRAINED["sparse"](), X)
    how = {"noise": 0.3, "jitter": 1e-3, "dead_hidden": 3}
    runs = [sa.spiking_recall(net, X[0], 20, **how, rng=rng).spikes() for rng in (5, 5, 6)]
    assert np.array_equal(runs[0][0], runs[1][0])
    assert not np.array_equal(runs[0][0], runs[2][0])


# -- how long it stays on the sequence
# -------------------------------------------------------------------------------


def test_steps_on_counts_up_to_the_first_state_that_is_off():
    loop = sa.datasets.random_periodic(6, 60, rng=3).patterns  # 5 patterns, and the first again
    net = sa.zoo.PseudoInverseMemory().fit(loop)
    run = sa.spiking_recall(net, loop[2], 17)
    assert run.steps_on(loop) == 18
    for place in (0, 7, 17):  # at another pattern of the sequence
        changed = run.patterns.copy()
        changed[place:] = net.recall(loop[place % 5], 17)[: 18 - place]
        other = sa.networks.SpikingRecall(**vars(run) | {"patterns": changed})
        assert other.steps_on(loop) == (place if place else 18)
    half = run.patterns.copy()
    half[4, :18] *= -1  # an overlap of 0.4
    other = sa.networks.SpikingRecall(**vars(run) | {"patterns": half})
    assert (other.steps_on(loop), other.steps_on(loop, overlap=0.3)) == (4, 18)
    assert run.steps_on(loop[:5]) == 3  # an open sequence ends


# -- what it says, and draws
# ---------------------------------------------------------------------------------------------


def test_a_raster_draws_every_spike_that_is_asked_for():
    net = fit_quietly(TRAINED["the paper's"](), X)
    run = sa.spiking_recall(net, X[0], 20, jitter=1e-3, rng=0)
    ax = run.plot(start=0.1, stop=0.3, n_neurons=80)
    drawn = sum(len(lines.get_segments()) for lines in ax.collections)
    spikes = [run.spikes(layer)[0] for layer in ("visible", "hidden")]
    assert drawn == sum(np.sum((times >= 0.1) & (times < 0.3)) for times in spikes)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["hidden", "visible"]
    alone = fit_quietly(TRAINED["no hidden neurons"](), X)
    ax = sa.spiking_recall(alone, X[0], 3).plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["visible"]
    plt.close("all")


def test_rows_count_spikes():
    net = fit_quietly(TRAINED["order 2"](), X)
    rows = list(sa.spiking_recall(net, X[:2], 3).rows())
    assert [row["hidden_spikes"] is None for row in rows] == [True, True, False, False, False]
    assert rows[4]["visible_spikes"] == int((net.recall(X[:2], 3)[4] > 0).sum())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cue": X[:3]}, "takes one cue at a time, but there are 3"),
        ({"steps": -1}, "steps must be at least 0"),
        ({"tau": 0}, "tau must be above 0"),
        ({"tau_m": 1e-4}, "tau_m must be at least tau / 50 = 0.0005"),
        ({"noise": -0.1}, "noise must be 0 or more"),
        ({"jitter": float("nan")}, "jitter must be finite"),
        ({"dead_hidden": 17}, "dead_hidden must be at most 15"),
        ({"dead_visible": 41}, "dead_visible must be at most 40"),
    ],
)
def test_bad_input_is_named(change, message):
    net = sa.OneHotNetwork().fit(X)
    with pytest.raises(ValueError, match=message):
        sa.spiking_recall(**{"net": net, "cue": X[0], "steps": 5} | change)


def test_networks_that_are_no_threshold_neurons_are_rejected():
    with pytest.raises(sa.networks.NotApplicable, match="LookupMemory cannot run as spiking"):
        sa.spiking_recall(sa.zoo.LookupMemory().fit(X), X[0], 5)
