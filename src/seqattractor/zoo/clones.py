"""CloneStructuredMemory: a hidden Markov model with clones of every pattern, the yardstick for
repeated patterns.

Only clones of the seen symbol can be active: transition probabilities are blocks T[g], (C, C), one
for each pair g of successive symbols. Learning is Baum-Welch, then Viterbi training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_memory, check_not_negative
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.rule import field
from seqattractor.sequences import Patterns, Transitions, split

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_PSEUDOCOUNT = 1e-6  # is added to all counts of Baum-Welch; none to those of Viterbi training
_MOST_DECISIONS = (
    100  # steps of Viterbi training; it ends when no clone changes, which takes two or three
)


@final
@dataclass(eq=False, repr=False)
class CloneStructuredMemory(SequenceMemory):
    """A clone-structured hidden Markov model: every pattern is a symbol with several hidden states,
    its clones.

    A state is matched to the nearest stored pattern, whose clones share the belief that is carried
    from step to step; the most probable successor is the answer. Clones of one pattern differ in
    what comes next, so that the place in a sequence decides between several successors. At the end
    of an open sequence the pattern stays.

    It is a yardstick for *repeated* patterns: where all are different it equals `LookupMemory`.

    Parameters
    ----------
    n_clones : int
        C, the number of hidden states of each pattern.
    max_steps : int
        How many steps of Baum-Welch there are at most.
    tol : float
        They end when the mean log-probability of a transition grows by less.
    n_init : int
        From how many random starts it learns at most. The first that makes every transition is
        taken.
    on_conflict, random_state
        As in `SequenceAttractor`. With "learn" a pattern may have different successors, which is
        what clones are for.

    Attributes
    ----------
    patterns_ : ndarray of int8, shape (P, N)
        Every different pattern once.
    before_, after_ : ndarray of int, shape (G,)
        Pairs of patterns that follow each other, as rows of `patterns_`.
    T_ : ndarray, shape (G, C, C)
        The probability of each clone of the second after each clone of the first.
    start_ : ndarray, shape (P, C)
        What is believed of a cue: how often sequences started with each clone, or with patterns
        that none starts with how often it was used.
    visible_errors_ : ndarray of int, shape (starts,)
        Wrong units over all transitions, for each random start.
    n_iter_, converged_
        The number of starts, whether no unit is wrong, N and 1.

    Notes
    -----
    Clones, restricted Baum-Welch and Viterbi training are as in the authors' code
    (naturecomm_cscg). Ours are: no actions; a learned distribution of first clones; cycles, which
    come back to the clone they started with; and several random starts.

    References
    ----------
    D. George et al., Clone-structured graph representations enable flexible learning and vicarious
    evaluation of cognitive maps, 2021.

    Examples
    --------
    >>> import seqattractor as sa
    >>> A, B, C = sa.datasets.random_periodic(4, 30, rng=0)[:3]
    >>> net = sa.zoo.CloneStructuredMemory(on_conflict="learn", random_state=0)
    >>> net.fit([A, B, A, C, A]).score([A, B, A, C, A])  # after A comes B at first, and then C
    1.0
    """

    n_clones: int = 10
    _: KW_ONLY
    max_steps: int = 200
    tol: float = 1e-6
    n_init: int = 5
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None

    _arrays: ClassVar[dict[str, str]] = {
        "patterns_": "pattern P N",
        "before_": "count G",
        "after_": "count G",
        "T_": "float G C C",
        "start_": "float P C",
        "visible_errors_": "count E",
    }
    _values: ClassVar[dict[str, str]] = {
        "n_clones": "size C",
        "n_iter_": "size E",
        "converged_": "flag",
    }
    # Patterns are looked up, and what is learned is how they follow each other.
    _traits = Traits(
        weights=("patterns_", "before_", "after_", "T_", "start_"),
        stores_patterns=True,
        online=False,
        local=False,
        note=(
            "no network: a table of all patterns, searched for the nearest, and a hidden Markov "
            "model of their order"
        ),
    )

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int]:
        """Learn from one random start after another, until every transition is made; the best is
        used.
        """
        rng = as_generator(self.random_state, "clones")
        courses = self._symbols(transitions)
        G, C = len(self.before_), int(self.n_clones)
        check_memory(
            40 * C * C * (G + len(transitions.inputs)), f"a model of {C} clones for each pattern"
        )
        errors: list[int] = []
        best: tuple[Floats, Floats] | None = None
        for attempt in range(1, int(self.n_init) + 1):
            self.T_, self.start_ = self._learn(
                courses, Clones.random(self.before_, len(self.patterns_), C, rng)
            )
            errors.append(int(self._wrong_units(transitions).sum()))
            if best is None or errors[-1] < min(errors[:-1]):
                best = self.T_, self.start_
            if errors[-1] == 0 or (callback is not None and callback(attempt, 0, errors[-1])):
                break
        assert best is not None
        self.T_, self.start_ = best
        self.visible_errors_, self.n_iter_, self.converged_ = (
            np.array(errors),
            len(errors),
            min(errors) == 0,
        )
        return 0, min(errors)

    def start(self, states: Patterns) -> Floats:
        """Return what is believed before the cue, (B, 1 + C): no pattern (-1), and nothing of its
        clones.
        """
        return np.concatenate(
            [np.full((len(states), 1), -1.0), np.zeros((len(states), self.T_.shape[1]))], axis=1
        )

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, (B, N) -> (B, N); `memory` holds the last pattern
        and its clones.
        """
        carried = self.start(states) if memory is None else memory
        seen = np.argmax(
            field(self.patterns_, states), axis=1
        )  # whole numbers; of equally near ones the first
        belief = self._belief(carried[:, 0].astype(np.int64), carried[:, 1:], seen)
        carried[:, 0], carried[:, 1:] = seen, belief
        return np.asarray(self.patterns_[self._most_probable(seen, belief)])

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        check_count(self.n_clones, "n_clones")
        check_count(self.max_steps, "max_steps")
        check_not_negative(self.tol, "tol")
        check_count(self.n_init, "n_init")

    def _symbols(self, transitions: Transitions) -> list[Course]:
        """Number the patterns and the pairs of them; gives each sequence in these numbers."""
        numbers: dict[bytes, int] = {}
        sequences = []
        for x, y in zip(
            *(split(part, transitions.lengths) for part in transitions[:2]), strict=True
        ):
            patterns = np.concatenate([x, y[-1:]])
            sequences.append(
                _once_round(
                    np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in patterns])
                )
            )
        self.patterns_ = np.array([np.frombuffer(name, dtype=np.int8) for name in numbers])
        P = len(numbers)
        keys = np.unique(np.concatenate([s[:-1] * P + s[1:] for s in sequences]))
        self.before_, self.after_ = keys // P, keys % P
        return [
            Course(
                int(s[0]),
                int(s[-1]),
                np.searchsorted(keys, s[:-1] * P + s[1:]),
                bool(s[0] == s[-1]),
            )
            for s in sequences
        ]

    def _learn(self, courses: list[Course], model: Clones) -> tuple[Floats, Floats]:
        """Baum-Welch until it hardly gains, then Viterbi training until no clone changes; gives
        `T_` and `start_`.
        """
        gain = float(self.tol) * sum(len(course.pairs) for course in courses)
        before = -np.inf
        for _ in range(int(self.max_steps)):
            now = model.learn(courses, _PSEUDOCOUNT)
            if now - before < gain:
                break
            before = now
        paths = model.decide(courses)
        for _ in range(_MOST_DECISIONS):
            last, paths = paths, model.decide(courses)
            if all(np.array_equal(a, b) for a, b in zip(last, paths, strict=True)):
                break
        used = np.zeros_like(model.pi)
        for course, path in zip(courses, paths, strict=True):
            np.add.at(used, (self.before_[course.pairs], path[:-1]), 1.0)
            used[course.last, path[-1]] += not course.closed
        begins = np.isin(np.arange(len(used)), [course.first for course in courses])
        return model.T, np.where(begins[:, None], model.pi, used / used.sum(axis=1, keepdims=True))

    def _belief(self, before: Whole, belief: Floats, seen: Whole) -> Floats:
        """Return the belief about the clones of the seen pattern, after the belief before; that of
        a cue if it is impossible.
        """
        new = self.start_[seen]
        key, keys = (
            before * len(self.patterns_) + seen,
            self.before_ * len(self.patterns_) + self.after_,
        )
        pair = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        known = np.flatnonzero((before >= 0) & (keys[pair] == key))
        ahead = np.einsum("bc,bcd->bd", belief[known], self.T_[pair[known]])
        mass = ahead.sum(axis=1, keepdims=True)
        possible = mass[:, 0] > 0
        new[known[possible]] = ahead[possible] / mass[possible]
        return new

    def _most_probable(self, seen: Whole, belief: Floats) -> Whole:
        """The most probable pattern after what is seen, the first of equals; itself if nothing
        follows.
        """
        first, end = (
            np.searchsorted(self.before_, seen, "left"),
            np.searchsorted(self.before_, seen, "right"),
        )
        answer, best = seen.copy(), np.zeros(len(seen))
        for j in range(int((end - first).max(initial=0))):
            some = np.flatnonzero(first + j < end)
            pair = first[some] + j
            probability = np.einsum("bc,bcd->b", belief[some], self.T_[pair])
            better = probability > best[some]
            answer[some[better]], best[some[better]] = (
                self.after_[pair[better]],
                probability[better],
            )
        return answer

    def _remedies(self) -> list[str]:
        return ["use more clones (n_clones)", "allow more random starts (n_init)", "store less"]

    def _check_learned(self, arrays: dict[str, NDArray[Any]]) -> None:
        for name in ("before_", "after_"):
            if (largest := int(arrays[name].max())) >= len(arrays["patterns_"]):
                raise ValueError(
                    f"the array {name} names pattern {largest}, but there are "
                    f"{len(arrays['patterns_'])}"
                )


def _once_round(numbers: Whole) -> Whole:
    """Cut a sequence that continues over its own beginning where its first pattern comes again;
    others stay as they are.
    """
    again = (int(p) for p in np.flatnonzero(numbers[1:] == numbers[0]) + 1)
    period = next((p for p in again if np.array_equal(numbers[p:], numbers[:-p])), len(numbers))
    return numbers[: period + 1]


class Course(NamedTuple):
    """A sequence of symbols: the first and the last one, the pairs that it goes through, and
    whether it is a cycle.
    """

    first: int
    last: int
    pairs: Whole
    """Numbers of pairs, shape (n,)."""
    closed: bool


@dataclass
class Clones:
    """Transition and start probabilities."""

    before: Whole
    """The first symbol of each pair, shape (G,)."""
    T: Floats
    """From the clones of the first symbol to those of the second, shape (G, C, C)."""
    pi: Floats
    """The distribution of clones with which a sequence starts at each symbol, shape (symbols,
    C).
    """

    @classmethod
    def random(cls, before: Whole, symbols: int, n_clones: int, rng: np.random.Generator) -> Clones:
        """Draw transition probabilities; starts are equal."""
        T = rng.random((len(before), n_clones, n_clones))
        return cls(
            before, _per_clone(T, before, symbols), np.full((symbols, n_clones), 1 / n_clones)
        )

    def learn(self, courses: Sequence[Course], pseudocount: float) -> float:
        """Make one step of Baum-Welch; returns the logarithm of the probability that the courses
        had before it.
        """
        counts, starts, total = np.full_like(self.T, pseudocount), np.zeros_like(self.pi), 0.0
        for course in courses:
            shares, log_probability = self.expect(course)
            np.add.at(counts, course.pairs, shares)
            starts[course.first] += shares[0].sum(axis=1)
            total += log_probability
        self._take(counts, starts)
        return total

    def expect(self, course: Course) -> tuple[Floats, float]:
        """Return the probability of each pair of clones at each step, (n, C, C), given the course;
        and the log of its own one.
        """
        A, B, log_probability = self._messages(course)
        shares = self.T[course.pairs] * (A[:-1].swapaxes(1, 2) @ B[1:].swapaxes(1, 2))
        return shares / shares.sum(axis=(1, 2), keepdims=True), log_probability

    def _messages(self, course: Course) -> tuple[Floats, Floats, float]:
        """Return A, (n + 1, R, C), and B, (n + 1, C, R), normalised, and the log probability.

        A[t] is the probability of what was seen up to t, with each of R starts and each clone at t;
        B[t] that of what is seen after t. A cycle has C starts, and must end where it started.
        """
        pi, T = self.pi[course.first], self.T[course.pairs]
        n, C = len(T), len(pi)
        R = C if course.closed else 1
        A, B = np.empty((n + 1, R, C)), np.empty((n + 1, C, R))
        A[0] = np.diag(pi) if course.closed else pi
        B[n] = np.eye(C) if course.closed else 1.0
        log_scale = 0.0
        for t in range(n):
            ahead = A[t] @ T[t]
            scale = ahead.sum()
            A[t + 1] = ahead / scale
            log_scale += np.log(scale)
        for t in range(n - 1, -1, -1):
            back = T[t] @ B[t + 1]
            B[t] = back / back.sum()
        return A, B, float(log_scale + np.log(np.sum(A[n] * B[n].T)))

    def decide(self, courses: Sequence[Course]) -> list[Whole]:
        """Make one step of Viterbi training: the most probable clones of each course count alone;
        returns them, (n + 1,) each.
        """
        counts, starts, paths = np.zeros_like(self.T), np.zeros_like(self.pi), []
        for course in courses:
            path = self.most_probable(course)
            np.add.at(counts, (course.pairs, path[:-1], path[1:]), 1.0)
            starts[course.first, path[0]] += 1
            paths.append(path)
        self._take(counts, starts)
        return paths

    def most_probable(self, course: Course) -> Whole:
        """The most probable clones, (n + 1,), by the Viterbi algorithm; a cycle ends where it
        starts.
        """
        with np.errstate(divide="ignore"):
            log_T, log_pi = np.log(self.T[course.pairs]), np.log(self.pi[course.first])
        n, C = len(log_T), len(log_pi)
        best = np.where(np.eye(C, dtype=bool), log_pi, -np.inf) if course.closed else log_pi[None]
        came_from = np.empty((n, *best.shape), dtype=np.int64)
        for t in range(n):
            ways = best[:, :, None] + log_T[t]
            came_from[t] = ways.argmax(axis=1)
            best = ways.max(axis=1)
        path = np.empty(n + 1, dtype=np.int64)
        start = int(np.argmax(np.diag(best))) if course.closed else 0
        path[n] = start if course.closed else int(np.argmax(best[0]))
        for t in range(n - 1, -1, -1):
            path[t] = came_from[t, start, path[t + 1]]
        return path

    def _take(self, counts: Floats, starts: Floats) -> None:
        """Make probabilities of counts; symbols with which no sequence starts keep theirs."""
        self.T = _per_clone(counts, self.before, len(self.pi))
        begun = starts.sum(axis=1) > 0
        self.pi[begun] = starts[begun] / starts[begun].sum(axis=1, keepdims=True)


def _per_clone(counts: Floats, before: Whole, symbols: int) -> Floats:
    """Divide counts, (G, C, C), by the sum over all that follows a clone; zero for one that is
    never used.
    """
    totals = np.zeros((symbols, counts.shape[1]))
    np.add.at(totals, before, counts.sum(axis=2))
    return np.asarray(counts / np.where(totals > 0, totals, 1.0)[before][:, :, None])
