"""A learned network as leaky integrate-and-fire neurons in continuous time, one pattern every tau.

A unit that is +1 fires one spike in its window of tau seconds, a unit that is -1 (or 0) none. All
neurons obey

    tau_m dv/dt = -v + noise,      spike and v = 0 where v reaches the threshold theta.

A spike of neuron j reaches neuron i after a delay and moves v_i at once by J_ij. All jumps together
are smaller than theta, so that they alone fire nobody. That takes the pulse of a common rhythm,
which reaches a layer a quarter of a window after the spikes (half of one without hidden neurons)
and moves v_i by theta_i + c_i: neuron i fires if what is left of the jumps, plus c_i, is 0 or more.
With

    J_ij = 2 W_ij exp(lag / tau_m),      c_i = offset_i - sum_j W_ij

that is eqs. (2) and (3), W x + offset >= 0, where x_j = -1 without a spike and +1 with one; where
silent units are 0, J_ij = W_ij exp(lag / tau_m) and c_i = offset_i. After its pulse each neuron is
reset, whether it has fired or not, as by inhibition that follows the beat.

Between such events v decays, which has a formula, so that nothing is integrated step by step: the
potentials at the pulses are exact, and without noise and jitter the sums are those of `recall`.
What is written as h is v - theta at the pulse, in the units of the weights.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor import rule
from seqattractor._checks import (
    check_choice,
    check_count,
    check_memory,
    check_not_negative,
    check_number,
    check_positive,
)
from seqattractor._faces import Result, plural
from seqattractor._named_axes import NamedAxes
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.exporting import threshold_layers
from seqattractor.networks.traits import Layer
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, Sequences, check_patterns

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_MOST_DECAYED = 50  # time constants in a window: beyond, nothing is left of a spike at the pulse
_WITHIN = 0.9  # of the largest movement by which spikes still lie between the right pulses


@dataclass(frozen=True, repr=False, eq=False)
class SpikingRecall(Result):
    """A run of a network of leaky integrate-and-fire neurons; window r is around r tau.

    Attributes
    ----------
    patterns : ndarray of int8, shape (order + steps, N)
        What the visible neurons show: +1 for a spike in the window, -1 for none. The first rows are
        the cue, without its dead neurons.
    active : ndarray of bool, shape (steps, M)
        Which hidden neurons have fired before each recalled pattern.
    visible_times : ndarray, shape (order + steps, N)
        When each visible neuron had its pulse, in seconds, and fired if it is +1.
    hidden_times : ndarray, shape (steps, M)
        The same for hidden neurons.
    tau : float
        Seconds from one pattern to the next.
    dead_visible, dead_hidden : ndarray of int
        The neurons that never fire.
    """

    _drawn_by = "spike_raster"
    patterns: Patterns
    active: Flags
    visible_times: Floats
    hidden_times: Floats
    tau: float
    dead_visible: NDArray[np.int64]
    dead_hidden: NDArray[np.int64]

    def spikes(
        self, layer: Literal["visible", "hidden"] = "visible"
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Return the spikes of a layer in the order of time.

        Parameters
        ----------
        layer : {"visible", "hidden"}

        Returns
        -------
        times : ndarray, shape (n_spikes,)
            In seconds; the first pattern of the cue is shown at 0, up to its jitter.
        neurons : ndarray of int, shape (n_spikes,)

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.xor()
        >>> times, neurons = sa.spiking_recall(sa.OneHotNetwork().fit(X), X[0], 2).spikes()
        >>> times, neurons
        (array([0.   , 0.   , 0.025, 0.05 ]), array([0, 1, 0, 1]))
        """
        visible = check_choice(layer, "layer", ("visible", "hidden")) == "visible"
        fired = self.patterns > 0 if visible else self.active
        times = (self.visible_times if visible else self.hidden_times)[fired]
        order = np.argsort(times, kind="stable")
        return times[order], np.nonzero(fired)[1][order]

    def steps_on(self, X: ArrayLike, *, overlap: float = 0.5) -> int:
        """Return how many patterns long the run stays on a sequence.

        Parameters
        ----------
        X : array of +-1, shape (T, N)
            A stored sequence, which is a loop if it ends with its first pattern. The run is taken
            to begin at the pattern that is most similar to its first one.
        overlap : float
            A state is on the sequence if its overlap (1/N) xi . x with the pattern that is due has
            at least this value, and is larger than with any other pattern of the sequence.

        Returns
        -------
        int
            The row of the first state that is off the sequence; the number of rows if there is
            none, or that of the rows up to the end of an open sequence.

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(9, 40, rng=0)
        >>> net = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(X)
        >>> sa.spiking_recall(net, X[0], 20).steps_on(X)
        21
        >>> sa.spiking_recall(net, X[0], 20, noise=1.5, rng=2).steps_on(X) < 21
        True
        """
        least = check_number(overlap, "overlap")
        x = check_patterns(
            X.patterns if isinstance(X, Sequences) else X, "X", n_features=self.patterns.shape[1]
        )
        loop = len(x) > 1 and bool(np.array_equal(x[0], x[-1]))
        x = x[: len(x) - loop]
        similar = self.patterns.astype(np.float64) @ x.T / x.shape[1]
        rows = np.arange(len(similar))
        turn = similar[0].argmax() + rows
        rows = rows if loop else rows[turn < len(x)]
        turn %= len(x)
        right = similar[rows, turn[: len(rows)]]
        others = similar[: len(rows)].copy()
        others[rows, turn[: len(rows)]] = -np.inf
        lost = np.flatnonzero((right < least) | (right <= others.max(axis=1)))
        return int(lost[0]) if len(lost) else len(rows)

    def describe(self) -> str:
        """Describe how long the run is and how often its neurons fire."""
        seconds = len(self.patterns) * self.tau
        text = (
            f"{plural(len(self.patterns), 'pattern')} in {seconds:.4g} s, one every "
            f"{1e3 * self.tau:.4g} ms. "
        )
        rates = [f"A visible neuron fires {np.mean(self.patterns > 0) / self.tau:.3g}"]
        if self.active.size:
            rates.append(f"a hidden one {np.mean(self.active) / self.tau:.3g}")
        text += f"{' and '.join(rates)} spikes per second."
        dead = (self.dead_visible, "visible"), (self.dead_hidden, "hidden")
        named = [f"{len(neurons)} {name}" for neurons, name in dead if len(neurons)]
        return f"{text} Dead neurons: {' and '.join(named)}." if named else text

    def rows(self) -> Iterable[dict[str, Any]]:
        """Return a row for each pattern: its time and the numbers of spikes."""
        visible, hidden = (self.patterns > 0).sum(axis=1), self.active.sum(axis=1)
        before = len(visible) - len(hidden)
        return (
            {
                "pattern": r,
                "seconds": r * self.tau,
                "visible_spikes": int(spikes),
                "hidden_spikes": int(hidden[r - before]) if r >= before else None,
            }
            for r, spikes in enumerate(visible)
        )

    def _named_axes(self) -> NamedAxes:
        """Patterns, hidden neurons and times."""
        shown, recalled = ("pattern", "visible"), ("recalled", "hidden")
        return NamedAxes(
            {
                "patterns": (shown, self.patterns, "+1 for a spike, -1 for none"),
                "active": (recalled, self.active, "whether a hidden neuron has fired"),
                "visible_times": (shown, self.visible_times, "seconds"),
                "hidden_times": (recalled, self.hidden_times, "seconds"),
            },
            attributes={"tau": self.tau},
        )


def spiking_recall(
    net: SequenceMemory,
    cue: ArrayLike,
    steps: int,
    *,
    tau: float = 0.025,
    tau_m: float = 0.02,
    noise: float = 0.0,
    jitter: float = 0.0,
    dead_visible: int = 0,
    dead_hidden: int = 0,
    rng: Seed = None,
) -> SpikingRecall:
    """Let a network run from a cue as leaky integrate-and-fire neurons in continuous time.

    A unit that is +1 fires once in a window of `tau` seconds, a unit that is -1 does not. Spikes
    charge the neurons of the next layer, which decide at the pulse of a common rhythm: a neuron
    whose potential the pulse lifts to its threshold fires, and all are reset. Visible neurons have
    their pulses at multiples of `tau`, hidden ones half way between. Without noise, jitter and dead
    neurons the patterns are those of ``net.recall(cue, steps)``; ``docs/spikes.rst`` has all
    equations.

    Parameters
    ----------
    net : SequenceMemory
        A network of threshold neurons that see the last patterns alone (`SequenceMemory.layers`).
    cue : array of +-1, shape (order, N), or (N,)
        The first patterns, oldest first.
    steps : int
        How many patterns to recall.
    tau : float
        Seconds from one pattern to the next.
    tau_m : float
        The time constant of the membranes in seconds, at least a 50th of `tau`.
    noise : float
        White noise on the membranes: the standard deviation of a potential that is left alone, in
        units of the neuron's own root mean square distance from its threshold at the pulses of the
        same run without any disturbance.
    jitter : float
        The standard deviation in seconds of the time at which the pulse reaches a neuron, anew for
        each neuron and window. A neuron then decides and fires earlier or later, by at most
        0.34 tau (0.23 tau without hidden neurons). A spike that comes after the pulse that it was
        for is left over for the next one.
    dead_visible, dead_hidden : int
        How many neurons, drawn at random, never fire.
    rng : int, Generator or None
        The source of noise, jitter and dead neurons.

    Returns
    -------
    SpikingRecall

    Notes
    -----
    Equality with `recall` holds where float64 adds up the weights without rounding; see
    ``docs/export.rst``.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 100, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=200, random_state=0).fit(X)
    >>> cue = sa.noise.flip(X[0], 10, rng=1)
    >>> run = sa.spiking_recall(net, cue, steps=60)
    >>> run
    SpikingRecall: 61 patterns in 1.525 s, one every 25 ms
    >>> bool((run.patterns == net.recall(cue, steps=60)).all())
    True
    >>> sa.spiking_recall(net, cue, steps=60, noise=0.2, jitter=5e-4, rng=2).steps_on(X)
    61
    """
    layers = threshold_layers(net, "run as spiking neurons")
    states, single = net._as_cues(cue)
    if not single:
        raise ValueError(
            f"spiking_recall takes one cue at a time, but there are {len(states)}; call it for "
            "each."
        )
    steps = check_count(steps, "steps", 0)
    tau, tau_m = check_positive(tau, "tau"), check_positive(tau_m, "tau_m")
    if tau > _MOST_DECAYED * tau_m:
        raise ValueError(
            f"tau_m must be at least tau / {_MOST_DECAYED} = {tau / _MOST_DECAYED:g}, so that "
            f"something is left of a spike at the pulse, but it is {tau_m:g}."
        )
    noise = check_not_negative(noise, "noise")
    jitter = check_not_negative(jitter, "jitter")
    sizes = [len(layer.offset) for layer in layers]
    check_memory((states.shape[1] + steps) * sum(sizes) * 40, f"a recall of {steps} steps")
    N, M = sizes[-1], sum(sizes[:-1])
    generator = as_generator(rng, "spikes")
    dead = [
        _draw_dead(count, name, of, generator)
        for count, name, of in ((dead_hidden, "dead_hidden", M), (dead_visible, "dead_visible", N))
    ]
    alive = [np.isin(np.arange(n), d, invert=True) for n, d in zip((M, N), dead, strict=True)]
    neurons = _neurons(layers, alive[-len(layers) :], tau, tau_m)
    if noise:
        clean = _neurons(layers, [np.full(n, True) for n in sizes], tau, tau_m)
        _run(clean, states[0], steps, tau, 0.0, generator)
        for each, calm in zip(neurons, clean, strict=True):
            each.noise = noise * np.sqrt(calm.squares / max(steps, 1))
    fired, times = _run(neurons, states[0], steps, tau, jitter, generator)
    return SpikingRecall(
        np.where(fired[-1], 1, -1).astype(np.int8),
        fired[0] if M else np.zeros((steps, 0), dtype=bool),
        times[-1],
        times[0] if M else np.zeros((steps, 0)),
        tau,
        dead_visible=dead[1],
        dead_hidden=dead[0],
    )


def _draw_dead(count: int, name: str, n: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw the neurons of a layer that never fire."""
    count = check_count(count, name, 0, n)
    return np.sort(generator.choice(n, count, replace=False)) if count else np.arange(0)


@dataclass(eq=False)
class _Neurons:
    """A layer of integrate-and-fire neurons, from one pulse to the next."""

    layer: Layer
    before: int
    """What stands for no spike in the layer before: -1 or 0."""
    alive: Flags
    tau: float
    tau_m: float
    lag: float
    """Seconds from the arrival of spikes to the pulse."""
    noise: Floats | float = 0.0
    squares: Floats | float = 0.0
    """Of all distances from the threshold so far, added up."""
    late: Floats | float = 0.0
    """What arrived after the last pulse, as it would be at that pulse."""
    last: Floats | float = 0.0
    """By how much the last pulse of each neuron was moved."""
    drive: Floats = field(init=False)

    def __post_init__(self) -> None:
        signed = self.before < 0
        self.drive = self.layer.weights.sum(axis=1) if signed else np.zeros(len(self.layer.offset))

    @property
    def furthest(self) -> float:
        """How far a pulse moves at most, in seconds: every spike then arrives between the pulses
        before and after the one that it is for.
        """
        return _WITHIN * (self.tau - self.lag) / 2

    def pulse(
        self, fired: Flags, moved: Floats, shift: Floats, generator: np.random.Generator
    ) -> Flags:
        """Return which neurons fire at their pulses, which are moved by `shift` seconds, after
        spikes of the layer before that were moved by `moved`.
        """
        W, signed = self.layer.weights, self.before < 0
        left = fired * np.exp(moved / self.tau_m)  # of each jump at a pulse that is not moved
        decay = np.exp(-shift / self.tau_m)
        # W x + offset, and what a moved pulse adds to it: exactly that if nothing is moved.
        h = rule.field(W, 2 * left - 1 if signed else left) * decay
        h += self.layer.offset + (decay - 1) * self.drive
        after = fired & (moved - shift[:, None] > self.lag)
        missed = (1 + signed) * np.where(after, W, 0.0) @ left if after.any() else 0.0
        h += (self.late * np.exp(-self.tau / self.tau_m) - missed) * decay
        if np.any(self.noise):
            since = self.tau + shift - self.last  # the reset
            spread = self.noise * np.sqrt(-np.expm1(-2 * since / self.tau_m))
            h += spread * generator.standard_normal(len(h))
        self.late, self.last = missed, shift
        self.squares = self.squares + h**2
        return np.asarray(rule.heaviside(h) > 0) & self.alive


def _neurons(
    layers: tuple[Layer, ...], alive: list[Flags], tau: float, tau_m: float
) -> list[_Neurons]:
    """Make neurons of layers, of which each has its pulse as long after the one before; spikes
    arrive half way.
    """
    lag = tau / len(layers) / 2
    before = [-1, *(layer.low for layer in layers)]
    return [
        _Neurons(layer, low, each, tau, tau_m, lag)
        for layer, low, each in zip(layers, before, alive, strict=False)
    ]


def _run(
    neurons: list[_Neurons],
    cue: Patterns,
    steps: int,
    tau: float,
    jitter: float,
    generator: np.random.Generator,
) -> tuple[list[Flags], list[Floats]]:
    """Run layers from the spikes of a cue, (order, N), and return for each layer which neurons had
    fired in each window, and the times of all pulses.
    """

    def shifts(layer: _Neurons) -> Floats:
        n, most = len(layer.alive), layer.furthest
        return (
            np.clip(jitter * generator.standard_normal(n), -most, most) if jitter else np.zeros(n)
        )

    order = len(cue)
    fired: list[list[Flags]] = [[] for _ in neurons]
    moved: list[list[Floats]] = [[] for _ in neurons]
    for pattern in cue:
        fired[-1].append((pattern > 0) & neurons[-1].alive)
        moved[-1].append(shifts(neurons[-1]))
    seen = deque(zip(fired[-1], moved[-1], strict=True), maxlen=order)
    for _ in range(steps):
        spikes = np.concatenate([f for f, _ in seen]), np.concatenate([m for _, m in seen])
        for k, layer in enumerate(neurons):
            shift = shifts(layer)
            spikes = layer.pulse(*spikes, shift, generator), shift
            fired[k].append(spikes[0])
            moved[k].append(shift)
        seen.append(spikes)
    times = []
    for k, each in enumerate(moved):
        last = k == len(neurons) - 1
        beats = np.arange(len(each)) + (0 if last else order - 1 + (k + 1) / len(neurons))
        n = len(neurons[k].alive)
        times.append(tau * beats[:, None] + np.array(each).reshape(-1, n))
    return [
        np.array(f).reshape(-1, len(n.alive)) for f, n in zip(fired, neurons, strict=True)
    ], times
