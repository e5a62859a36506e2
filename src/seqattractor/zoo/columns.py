"""BayesianColumnMemory: the rate version of BCPNN, whose weights are logarithms of how often
columns are active together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_memory, check_not_negative, check_positive
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.traits import Traits
from seqattractor.rule import sign
from seqattractor.sequences import Patterns, Transitions
from seqattractor.sequences._patterns import as_items
from seqattractor.sequences._transitions import rejoin
from seqattractor.zoo.continuous import ContinuousMemory, States

_LEAST = 1e-4  # P_i; the least P_ij is its square
_PATIENCE = 4  # tau_a: a pattern that is held for longer is held for good


@final
@dataclass(eq=False, repr=False)
class BayesianColumnMemory(ContinuousMemory):
    """BCPNN as a network of rates: a winner in each hypercolumn, adaptation that ends its time, and
    weights that call the next.

    `units_per_hypercolumn` visible units make up a hypercolumn, and each combination of their
    values that occurs in the stored patterns is one of its minicolumns: codes in which one of many
    is active are what the model is made for. With s the inputs of minicolumns, o the winners of the
    H hypercolumns and a their adaptation::

        tau_s ds/dt = g_beta beta + W o / H - g_a a - s        tau_a da/dt = o - a
        w_ij = log10(P_ij / (P_i P_j))                         beta_i = log10(P_i)

    The probabilities are averages of traces while every sequence is shown, each pattern for
    `pulse`: tau dz/dt = o - z, with `tau_z_pre` for the presynaptic side, the slower one, and
    `tau_z_post` for the postsynaptic side.

    Parameters
    ----------
    units_per_hypercolumn : int
    tau_s, tau_a, tau_z_pre, tau_z_post : float
        Time constants of inputs, of adaptation and of the traces, in ms.
    pulse : float
        For how long each pattern is shown, in ms.
    g_a, g_beta : float
        Strength of adaptation and of the bias.
    dt, read_out_interval : float
        Step of integration, and the time from one read-out to the next, in ms.
    on_conflict : {"raise", "learn"}
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_ : ndarray, shape (K, K)
        From minicolumn j to minicolumn i.
    beta_ : ndarray, shape (K,)
    minicolumns_ : ndarray of int8, shape (K, N)
        The values that each minicolumn stands for, and 0 for units of other hypercolumns.

    References
    ----------
    P. Tully, H. Linden, M. Hennig and A. Lansner, Spike-based Bayesian-Hebbian learning of temporal
    sequences, 2016. Equations and time constants are those of a published reduction to rates; how
    patterns become columns, and averages over one presentation (the limit of slow probabilities),
    are ours.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(8, 100, rng=0)
    >>> net = sa.zoo.BayesianColumnMemory().fit(X)
    >>> path = net.recall(sa.noise.flip(X[0], 10, rng=1), steps=80)
    >>> [int((state == X[:-1]).all(axis=1).argmax()) for state in path[1:16]]
    [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3]
    """

    units_per_hypercolumn: int = 10
    _: KW_ONLY
    tau_s: float = 10.0
    tau_a: float = 250.0
    tau_z_pre: float = 25.0
    tau_z_post: float = 5.0
    pulse: float = 100.0
    g_a: float = 1.0
    g_beta: float = 1.0
    dt: float = 1.0
    read_out_interval: float = 50.0
    on_conflict: Literal["raise", "learn"] = "raise"

    _arrays: ClassVar[dict[str, str]] = {
        "W_": "float K K",
        "beta_": "float K",
        "minicolumns_": "ternary K N",
    }

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> None:
        """Show every sequence once, closed ones on and on, and take the logarithms of what was
        active together.
        """
        shown = list(_shown(transitions))
        self.minicolumns_ = _minicolumns(
            np.concatenate([x for x, _ in shown]), int(self.units_per_hypercolumn)
        )
        K, total = len(self.minicolumns_), sum(len(x) for x, _ in shown)
        check_memory(24 * K * K, f"a network of {K} minicolumns")
        together, pre, post = np.zeros((K, K)), np.zeros(K), np.zeros(K)
        for x, closed in shown:
            o = self._chosen(x.astype(np.float64))
            of_slots = slot_averages(
                len(x),
                float(self.pulse),
                float(self.tau_z_pre),
                float(self.tau_z_post),
                closed=closed,
            )
            together += o.T @ of_slots[0] @ o * (len(x) / total)
            pre += of_slots[1] @ o * (len(x) / total)
            post += of_slots[2] @ o * (len(x) / total)
        pre, post = np.maximum(pre, _LEAST), np.maximum(post, _LEAST)
        self.W_ = np.log10(np.maximum(together, _LEAST**2) / np.outer(post, pre))
        self.beta_ = np.log10(post)

    def _begin(self, cues: States) -> States:
        """Inputs of minicolumns are how well they fit the cue, -1 to 1; nothing is adapted."""
        return np.concatenate(
            [self._fit_of(cues), np.zeros((len(cues), len(self.minicolumns_)))], axis=1
        )

    def _velocity(self, states: States) -> States:
        K = len(self.minicolumns_)
        s, a = states[:, :K], states[:, K:]
        o = self._winners(s)
        ds = (
            float(self.g_beta) * self.beta_
            + o @ self.W_.T / self._n_hypercolumns
            - float(self.g_a) * a
            - s
        )
        return np.concatenate([ds / float(self.tau_s), (o - a) / float(self.tau_a)], axis=1)

    def _read_out(self, states: States) -> Patterns:
        return sign(self._winners(states[:, : len(self.minicolumns_)]) @ self.minicolumns_)

    def _impose(self, states: States, patterns: Patterns, where: NDArray[np.bool_]) -> None:
        """Hypercolumns of which a unit was changed see the pattern anew."""
        seen = (where.astype(np.float64) @ np.abs(self.minicolumns_).T) > 0
        np.copyto(
            states[:, : len(self.minicolumns_)],
            self._fit_of(patterns.astype(np.float64)),
            where=seen,
        )

    def _activity_in(self, states: States) -> States:
        """The inputs s of the minicolumns."""
        return states[:, : len(self.minicolumns_)]

    def traits(self) -> Traits:
        """Return the traits: traces and probabilities are local and online; it dwells at each
        pattern.
        """
        steps = max(1, int(np.ceil(_PATIENCE * float(self.tau_a) / float(self.read_out_interval))))
        return Traits(
            weights=("W_", "beta_", "minicolumns_"),
            stores_patterns=False,
            online=True,
            local=True,
            dwells=True,
            steps_per_pattern=steps,
            note=(
                "combinations of values that occur in a group of units are stored as its "
                "minicolumns"
            ),
        )

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        check_count(self.units_per_hypercolumn, "units_per_hypercolumn")
        for name in ("tau_s", "tau_a", "tau_z_pre", "tau_z_post", "pulse"):
            check_positive(getattr(self, name), name)
        check_not_negative(self.g_a, "g_a")
        check_not_negative(self.g_beta, "g_beta")
        if self.tau_s >= self.tau_a:
            raise ValueError(
                f"tau_s must be below tau_a, but they are {self.tau_s:g} and {self.tau_a:g}."
            )
        self._check_times()

    @property
    def _n_hypercolumns(self) -> int:
        """H."""
        return -(-self.n_features_in_ // int(self.units_per_hypercolumn))

    def _winners(self, s: States) -> States:
        """Return 1 for the winner of each hypercolumn, of equals the first, and 0 for all others:
        (B, K) -> (B, K).
        """
        hypercolumn = np.abs(self.minicolumns_).argmax(axis=1) // int(self.units_per_hypercolumn)
        o = np.zeros_like(s)
        for members in np.split(
            np.arange(len(hypercolumn)), np.flatnonzero(np.diff(hypercolumn)) + 1
        ):
            o[np.arange(len(s)), members[s[:, members].argmax(axis=1)]] = 1.0
        return o

    def _fit_of(self, patterns: States) -> States:
        """Return the fit of patterns to each minicolumn, from -1 to 1: (B, N) -> (B, K)."""
        return np.asarray(
            patterns @ self.minicolumns_.T / np.maximum(np.abs(self.minicolumns_).sum(axis=1), 1)
        )

    def _chosen(self, patterns: States) -> States:
        """Return the codes of patterns: the minicolumns that fit best, (T, N) -> (T, K)."""
        return self._winners(self._fit_of(patterns))


def slot_averages(
    n: int, pulse: float, tau_pre: float, tau_post: float, *, closed: bool
) -> tuple[States, States, States]:
    """Average the traces of n patterns in slots of time: post x pre, (n, n), pre and post."""
    left_pre, left_post = (
        _left_over(n, pulse / tau_pre, closed=closed),
        _left_over(n, pulse / tau_post, closed=closed),
    )
    mean_pre, mean_post = (
        -np.expm1(-pulse / tau) * tau / pulse for tau in (tau_pre, tau_post)
    )  # of e^(-u/tau) over a slot
    both = 1 / (1 / tau_pre + 1 / tau_post)
    mean_both = -np.expm1(-pulse / both) * both / pulse
    together = (
        np.eye(n)
        + mean_pre * left_pre
        + mean_post * left_post.T
        + mean_both * left_post.T @ left_pre
    )
    return (
        together / n,
        (1 + mean_pre * left_pre.sum(axis=0)) / n,
        (1 + mean_post * left_post.sum(axis=0)) / n,
    )


def _left_over(n: int, duration: float, *, closed: bool) -> States:
    """Return the share of e^(-u/tau) in the trace of pattern m in slot j, (slots, patterns); slots
    last `duration` tau.
    """
    since = np.subtract.outer(np.arange(n), np.arange(n))  # slots since the pattern's own
    laps = 0.0
    if closed:  # a pattern's own slot is also n slots later, and 2n, and so on
        since, laps = (since - 1) % n + 1, 1 / -math.expm1(-n * duration)
    own = since % n == 0 if closed else since == 0
    left: States = np.where(
        since > 0, -math.expm1(-duration) * np.exp(-duration * (np.maximum(since, 1) - 1)), 0.0
    )
    return np.asarray(left * (laps or 1.0) - own)


def _shown(transitions: Transitions) -> Iterator[tuple[Patterns, bool]]:
    """Yield the patterns of each sequence, and whether it is closed: then the last one, the first
    again, is left out.
    """
    for X in rejoin(transitions):
        closed = bool(np.array_equal(X[0], X[-1]))
        yield X[:-1] if closed else X, closed


def _minicolumns(patterns: Patterns, width: int) -> Patterns:
    """Every combination of values that occurs in a group of `width` units, with zeros elsewhere:
    (T, N) -> (K, N).
    """
    found = []
    for first in range(0, patterns.shape[1], width):
        group = patterns[:, first : first + width]
        values = group[np.unique(as_items(group), return_index=True)[1]]
        rows = np.zeros((len(values), patterns.shape[1]), dtype=np.int8)
        rows[:, first : first + width] = values
        found.append(rows)
    return np.concatenate(found)
