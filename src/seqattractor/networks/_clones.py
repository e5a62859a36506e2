"""CloneStructuredMemory: a hidden Markov model with clones of every pattern, the yardstick for repeated patterns."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_memory, check_not_negative, check_positive
from seqattractor.learning.clones import Clones, Course
from seqattractor.learning.problem import ProgressCallback
from seqattractor.learning.rule import field
from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, Transitions, split

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_MOST_DECISIONS = 100  # steps of Viterbi training; it ends when no clone changes, which takes two or three


@final
class CloneStructuredMemory(SequenceMemory):
    """A clone-structured hidden Markov model: every pattern is a symbol with several hidden states, its clones.

    A state is matched to the nearest stored pattern, whose clones share what the network believes. Clones of one pattern differ
    in what comes next, so that the place in a sequence decides where a pattern has several successors; the belief is carried
    from step to step, and the most probable successor's pattern is the answer. Where the clones have no successor, as at the end
    of an open sequence, the pattern stays.

    Transition probabilities are learned by Baum-Welch restricted to the clones of the patterns that are seen, then by Viterbi
    training, from random ones; if transitions are wrong then, from others, and the best are kept.

    It is a yardstick: the patterns themselves are stored in a table, as in `LookupMemory`, which it equals where all patterns are
    different. What it adds is how far a hidden Markov model gets with *repeated* patterns, without being told the `order`.

    Parameters
    ----------
    n_clones : int
        C, the number of hidden states of each pattern.
    max_steps : int
        How many steps of Baum-Welch there are at most.
    tol : float
        They end when the mean log-probability of a transition grows by less.
    pseudocount : float
        What is added to all counts of Baum-Welch; none to those of Viterbi training.
    n_init : int
        From how many random starts it learns at most. The first that makes every transition is taken.
    on_conflict : {"raise", "learn"}
        As in `SequenceAttractor`. With "learn" a pattern may have different successors, which is what clones are for.
    random_state : int, Generator or None

    Attributes
    ----------
    patterns_ : ndarray of int8, shape (P, N)
        Every different pattern once.
    before_, after_ : ndarray of int, shape (G,)
        Pairs of patterns that follow each other, as rows of `patterns_`.
    T_ : ndarray, shape (G, C, C)
        The probability of each clone of the second after each clone of the first.
    start_ : ndarray, shape (P, C)
        What is believed of a cue: how often sequences started with each clone, or with patterns that none starts with how often
        it was used.
    visible_errors_ : ndarray of int, shape (starts,)
        Wrong units over all transitions, for each random start.
    n_iter_ : int
        How many starts there were.
    converged_ : bool
        Whether no unit is wrong.
    n_features_in_, order_ : int

    Notes
    -----
    Clones, restricted Baum-Welch and Viterbi training are as in the authors' code (naturecomm_cscg); that the pseudocount goes to
    zero for the last is from general knowledge of it. Ours are: no actions; only pairs of symbols that occur have a block of
    transition probabilities, so that `T_` grows with the number of pairs instead of its square; the distribution of first clones
    is learned, too; a sequence that ends with its beginning, if only with its first pattern, is a cycle, which comes back to the
    clone it started with; and several random starts.

    References
    ----------
    D. George et al., Clone-structured graph representations enable flexible learning and vicarious evaluation of cognitive maps,
    2021.

    Examples
    --------
    >>> import seqattractor as sa
    >>> A, B, C = sa.datasets.random_periodic(4, 30, rng=0)[:3]
    >>> net = sa.CloneStructuredMemory(on_conflict="learn", random_state=0)
    >>> net.fit([A, B, A, C, A]).score([A, B, A, C, A])  # after A comes B at first, and then C
    1.0
    """

    patterns_: Patterns
    before_: Whole
    after_: Whole
    T_: Floats
    start_: Floats
    visible_errors_: Whole
    n_iter_: int

    declared_arrays: ClassVar[dict[str, str]] = {
        "patterns_": "pattern P N",
        "before_": "count G",
        "after_": "count G",
        "T_": "float G C C",
        "start_": "float P C",
        "visible_errors_": "count E",
    }
    declared_values: ClassVar[dict[str, str]] = {"n_clones": "size C", "n_iter_": "size E", "converged_": "flag"}

    def __init__(
        self,
        n_clones: int = 10,
        *,
        max_steps: int = 200,
        tol: float = 1e-6,
        pseudocount: float = 1e-6,
        n_init: int = 5,
        on_conflict: Literal["raise", "learn"] = "raise",
        random_state: Seed = None,
    ) -> None:
        self.n_clones = n_clones
        self.max_steps = max_steps
        self.tol = tol
        self.pseudocount = pseudocount
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.random_state = random_state

    def fit_transitions(self, transitions: Transitions, callback: ProgressCallback | None = None) -> tuple[int, int]:
        """Learn from one random start after another, until every transition is made; the best is kept."""
        rng = as_generator(self.random_state, "clones")
        courses = self._symbols(transitions)
        G, C = len(self.before_), int(self.n_clones)
        check_memory(40 * C * C * (G + len(transitions.inputs)), f"a model of {C} clones for each pattern")
        errors: list[int] = []
        best: tuple[Floats, Floats] | None = None
        for attempt in range(1, int(self.n_init) + 1):
            self.T_, self.start_ = self._learn(courses, Clones.random(self.before_, len(self.patterns_), C, rng))
            errors.append(int(self._wrong_units(transitions).sum()))
            if best is None or errors[-1] < min(errors[:-1]):
                best = self.T_, self.start_
            if errors[-1] == 0 or (callback is not None and callback(attempt, 0, errors[-1])):
                break
        assert best is not None
        self.T_, self.start_ = best
        self.visible_errors_, self.n_iter_, self.converged_ = np.array(errors), len(errors), min(errors) == 0
        return 0, min(errors)

    def start(self, states: Patterns) -> Floats:
        """Give what is believed before the cue, (B, 1 + C): no pattern (-1), and nothing of its clones."""
        return np.concatenate([np.full((len(states), 1), -1.0), np.zeros((len(states), self.T_.shape[1]))], axis=1)

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Give the pattern after each state, (B, N) -> (B, N); `memory` holds the last pattern and its clones."""
        carried = self.start(states) if memory is None else memory
        seen = np.argmax(field(self.patterns_, states), axis=1)  # whole numbers; of equally near ones the first
        belief = self._belief(carried[:, 0].astype(np.int64), carried[:, 1:], seen)
        carried[:, 0], carried[:, 1:] = seen, belief
        return np.asarray(self.patterns_[self._most_probable(seen, belief)])

    def traits(self) -> Traits:
        """Tell what is fair to know: patterns are looked up, and what is learned is how they follow each other."""
        return Traits(
            weights=("patterns_", "before_", "after_", "T_", "start_"),
            stores_patterns=True,
            online=False,
            local=False,
            note="no network: a table of all patterns, searched for the nearest, and a hidden Markov model of their order",
        )

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        check_count(self.n_clones, "n_clones")
        check_count(self.max_steps, "max_steps")
        check_not_negative(self.tol, "tol")
        check_positive(self.pseudocount, "pseudocount")
        check_count(self.n_init, "n_init")

    # -- inside -------------------------------------------------------------------------------------------------

    def _symbols(self, transitions: Transitions) -> list[Course]:
        """Number the patterns and the pairs of them; gives each sequence in these numbers."""
        numbers: dict[bytes, int] = {}
        sequences = []
        for x, y in zip(*(split(part, transitions.lengths) for part in transitions[:2]), strict=True):
            patterns = np.concatenate([x, y[-1:]])
            sequences.append(_once_round(np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in patterns])))
        self.patterns_ = np.array([np.frombuffer(name, dtype=np.int8) for name in numbers])
        P = len(numbers)
        keys = np.unique(np.concatenate([s[:-1] * P + s[1:] for s in sequences]))
        self.before_, self.after_ = keys // P, keys % P
        return [Course(int(s[0]), int(s[-1]), np.searchsorted(keys, s[:-1] * P + s[1:]), bool(s[0] == s[-1])) for s in sequences]

    def _learn(self, courses: list[Course], model: Clones) -> tuple[Floats, Floats]:
        """Baum-Welch until it hardly gains, then Viterbi training until no clone changes; gives `T_` and `start_`."""
        gain = float(self.tol) * sum(len(course.pairs) for course in courses)
        before = -np.inf
        for _ in range(int(self.max_steps)):
            now = model.learn(courses, float(self.pseudocount))
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
        """What is believed of the clones of what is seen, after what was believed before; as of a cue if that cannot be."""
        new = self.start_[seen]
        key, keys = before * len(self.patterns_) + seen, self.before_ * len(self.patterns_) + self.after_
        pair = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        known = np.flatnonzero((before >= 0) & (keys[pair] == key))
        ahead = np.einsum("bc,bcd->bd", belief[known], self.T_[pair[known]])
        mass = ahead.sum(axis=1, keepdims=True)
        possible = mass[:, 0] > 0
        new[known[possible]] = ahead[possible] / mass[possible]
        return new

    def _most_probable(self, seen: Whole, belief: Floats) -> Whole:
        """The most probable pattern after what is seen, the first of equals; itself if nothing follows."""
        first, end = np.searchsorted(self.before_, seen, "left"), np.searchsorted(self.before_, seen, "right")
        answer, best = seen.copy(), np.zeros(len(seen))
        for j in range(int((end - first).max(initial=0))):
            some = np.flatnonzero(first + j < end)
            pair = first[some] + j
            probability = np.einsum("bc,bcd->b", belief[some], self.T_[pair])
            better = probability > best[some]
            answer[some[better]], best[some[better]] = self.after_[pair[better]], probability[better]
        return answer

    def _remedies(self) -> list[str]:
        return ["use more clones (n_clones)", "allow more random starts (n_init)", "store less"]

    def _check_learned(self, arrays: dict[str, NDArray[Any]]) -> None:
        for name in ("before_", "after_"):
            if (largest := int(arrays[name].max())) >= len(arrays["patterns_"]):
                raise ValueError(f"the array {name} names pattern {largest}, but there are {len(arrays['patterns_'])}")


def _once_round(numbers: Whole) -> Whole:
    """A sequence that goes on over its own beginning, up to its first pattern again; any other as it is."""
    again = (int(p) for p in np.flatnonzero(numbers[1:] == numbers[0]) + 1)
    period = next((p for p in again if np.array_equal(numbers[p:], numbers[:-p])), len(numbers))
    return numbers[: period + 1]
