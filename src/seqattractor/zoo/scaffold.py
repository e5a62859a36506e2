"""ScaffoldMemory: labels that step on by themselves, and patterns hung on them (MESH and
Vector-HaSH).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import (
    check_choice,
    check_count,
    check_memory,
    check_number,
    check_positive,
    is_auto,
    is_count,
    say,
)
from seqattractor.engine.grid import exact_rows
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.rule import sign
from seqattractor.sequences import Patterns, Transitions, split
from seqattractor.sequences import transitions as split_transitions
from seqattractor.sequences._patterns import as_items
from seqattractor.sequences._transitions import rejoin

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

_MOST_LABELS = 10**7  # W_gp is a sum over all of them
_RANK = 1e-10  # singular values below this share of the largest are rounding
_AT_A_TIME = 2**12  # labels whose hidden codes are there at once


class Scaffold(NamedTuple):
    """The pattern of each label, (L, N), the last label of each sequence, (S,), rising, and the
    label after it, (S,).
    """

    patterns: Patterns
    ends: Labels
    goes_to: Labels


def lay_out(transitions: Transitions) -> Scaffold:
    """Give sequences blocks of labels; a last pattern with a successor elsewhere leads there."""
    pieces = list(zip(*(split(part, transitions.lengths) for part in transitions[:2]), strict=True))
    continued = {x.tobytes() for x in transitions.inputs}
    patterns: list[Patterns] = []
    starts: list[int] = []
    for x, y in pieces:
        starts.append(sum(len(block) for block in patterns))
        patterns.append(x if y[-1].tobytes() in continued else np.concatenate([x, y[-1:]]))
    everywhere: dict[bytes, int] = {}
    for start, (x, _) in zip(starts, pieces, strict=True):
        for t, pattern in enumerate(x):
            everywhere.setdefault(pattern.tobytes(), start + t)
    ends, goes_to = [], []
    for start, block, (x, y) in zip(starts, patterns, pieces, strict=True):
        ends.append(start + len(block) - 1)
        here = np.flatnonzero((x == y[-1]).all(axis=1))
        goes_to.append(
            start + int(here[0]) if len(here) else everywhere.get(y[-1].tobytes(), ends[-1])
        )
    return Scaffold(
        np.concatenate(patterns), np.array(ends, dtype=np.int64), np.array(goes_to, dtype=np.int64)
    )


def enough_periods(labels: int) -> tuple[int, int]:
    """Return two neighbouring whole numbers whose product is at least four times `labels`."""
    period = math.isqrt(4 * labels - 1)
    period += period * (period + 1) < 4 * labels
    return period, period + 1


@final
@dataclass(eq=False, repr=False)
class ScaffoldMemory(OnlineMemory):
    """A scaffold memory (MESH, Vector-HaSH): every place of a sequence has a label, and labels step
    on by themselves.

    A label k is a phase k mod l_m in each of a few modules with periods l_m, of which no two have a
    common divisor; g^k has a 1 at each of these phases. One step on, every phase moves by one.
    Hidden codes are a fixed random function of the label::

        p^k = f(W_pg g^k)        f(u) = sign(u)   ("sign")   or   max(u - threshold, 0)   ("relu")

    and patterns s^k are tied to them by W_sp = S P^+ (to read them out) and W_ps (to find the label
    of a cue: the pseudo-inverse P S^+, ridge regression P S^T (S S^T + ridge)^-1, or Hebbian P
    S^T). From a cue s::

        p = f0(W_ps s),   phases = argmax in each module of W_gp p,   phases + 1,
        s' = sign(W_sp f(W_pg g))

    with f0(u) = sign(u) or max(u, 0), and W_gp the sum of g^k p^kT over all labels. Patterns are
    read out exactly as long as there are no more of them than hidden neurons; finding the label of
    a noisy cue is weak where sequences are longer than N.

    Parameters
    ----------
    n_hidden : int
        M, the number of hidden neurons.
    periods : tuple of int or "auto"
        l_m. Their product is the number of labels; "auto" takes two neighbouring whole numbers for
        four times as many as there are patterns in the first call. Larger periods find the label of
        a noisy cue more often.
    code : {"sign", "relu"}
        f: that of MESH or of Vector-HaSH.
    threshold : float
        Of "relu".
    cue : {"ridge", "pinv", "hebb"}
        How W_ps comes about.
    ridge : float
        Of "ridge".
    query : {"offline", "recalled"}
        From what labels are found during recall. "offline": from the cue, and again only from a
        pattern that the network did not predict itself, as after noise. "recalled": from every
        pattern, as in the authors' notebook.
    on_conflict, random_state
        As in `SequenceAttractor`. With "learn" an offline query distinguishes the places of a
        repeated pattern; as a cue it is found at the first of them.

    Attributes
    ----------
    W_pg_ : ndarray, shape (M, G)
        Label to hidden; G is the sum of the periods.
    W_gp_ : ndarray, shape (G, M)
    W_sp_ : ndarray, shape (N, M)
        Hidden to pattern.
    W_ps_ : ndarray, shape (M, N)
    periods_ : ndarray of int, shape (modules,)
    ends_, goes_to_ : ndarray of int, shape (S,)
        Labels that do not lead to the next one, and where they lead.
    visible_errors_, n_iter_, converged_
        As in `HebbianMemory`; the network is led through each sequence.

    Notes
    -----
    As in the authors' code (FieteLab's MESH and VectorHaSH), but for modules of one dimension, all
    weights W_pg, a move that is always one step, ridge regression for the cue, and recall that runs
    on by itself.

    `partial_fit` reads the stored sequences off their labels, lays the new ones out behind them and
    solves for W_sp and W_ps again. So nothing is stored outside the weights, and as long as there
    are no more patterns than hidden neurons the network is that of one `fit` with all sequences,
    bit for bit. Beyond, what is read out is no longer what was learned. Labels do not grow: in a
    stream "auto" is four times the patterns of the first call, and `periods` should be given.

    Unused labels lead to the first one, so that a single closed sequence is recalled sooner or
    later from *any* cue: judge recall by the right place (`sa.basin_fraction`).

    References
    ----------
    S. Sharma, S. Chandra and I. Fiete, Content addressable memory without catastrophic forgetting
    by heteroassociation with a fixed scaffold, 2022. S. Chandra et al., Episodic and associative
    memory from spatial scaffolds in the hippocampus, 2025.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(60, 100, rng=0)
    >>> net = sa.zoo.ScaffoldMemory(n_hidden=500, random_state=0).fit(X)
    >>> sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng=1), steps=120), X)
    True
    """

    n_hidden: int = 500
    _: KW_ONLY
    periods: Sequence[int] | Literal["auto"] = "auto"
    code: Literal["sign", "relu"] = "sign"
    threshold: float = 0.5
    cue: Literal["ridge", "pinv", "hebb"] = "ridge"
    ridge: float = 100.0
    query: Literal["offline", "recalled"] = "offline"
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None

    max_epochs = 1

    _arrays: ClassVar[dict[str, str]] = {
        "W_pg_": "float M G",
        "W_gp_": "float G M",
        "W_sp_": "float N M",
        "W_ps_": "float M N",
        "periods_": "count modules",
        "ends_": "count S",
        "goes_to_": "count S",
        "visible_errors_": "count E",
    }
    _values: ClassVar[dict[str, str]] = {
        "n_hidden": "size M",
        "periods": "counts or auto",
        "n_iter_": "size E",
        "converged_": "flag",
    }
    # The pseudo-inverse needs all patterns at once; a stream reads them off the labels.
    _traits = Traits(
        weights=("W_pg_", "W_gp_", "W_sp_", "W_ps_", "ends_", "goes_to_"),
        stores_patterns=False,
        online=False,
        local=False,
        note="labels step on by themselves; how sequences end is stored, not learned",
    )

    def _init_learning(self, transitions: Transitions) -> None:
        """Draw the codes of all labels, of which none is in use."""
        periods = (
            enough_periods(len(lay_out(transitions).patterns))
            if is_auto(self.periods)
            else tuple(map(int, self.periods))
        )
        self.periods_ = np.array(periods, dtype=np.int64)
        M, G = int(self.n_hidden), int(self.periods_.sum())
        check_memory(16 * M * (G + self.n_features_in_), f"a network of {M} hidden neurons")
        self.W_pg_ = as_generator(self.random_state).standard_normal((M, G))
        self.W_gp_ = self._summed_codes()
        self.ends_ = self.goes_to_ = np.zeros(0, dtype=np.int64)
        self._no_errors_yet()

    def _present(self, transitions: Transitions) -> None:
        """Lay the stored sequences and the new ones out along the labels, and tie patterns and
        hidden codes to each other.
        """
        sequences = self._stored() + rejoin(transitions)
        lengths = np.array([len(x) for x in sequences], dtype=np.int64)
        patterns, self.ends_, self.goes_to_ = lay_out(
            split_transitions(np.concatenate(sequences), lengths)
        )
        if (labels := math.prod(self.periods_.tolist())) < len(patterns):
            raise ValueError(
                f"{len(patterns)} labels are needed, but periods={tuple(self.periods_.tolist())} "
                f"have {labels}; use larger ones from the start, such as "
                f"periods={enough_periods(len(patterns))}."
            )
        check_memory(
            32 * int(self.n_hidden) * len(patterns), f"the hidden codes of {len(patterns)} labels"
        )
        S, P = patterns.astype(np.float64), self._codes(np.arange(len(patterns)))
        self.W_sp_ = exact_rows(S.T @ np.linalg.pinv(P, rcond=_RANK).T)
        first = np.sort(
            np.unique(as_items(patterns), return_index=True)[1]
        )  # where each different pattern is found
        self.W_ps_ = exact_rows(P[first].T @ self._cue_from(S[first]))
        self._count_errors(int(self._wrong_units(transitions).sum()))

    def _stored(self) -> list[Patterns]:
        """Read the stored sequences off their labels; one that ends stays at its last pattern."""
        if not len(self.ends_):
            return []
        patterns = sign(self._codes(np.arange(self.ends_[-1] + 1)) @ self.W_sp_.T)
        blocks = np.split(patterns, self.ends_[:-1] + 1)
        return [
            x if goes_to == end and len(x) > 1 else np.concatenate([x, patterns[goes_to][None]])
            for x, end, goes_to in zip(blocks, self.ends_, self.goes_to_, strict=True)
        ]

    def start(self, states: Patterns) -> NDArray[np.int64]:
        """Return the labels before the cue, and what was predicted last, (B, 1 + N): no label yet,
        and no pattern.
        """
        return np.zeros(
            (len(states), 1 + self.n_features_in_), dtype=np.int64
        )  # no pattern is all zeros

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, (B, N) -> (B, N); `memory` holds the labels and is
        changed.
        """
        carried = self.start(states) if memory is None else memory
        labels, predicted = carried[:, 0], carried[:, 1:]
        shown = (states != predicted).any(axis=1) | (self.query == "recalled")
        labels[shown] = self._labels_of(states[shown])
        labels[:] = self._after(labels)
        following = sign(self._codes(labels) @ self.W_sp_.T)
        predicted[:] = following
        return following

    def _labels_of(self, states: Patterns) -> Labels:
        """Find the label of each state, (B, N) -> (B,): the place at which the pattern was stored,
        sequence after sequence.
        """
        drive = states.astype(np.float64) @ self.W_ps_.T
        hidden = np.maximum(drive, 0.0) if self.code == "relu" else sign(drive).astype(np.float64)
        scores = np.split(hidden @ self.W_gp_.T, np.cumsum(self.periods_)[:-1], axis=1)
        return _label_at(
            np.stack([np.argmax(module, axis=1) for module in scores], axis=1), self.periods_
        )

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        check_count(self.n_hidden, "n_hidden")
        if not is_auto(self.periods):
            _check_periods(self.periods)
        check_choice(self.code, "code", ("sign", "relu"))
        check_number(self.threshold, "threshold")
        check_choice(self.cue, "cue", ("ridge", "pinv", "hebb"))
        check_positive(self.ridge, "ridge")
        check_choice(self.query, "query", ("offline", "recalled"))

    def _codes(self, labels: Labels) -> Floats:
        """Return the hidden codes p^k of some labels, (B,) -> (B, M)."""
        first = np.cumsum(self.periods_) - self.periods_
        active = first + labels[:, None] % self.periods_  # the ones of g^k
        drive = sum(
            (self.W_pg_.T[one] for one in active.T), start=np.zeros((len(labels), len(self.W_pg_)))
        )
        return (
            np.maximum(drive - float(self.threshold), 0.0)
            if self.code == "relu"
            else sign(drive).astype(np.float64)
        )

    def _summed_codes(self) -> Floats:
        """W_gp: the sum of g^k p^kT over all labels, (G, M); of sign codes it is whole, and scores
        of phases are exact.
        """
        first, labels = np.cumsum(self.periods_) - self.periods_, math.prod(self.periods_.tolist())
        total = np.zeros(self.W_pg_.T.shape)
        for start in range(0, labels, _AT_A_TIME):
            some = np.arange(start, min(start + _AT_A_TIME, labels))
            active, codes = first + some[:, None] % self.periods_, self._codes(some)
            for one in active.T:
                np.add.at(total, one, codes)
        return total

    def _cue_from(self, S: Floats) -> Floats:
        """Return the matrix that takes the place of the inverse of the patterns in W_ps, (L, N) ->
        (L, N).
        """
        if self.cue == "pinv":
            return np.asarray(np.linalg.pinv(S, rcond=_RANK).T)
        if self.cue == "hebb":
            return np.asarray(S / len(S))
        return np.asarray(np.linalg.solve(S.T @ S + float(self.ridge) * np.eye(S.shape[1]), S.T).T)

    def _after(self, labels: Labels) -> Labels:
        """Return the label after each: all phases move by one, except where a sequence ends."""
        at = np.minimum(np.searchsorted(self.ends_, labels), len(self.ends_) - 1)
        is_end = self.ends_[at] == labels
        return np.asarray(
            np.where(is_end, self.goes_to_[at], labels + 1) % math.prod(self.periods_.tolist())
        )

    def _check_learned(self, arrays: dict[str, NDArray[Any]]) -> None:
        _check_periods(arrays["periods_"].tolist())
        if (total := int(arrays["periods_"].sum())) != arrays["W_pg_"].shape[1]:
            raise ValueError(
                f"the periods sum to {total}, but there are {arrays['W_pg_'].shape[1]} label "
                "neurons"
            )


def _check_periods(periods: Any) -> None:
    """Reject periods of which two have a common divisor, or which make more labels than can be
    averaged over.
    """
    if (
        isinstance(periods, str)
        or not isinstance(periods, Sequence)
        or not periods
        or not all(map(is_count, periods))
    ):
        raise ValueError(
            "periods must be 'auto' or some whole numbers, such as (31, 33), but it is "
            f"{say(periods)}."
        )
    for a, b in combinations(map(int, periods), 2):
        if math.gcd(a, b) > 1:
            raise ValueError(
                f"periods must have no common divisor, or labels repeat too early, but {a} and {b} "
                "have one."
            )
    if math.prod(map(int, periods)) > _MOST_LABELS:
        raise ValueError(
            f"periods must have a product of at most {_MOST_LABELS}, the number of labels, but it "
            f"is {say(periods)}."
        )


def _label_at(phases: Labels, periods: Labels) -> Labels:
    """Return the label with these phases, (B, modules) -> (B,), by the Chinese remainder
    theorem.
    """
    labels = math.prod(periods.tolist())
    steps = [labels // period * pow(labels // period, -1, period) for period in periods.tolist()]
    return np.asarray(phases @ np.array(steps, dtype=np.int64) % labels)
