"""The same neurons in Brian2, which integrates their equations in small steps: the same spikes.

Everything here is written from the equations of docs/spikes.rst and the weights of the networks.
"""

import warnings

import numpy as np
import pytest
from scipy.stats import fisher_exact

import seqattractor as sa
from quiet import fit_quietly

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pyparsing, which Brian2 calls by old names
        import brian2 as b2
except (ImportError, AttributeError) as error:  # Brian2 2.9 with numpy 2.4 is the second one
    pytest.skip(
        f"BRIAN2 DOES NOT CHECK OUR SPIKES ({error}): in an environment of its own, "
        'pip install -e ".[brian,test]"',
        allow_module_level=True,
    )

pytestmark = pytest.mark.filterwarnings("ignore:.* deprecated:DeprecationWarning")
TAU, TAU_M, DT = 0.025, 0.02, 2.5e-4
LAG = TAU / 4
STEPS = 60
HALF_LOST = {"SequenceAttractor": 0.48, "SparseSequenceAttractor": 0.3}
"""Noise with which about half of the runs lose the sequence within these steps."""
NETWORKS = {
    "SequenceAttractor": lambda seed: sa.SequenceAttractor(200, random_state=seed),
    "SparseSequenceAttractor": lambda seed: sa.SparseSequenceAttractor(60, random_state=seed),
}


def learned(name, seed):
    """A loop of 29 patterns, a network that has learned it, and a cue with 10 of 100 units
    flipped.
    """
    X = sa.datasets.random_periodic(30, 100, rng=seed)
    return X, fit_quietly(NETWORKS[name](seed), X), sa.noise.flip(X[0], 10, rng=100 + seed)


class Layer:
    """Neurons of Brian2, whose threshold is 1, with the synapses from the layer before and from the
    rhythm.
    """

    def __init__(self, W, offset, silent, noise=None):
        self.W = (2 if silent == -1 else 1) * W
        lift = offset - (W.sum(axis=1) if silent == -1 else 0)
        self.theta = np.exp(LAG / TAU_M) * (np.abs(self.W).sum(axis=1) + np.abs(lift))
        # A threshold is looked at one time step after a jump, and +0 fires: 1e-13 against rounding.
        self.pulse = (1 + lift / self.theta) * np.exp(DT / TAU_M) * (1 + 1e-13)
        how = {"threshold": "v >= 1", "reset": "v = 0", "namespace": {"tau_m": TAU_M * b2.second}}
        if noise is None:
            self.group = b2.NeuronGroup(len(W), "dv/dt = -v/tau_m : 1", method="exact", **how)
        else:
            equation = "dv/dt = -v/tau_m + spread*sqrt(2/tau_m)*xi : 1\nspread : 1 (constant)"
            self.group = b2.NeuronGroup(len(W), equation, method="euler", **how)
            self.group.spread = noise / self.theta
        self.monitor = b2.SpikeMonitor(self.group)

    def synapses(self, source):
        """From neurons of the layer before: a jump after the delay."""
        synapses = b2.Synapses(source, self.group, "w : 1", on_pre="v_post += w")
        synapses.connect()
        synapses.delay = LAG * b2.second
        jumps = self.W * np.exp((LAG + DT) / TAU_M) / self.theta[:, None]
        synapses.w = jumps[np.array(synapses.j), np.array(synapses.i)]
        return synapses

    def rhythm(self, phase):
        """The pulses, and the reset of all neurons that follows each."""
        times = (np.arange(STEPS) + phase) * TAU * b2.second
        beat = b2.SpikeGeneratorGroup(1, np.zeros(STEPS, dtype=int), times)
        pulse = b2.Synapses(
            beat,
            self.group,
            "w : 1",
            on_pre={"pulse": "v_post += w", "rest": "v_post = 0"},
            delay={"pulse": 0 * b2.second, "rest": DT * b2.second},
        )
        pulse.connect()
        pulse.w = self.pulse
        return beat, pulse

    def spikes(self):
        """Times in seconds, and neurons."""
        return np.array(self.monitor.t / b2.second), np.array(self.monitor.i)


def run(net, cue, noise=(None, None), seed=0):
    """Let Brian2 run a network, and return the patterns and the spikes of both layers."""
    b2.prefs.codegen.target = "numpy"
    b2.start_scope()
    b2.seed(seed)
    b2.defaultclock.dt = DT * b2.second
    sparse = hasattr(net, "hidden_bias_")
    hidden = Layer(net.U_, net.hidden_bias_ if sparse else np.zeros(len(net.U_)), -1, noise[0])
    visible = Layer(net.V_, np.zeros(len(net.V_)), 0 if sparse else -1, noise[1])
    on = np.flatnonzero(cue > 0)
    first = b2.SpikeGeneratorGroup(len(cue), on, np.zeros(len(on)) * b2.second)
    world = b2.Network(first, hidden.group, visible.group, hidden.monitor, visible.monitor)
    world.add(hidden.synapses(first), hidden.synapses(visible.group))
    world.add(visible.synapses(hidden.group))
    world.add(hidden.rhythm(0.5), visible.rhythm(1.0))
    world.run((STEPS * TAU + 20 * DT) * b2.second)
    patterns = -np.ones((STEPS + 1, len(cue)), dtype=np.int8)
    patterns[0] = cue
    times, neurons = visible.spikes()
    patterns[np.rint(times / TAU).astype(int), neurons] = 1
    return patterns, hidden.spikes(), (times, neurons)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", range(5))
def test_brian2_fires_the_same_spikes(name, seed):
    X, net, cue = learned(name, seed)
    patterns, hidden, visible = run(net, cue)
    ours = sa.spiking_recall(net, cue, STEPS)
    assert np.array_equal(patterns, ours.patterns)
    assert np.array_equal(patterns, net.recall(cue, STEPS))
    assert sa.retrieved(patterns, X)
    for (times, neurons), layer in ((hidden, "hidden"), (visible, "visible")):
        t, i = ours.spikes(layer)
        t, i = t[t > 0], i[t > 0]  # Brian2 does not count the cue
        assert np.array_equal(np.lexsort((i, t)), np.arange(len(t)))
        order = np.lexsort((neurons, times))
        assert np.array_equal(neurons[order], i)
        # It looks for spikes one time step after each jump.
        assert np.allclose(times[order], t + DT, rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_brian2_loses_the_sequence_in_noise_as_often(name):
    """Also that noise alone fires nobody: Brian2 looks for spikes at every time step."""
    lost = np.zeros((2, 2), dtype=int)
    _, net, cue = learned(name, 0)
    calm = net.recall(cue, STEPS)
    states = calm[:-1]
    zeta = np.where(net.hidden(states) > 0, 1, 0 if hasattr(net, "hidden_bias_") else -1)
    offset = getattr(net, "hidden_bias_", 0)
    fields = (states @ net.U_.T + offset, zeta @ net.V_.T)
    distances = [np.sqrt((h**2).mean(axis=0)) for h in fields]
    level = HALF_LOST[name]
    for seed in range(25):
        spread = [level * distance for distance in distances]
        theirs, *spikes = run(net, cue, spread, seed)
        for phase, (times, _) in zip((0.5, 1.0), spikes, strict=True):
            beats = (times - DT) / TAU - phase
            assert np.allclose(beats, np.rint(beats), atol=1e-6)
        ours = sa.spiking_recall(net, cue, STEPS, noise=level, rng=seed).patterns
        for row, patterns in enumerate((theirs, ours)):
            off = (patterns != calm).mean(axis=1) > 0.25
            lost[row, int(off.any())] += 1
    assert lost[1].min() > 0
    assert fisher_exact(lost).pvalue > 0.01, lost.tolist()
