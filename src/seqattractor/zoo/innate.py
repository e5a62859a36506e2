"""InnateTrajectoryMemory: a chaotic rate network that learns to repeat what it does by itself (Laje
& Buonomano 2013).

The rule is recursive least squares, as in `PinnedRateMemory`, but every plastic neuron has a P of
its own, over its own inputs.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_memory, check_not_negative, check_positive
from seqattractor.engine import kernels
from seqattractor.engine.kernels import has_kernels
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.traits import Traits
from seqattractor.noise import Seed, as_generator, flip
from seqattractor.rule import sign
from seqattractor.sequences import Patterns, Transitions
from seqattractor.sequences._transitions import rejoin
from seqattractor.zoo.continuous import ContinuousMemory, States
from seqattractor.zoo.pinned import least_squares_step

_EVERY = 2  # steps: as often weights learn
_DENSITY = 0.1  # of the random couplings
_INPUT_STRENGTH = 5.0
_DELTA = 1.0  # P starts as I / delta; the strength of the ridge


@final
@dataclass(eq=False, repr=False)
class InnateTrajectoryMemory(ContinuousMemory):
    """Innate training: the path that a random network takes after a cue is made stable, and
    patterns are read off it.

    M rate units with sparse random couplings of strength g > 1, r = tanh(x), which by itself is
    chaos::

        tau dx/dt = -x + W r + W_in y

    The cue is shown as an input pulse y. The path that follows without any noise is the target;
    then the incoming weights of `plastic_fraction` of the neurons learn, by recursive least squares
    while the network runs with noise, to come back to it. Patterns are read out as sign(W_out r),
    one per `read_out_interval`; W_out is what recursive least squares over noisy runs come to,
    which is ridge regression.

    The equations and constants are those of a published replication; that the cue itself is the
    input is ours. Noise on its answers does not reach the network. After the end of a sequence
    comes chaos.

    Parameters
    ----------
    n_hidden : int
        M, the number of recurrent neurons.
    g : float
        Strength of the random couplings, which join a tenth of all pairs.
    plastic_fraction : float
        The fraction of neurons whose incoming weights learn.
    trials : int
        How often each sequence is practised; the read-out then learns from as many runs.
    noise : float
        Standard deviation of the noise current while practising; besides, up to a tenth of the
        units of the cue are flipped.
    pulse : float
        How long the cue is shown, in ms.
    tau, dt, read_out_interval : float
        Time constant, step of integration, and the time from one pattern to the next, in ms.
    on_conflict, random_state
        As in `SequenceAttractor`. The state encodes the time since the cue, so that a pattern may
        have different successors.

    Attributes
    ----------
    W_, W_in_, W_out_ : ndarray, shapes (M, M), (M, N) and (N, M)
    trajectory_errors_ : ndarray, shape (trials,)
        Mean distance of the rates from the target while practising.

    References
    ----------
    R. Laje and D. Buonomano, Robust timing and motor patterns by taming chaos in recurrent neural
    networks, 2013.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> net = sa.zoo.InnateTrajectoryMemory(150, trials=10, random_state=0).fit(X)
    >>> bool((net.recall(X[0], steps=5) == X[:6]).all())
    True
    """

    n_hidden: int = 300
    _: KW_ONLY
    g: float = 1.5
    plastic_fraction: float = 0.6
    trials: int = 30
    noise: float = 0.001
    pulse: float = 50.0
    tau: float = 10.0
    dt: float = 1.0
    read_out_interval: float = 40.0
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None

    _arrays: ClassVar[dict[str, str]] = {
        "W_": "float M M",
        "W_in_": "float M N",
        "W_out_": "float N M",
        "trajectory_errors_": "float E",
    }
    _values: ClassVar[dict[str, str]] = {"n_hidden": "size M", "trials": "size E"}
    _traits = Traits(
        weights=("W_", "W_in_", "W_out_"),
        stores_patterns=False,
        online=True,
        local=False,
        note=(
            "is shown the cue once, so that noise on what it answers does not reach it; goes "
            "through a sequence once"
        ),
    )

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int]:
        """Record what the network does by itself, practise it, and learn to read patterns off
        it.
        """
        rng, M, N = as_generator(self.random_state), int(self.n_hidden), self.n_features_in_
        check_memory(16 * M * (M + N), f"a network of {M} recurrent neurons")
        wiring = draw_wiring(M, _DENSITY, float(self.g), rng)
        self.W_in_ = rng.standard_normal((M, N)) * (_INPUT_STRENGTH / np.sqrt(N))
        sequences = rejoin(transitions)
        cues = [X[0] for X in sequences]
        steps, _ = self._steps()
        lasting = [steps * (len(X) - 1) for X in sequences]
        n_plastic, K = round(float(self.plastic_fraction) * M), wiring.weights.shape[1]
        check_memory(8 * n_plastic * K * K, f"least squares for {n_plastic} neurons")
        P = np.tile(np.eye(K) / _DELTA, (n_plastic, 1, 1))
        wanted = [
            self._run(wiring, cue, steps, None) for cue, steps in zip(cues, lasting, strict=True)
        ]
        distances = []
        for trial in range(int(self.trials)):
            for k, cue in enumerate(cues):
                rates = self._run(wiring, self._flipped(cue, rng), lasting[k], rng, wanted[k], P)
                distances.append(
                    float(np.abs(rates - wanted[k])[:, :n_plastic].mean()) if n_plastic else 0.0
                )
            if callback is not None and callback(trial + 1, 0, 0):
                break
        samples = [
            (
                self._run(wiring, self._flipped(X[0], rng), lasting[k], rng)[steps - 1 :: steps],
                X[1:],
            )
            for _ in range(int(self.trials))
            for k, X in enumerate(sequences)
        ]
        r, x = (np.concatenate(part).astype(np.float64) for part in zip(*samples, strict=True))
        self.W_out_ = np.asarray(
            np.linalg.solve(r.T @ r + _DELTA * np.eye(M), r.T @ x).T, dtype=np.float64
        )
        self.W_ = wiring.matrix()
        self.trajectory_errors_ = np.array(distances).reshape(-1, len(cues)).mean(axis=1)
        if not np.isfinite(self.W_).all():
            raise ValueError("learning diverged: the weights are not finite; lower g.")
        return 0, int(self._wrong_units(transitions).sum())

    def _begin(self, cues: States) -> States:
        """Return the states after the pulse."""
        states = np.zeros((len(cues), len(self.W_)))
        h, drive = self._steps()[1], cues @ self.W_in_.T
        for _ in range(self._pulse_steps()):
            states += h * (self._velocity(states) + drive / float(self.tau))
        return states

    def _velocity(self, states: States) -> States:
        return (np.tanh(states) @ self.W_.T - states) / float(self.tau)

    def _read_out(self, states: States) -> Patterns:
        return sign(np.tanh(states) @ self.W_out_.T)

    def _impose(self, states: States, patterns: Patterns, where: NDArray[np.bool_]) -> None:
        """Read-outs do not feed back, so that noise on them changes nothing."""

    def _activity_in(self, states: States) -> States:
        """The rates r."""
        return np.tanh(states)

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        check_count(self.n_hidden, "n_hidden")
        check_count(self.trials, "trials")
        check_positive(self.g, "g")
        check_positive(self.tau, "tau")
        check_not_negative(self.noise, "noise")
        if check_not_negative(self.plastic_fraction, "plastic_fraction") > 1:
            raise ValueError(
                f"plastic_fraction must be at most 1, but it is {self.plastic_fraction:g}."
            )
        self._check_times("pulse")

    def _pulse_steps(self) -> int:
        """Return the number of integration steps of the pulse."""
        return max(1, round(float(self.pulse) / self._steps()[1]))

    def _flipped(self, cue: Patterns, rng: np.random.Generator) -> Patterns:
        """Flip some units of a cue, a tenth of them at most."""
        return flip(cue, int(rng.integers(0, self.n_features_in_ // 10 + 1)), rng)

    def _run(
        self,
        wiring: Wiring,
        cue: Patterns,
        steps: int,
        rng: np.random.Generator | None,
        wanted: States | None = None,
        P: States | None = None,
    ) -> States:
        """Run from a cue, with noise from `rng`, and learn where there is something wanted; returns
        the rates after the pulse.
        """
        M, pulse, tau = len(wiring.weights), self._pulse_steps(), float(self.tau) / self._steps()[1]
        x, drive = np.zeros(M), np.zeros((pulse + steps, M))
        if rng is not None and self.noise:
            drive += float(self.noise) * rng.standard_normal(drive.shape)
        drive[:pulse] += self.W_in_ @ cue.astype(np.float64)
        nothing = np.zeros((0, M))
        P = np.zeros((0, 1, 1)) if P is None else P
        run_innate(wiring, drive[:pulse], nothing, P, x, tau)
        return run_innate(wiring, drive[pulse:], nothing if wanted is None else wanted, P, x, tau)


class Wiring(NamedTuple):
    """The incoming connections of each neuron, with places that are not used at the end of each
    row.
    """

    weights: States
    """Shape (M, K)."""
    sources: NDArray[np.int64]
    """Where they come from, shape (M, K)."""
    counts: NDArray[np.int64]
    """Their number, shape (M,)."""

    def matrix(self) -> States:
        """The same as a matrix, (M, M)."""
        W = np.zeros((len(self.counts), len(self.counts)))
        for i, count in enumerate(self.counts):
            W[i, self.sources[i, :count]] = self.weights[i, :count]
        return W


def draw_wiring(M: int, probability: float, g: float, rng: np.random.Generator) -> Wiring:
    """Connections with a probability, none to itself, of normal weights with the variance g^2 /
    (probability M).
    """
    there = rng.random((M, M)) < probability
    np.fill_diagonal(there, False)
    counts = there.sum(axis=1)
    K = max(1, int(counts.max()))
    weights, sources = np.zeros((M, K)), np.zeros((M, K), dtype=np.int64)
    for i in range(M):
        sources[i, : counts[i]] = np.flatnonzero(there[i])
        weights[i, : counts[i]] = rng.standard_normal(counts[i]) * (g / np.sqrt(probability * M))
    return Wiring(weights, sources, counts)


def run_innate(
    wiring: Wiring,
    drive: States,
    wanted: States,
    P: States,
    x: States,
    tau: float,
    every: int = _EVERY,
) -> States:
    """Run sparse tanh neurons, tau dx/dt = -x + W r + drive, and train them; returns all r.

    `wanted` (steps, n) are rates of plastic neurons; (0, n) does not train. Changes weights, P, x.
    """
    rates = np.empty_like(drive)
    if has_kernels():
        kernels.run_innate(*wiring, drive, wanted, P, x, rates, every, tau)
        return rates
    weights, sources, counts = wiring  # the same in numpy, which rounds sums in another order
    there, r = np.arange(weights.shape[1]) < counts[:, np.newaxis], np.tanh(x)
    for t in range(len(drive)):
        x += (drive[t] + np.where(there, weights * r[sources], 0.0).sum(axis=1) - x) / tau
        rates[t] = r = np.tanh(x)
        for i in range(len(P) if t < len(wanted) and t % every == 0 else 0):
            m = counts[i]
            k, c = least_squares_step(P[i, :m, :m], r[sources[i, :m]])
            weights[i, :m] -= c * (r[i] - wanted[t, i]) * k
    return rates
