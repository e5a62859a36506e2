"""PinnedRateMemory: a random rate network of which a part of the weights is trained to follow a
sequence (Rajan et al. 2016).

The rule is recursive least squares (`least_squares_step`): weights w on inputs r with the wanted f
change by -c (w . r - f) k. One P, at first I / alpha, serves all units.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_memory, check_not_negative, check_positive
from seqattractor.engine import kernels
from seqattractor.engine.kernels import has_kernels
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.rule import sign
from seqattractor.sequences import Patterns, Transitions
from seqattractor.sequences._transitions import rejoin
from seqattractor.zoo.continuous import ContinuousMemory, States


@final
@dataclass(eq=False, repr=False)
class PinnedRateMemory(ContinuousMemory):
    """Partial in-network training (PINning): recursive least squares for the columns of a fraction
    of the neurons.

    N rate units with random couplings of strength g follow the sequence, r = 1 / (1 + e^-x)::

        tau dx/dt = -x + J r            J_ij ~ N(0, g^2 / N)

    While the network runs by itself, the outgoing weights of `plastic_fraction` of its neurons
    learn at every step to make the input J r of every unit follow straight lines from pattern to
    pattern, which stand at +-`amplitude`, one per `read_out_interval`: the state must keep moving,
    since nothing else encodes the time.

    Equation, rule and g were verified against a public replication. The frozen noise that is an
    input of the published network is left out, so that the cue decides what is recalled.

    Parameters
    ----------
    plastic_fraction : float
        p, the fraction of neurons whose outgoing weights learn.
    g : float
        Strength of the random couplings.
    amplitude : float
        The x that stands for +1.
    alpha : float
        P starts as I / alpha; larger values make the first steps smaller. The published 1 to 10
        belong to sequences that change slowly.
    max_epochs : int
        How often the sequences are practised at most; learning ends when all patterns are read out
        right.
    tau, dt, read_out_interval : float
        Time constant, step of integration, and the time from one pattern to the next, in ms.
    on_conflict, random_state, verbose
        As in `SequenceAttractor`.

    Attributes
    ----------
    J_ : ndarray, shape (N, N)
    visible_errors_, n_iter_, converged_
        As in `SequenceAttractor`; errors are units that were read out wrong.

    References
    ----------
    K. Rajan, C. Harvey and D. Tank, Recurrent network models of sequence generation and memory,
    2016.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(8, 100, rng=0)
    >>> net = sa.zoo.PinnedRateMemory(random_state=0).fit(X)
    >>> sa.retrieved(net.recall(X[0], steps=16), X)
    True
    """

    plastic_fraction: float = 1.0
    _: KW_ONLY
    g: float = 1.35
    tau: float = 10.0
    amplitude: float = 2.2
    alpha: float = 100.0
    max_epochs: int = 100
    dt: float = 1.0
    read_out_interval: float = 40.0
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None
    verbose: int = 0

    _arrays: ClassVar[dict[str, str]] = {"J_": "float N N", "visible_errors_": "count E"}
    _values: ClassVar[dict[str, str]] = {"n_iter_": "size E", "converged_": "flag"}
    # Least squares need the inverse of a correlation matrix, which no synapse has.
    _traits = Traits(weights=("J_",), stores_patterns=False, online=True, local=False)

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int]:
        """Practise all sequences until an epoch has no error."""
        rng, N = as_generator(self.random_state), self.n_features_in_
        check_memory(24 * N * N, f"a network of {N} rate units")
        J = rng.standard_normal((N, N)) * (float(self.g) / np.sqrt(N))
        plastic = np.sort(
            rng.choice(N, max(1, round(float(self.plastic_fraction) * N)), replace=False)
        )
        P = np.eye(len(plastic)) / float(self.alpha)
        sequences = rejoin(transitions)
        errors: list[int] = []
        while len(errors) < int(self.max_epochs):
            wrong = 0
            for X in sequences:
                path = self._follow(J, X, plastic, P)
                wrong += int(np.count_nonzero(sign(path) != X[1:]))
            if not np.isfinite(J).all():
                raise ValueError(
                    "learning diverged: the weights are not finite; raise alpha or lower g."
                )
            errors.append(wrong)
            stop = callback is not None and callback(len(errors), 0, wrong)
            if stop or wrong == 0:
                break
        self.J_, self.visible_errors_ = J, np.array(errors, dtype=np.int64)
        self.n_iter_, self.converged_ = len(errors), errors[-1] == 0
        return 0, errors[-1]

    def _follow(self, J: States, X: Patterns, plastic: NDArray[np.int64], P: States) -> States:
        """Run through a sequence (T, N) once while the columns `plastic` of J learn; gives x at the
        read-outs, (T - 1, N).
        """
        steps, h = self._steps()
        share = np.arange(1, steps + 1)[:, None] / steps
        wanted = np.concatenate([(1 - share) * a + share * b for a, b in pairwise(X)])
        x = float(self.amplitude) * X[0].astype(np.float64)
        wanted *= float(self.amplitude)
        path = run_pinning(J, plastic, np.zeros_like(wanted), wanted, P, x, float(self.tau) / h)
        return path[steps - 1 :: steps]

    def _begin(self, cues: States) -> States:
        return float(self.amplitude) * cues

    def _velocity(self, states: States) -> States:
        rates = 0.5 + 0.5 * np.tanh(0.5 * states)  # 1 / (1 + e^-x), without overflow
        return np.asarray((rates @ self.J_.T - states) / float(self.tau))

    def _read_out(self, states: States) -> Patterns:
        return sign(states)

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        if check_positive(self.plastic_fraction, "plastic_fraction") > 1:
            raise ValueError(
                f"plastic_fraction must be at most 1, but it is {self.plastic_fraction:g}."
            )
        check_not_negative(self.g, "g")
        for name in ("tau", "amplitude", "alpha"):
            check_positive(getattr(self, name), name)
        check_count(self.max_epochs, "max_epochs")
        self._check_times()


def run_pinning(
    J: States,
    plastic: NDArray[np.int64],
    drive: States,
    wanted: States,
    P: States,
    x: States,
    tau: float,
) -> States:
    """Run sigmoid units, tau dx/dt = -x + J r + drive, and train `plastic` columns; returns all x.

    `wanted` (steps, N) are the inputs J r of units; (0, N) does not train. Changes J, P and x.
    """
    states = np.empty_like(drive)
    if has_kernels():
        kernels.run_pinning(J, plastic, drive, wanted, P, x, states, tau)
        return states
    r = 1 / (1 + np.exp(-x))  # the same in numpy, which rounds sums in another order
    for t in range(len(drive)):
        x += (J @ r + drive[t] - x) / tau
        states[t], r = x, 1 / (1 + np.exp(-x))
        if t < len(wanted):
            error = J @ r - wanted[t]
            k, c = least_squares_step(P, r[plastic])
            J[:, plastic] -= c * np.outer(error, k)
    return states


def least_squares_step(P: States, r: States) -> tuple[States, float]:
    """Change P by inputs r, P <- P - c k k^T; returns k = P r and c = 1 / (1 + r . k)."""
    k = P @ r
    c = 1 / (1 + float(r @ k))
    P -= c * np.outer(k, k)
    return k, c
