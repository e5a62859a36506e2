"""Runs of a network, step after step: behind `recall`, `score`, `basin`, `robustness_curve` and
`find_attractors`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.noise import flip
from seqattractor.sequences import Patterns, Transitions, split

if TYPE_CHECKING:
    from seqattractor.engine.firing import Walk
    from seqattractor.networks.base import SequenceMemory

Ids = NDArray[np.int64]

MOST_BYTES = 2**26
BYTES_BESIDE = 200  # the packed state, its number and their places in the dictionary
_SMALLEST = 64  # states to allocate for
UNKNOWN = -1
SOON = 4  # steps within which most runs are over, before it pays to get ready for more
_AT_ONCE = 64  # steps that are taken ahead at most


class WrongAnswerError(ValueError):
    """A method of a network, such as one of the user's, returned something invalid."""

    def __init__(self, sentence: str, method: str = "next_patterns") -> None:
        super().__init__(sentence)
        self.method = method


class Run:
    """A batch of runs of one network: the last `order` patterns of each, (B, order * N), and its
    slow or latent variables.

    With `remember`, the successor of a state that was computed before may be looked up.
    """

    def __init__(
        self,
        net: SequenceMemory,
        states: Patterns,
        memory: NDArray[Any] | None = None,
        *,
        remember: bool = True,
    ) -> None:
        self.net = net
        self.states = states.copy()
        self.memory = started(net, self.states) if memory is None else memory
        self._may_know = remember and self.memory is None and leads_on_by_state(net)
        self._known: KnownStates | None = None
        self._at: Ids | None = None
        """The numbers of the states among the known ones."""

    def step(self, noise: int = 0, rng: np.random.Generator | None = None) -> Patterns:
        """Make one step, after flipping `noise` units of the newest pattern, and return the new
        patterns, (B, N).
        """
        N = self.net.n_features_in_
        if noise:
            self.states, self._at = self.states.copy(), None
            self.states[:, -N:] = flip(self.states[:, -N:], noise, rng)
        if noise or self._known is None:
            self.states = self._after(self.states)
        else:
            self._step_from(self._known)
        if self._may_know and self._known is None:
            # Cues differ, and nothing is gained at the first step. Afterwards runs meet each other,
            # and come back.
            self._known = KnownStates(self.states.shape[1])
        return self.states[:, -N:]

    def _after(self, states: Patterns) -> Patterns:
        """Return the states after one step, (B, order * N)."""
        following = self._checked(self.net.next_patterns(states, self.memory), len(states))
        return np.concatenate([states[:, self.net.n_features_in_ :], following], axis=1)

    def _step_from(self, known: KnownStates) -> None:
        """Make one step, and compute the successor of a state only once, whichever runs come to it,
        and how often.
        """
        at = known.number(self.states) if self._at is None else self._at
        following = known.successors[at]
        new = np.flatnonzero(following == UNKNOWN)
        if len(new):
            each = new if len(new) == 1 else new[np.unique(at[new], return_index=True)[1]]
            numbers = known.number(self._after(self.states[each]))
            known.successors[at[each]] = numbers
            following = known.successors[at]
        self._at, self.states = following, known.states[following]
        if known.is_full:
            self._may_know, self._known, self._at = False, None, None

    def _checked(self, following: Any, runs: int) -> Patterns:
        """Return patterns as int8, or raise an error if a network of the user's returned anything
        else.
        """
        name = f"{type(self.net).__name__}.next_patterns"
        wanted = (runs, self.net.n_features_in_)
        if following is None:
            raise WrongAnswerError(
                f"{name} returned None; let it return the next patterns, an array of the shape "
                f"{wanted}."
            )
        answer: NDArray[Any] = np.asarray(following)
        if answer.shape != wanted:
            raise WrongAnswerError(
                f"{name} returned patterns of the shape {answer.shape} where {wanted} was wanted."
            )
        if answer.dtype.kind not in "biuf" or not np.all(answer * answer == 1):
            raise WrongAnswerError(
                f"{name} returned {_strange(answer)}; patterns are of -1 and +1."
            )
        return answer.astype(np.int8, copy=False)


def _strange(answer: NDArray[Any]) -> str:
    """Return which values of an answer are neither -1 nor +1, in words."""
    if answer.dtype.kind not in "biuf":
        return f"values of the type {answer.dtype}"
    strange = answer[answer * answer != 1]
    many = f"of {answer.size} values"
    if not np.all(np.isfinite(strange)):
        return f"NaN or infinity ({np.sum(~np.isfinite(strange))} {many})"
    if not np.any(strange):
        return (
            f"zeros ({strange.size} {many}; a field of exactly 0 counts as +1, as in "
            "np.where(field >= 0, 1, -1))"
        )
    return (
        f"values other than -1 and +1, such as {strange[strange != 0][0]:g} ({strange.size} "
        f"{many}; take their sign)"
    )


def started(net: SequenceMemory, states: Patterns) -> NDArray[Any] | None:
    """Return the slow or latent variables with which runs start, a row for each, or raise if they
    are no array of rows.
    """
    memory = net.start(states)
    if memory is not None and (
        not isinstance(memory, np.ndarray) or memory.shape[:1] != (len(states),)
    ):
        found = (
            f"an array of the shape {memory.shape}"
            if isinstance(memory, np.ndarray)
            else f"{type(memory).__name__}"
        )
        wanted = f"an array with a row for each of {len(states)} runs"
        raise WrongAnswerError(
            f"{type(net).__name__}.start returned {found} where {wanted} or None was wanted.",
            "start",
        )
    return memory


def led_memory(net: SequenceMemory, transitions: Transitions) -> NDArray[Any] | None:
    """Return the variables of a network led through each sequence up to each input."""
    memory = started(net, transitions.inputs)
    if memory is None or net.traits().dwells:  # it starts as if the pattern had been there for long
        return memory
    at = 0
    for shown in split(transitions.inputs, transitions.lengths):
        carried: NDArray[Any] = np.asarray(net.start(shown[:1]))
        for t in range(len(shown)):
            memory[at + t] = carried[0]
            net.next_patterns(shown[t : t + 1], carried)
        at += len(shown)
    return memory


def states_along(net: SequenceMemory, cues: Patterns, steps: int) -> Iterator[Patterns]:
    """Yield the states of runs from cues, (B, N), and then those after each of at most `steps`
    steps.
    """
    run = Run(net, cues, remember=False)
    yield run.states
    for _ in range(min(SOON, steps)):
        yield run.step()
    left, ahead = steps - SOON, SOON
    walk = _walk_of(net) if len(cues) == 1 and left > 0 else None
    while left > 0:
        path = run.states[:0] if walk is None else walk.path(run.states[0], min(ahead, left))
        for k in range(len(path)):
            yield path[k : k + 1]
        left -= len(path)
        run.states = path[-1:] if len(path) else run.states
        if len(path) < ahead and left > 0:  # there is no walk, or the next step is not decided
            left -= 1
            yield run.step()
            walk = (
                walk if len(path) >= SOON else None
            )  # ties everywhere: weights that are multiples of a number such as 0.001
        ahead = min(2 * ahead, _AT_ONCE)


def _walk_of(net: SequenceMemory) -> Walk | None:
    """Return the compiled walk through a network of two layers whose engine is compiled, too."""
    layers = net.layers() if getattr(net, "engine", None) == "exact" and net.order_ == 1 else None
    if layers is None or len(layers) != 2:
        return None
    from seqattractor.engine.firing import find_walk

    hidden, visible = layers
    return find_walk(
        (hidden.weights, hidden.offset), (visible.weights, visible.offset), silent=hidden.low
    )


def names_of(states: Patterns) -> list[bytes]:
    """Return the bits of each state of -1 and +1, (B, width), as a name for it."""
    packed = np.packbits(states > 0, axis=1)
    names: list[bytes] = packed.view(f"V{packed.shape[1]}").ravel().tolist()
    return names


def leads_on_by_state(net: SequenceMemory) -> bool:
    """Return whether the class itself, not a base, declares that the same state always has the same
    successor.
    """
    return bool(vars(type(net)).get("deterministic", False)) and "next_patterns" not in vars(net)


def goes_by_state(net: SequenceMemory, states: Patterns) -> bool:
    """Return whether a run from some states depends on these alone: it also carries nothing from
    step to step.
    """
    return leads_on_by_state(net) and net.start(states) is None


class KnownStates:
    """States of `width` units with their successors, up to a limit of memory."""

    def __init__(self, width: int) -> None:
        self.most = MOST_BYTES // (width + BYTES_BESIDE)
        self.states: Patterns = np.empty((0, width), dtype=np.int8)
        """The state of each number, and unused rows."""
        self.successors: Ids = np.empty(0, dtype=np.int64)
        """The number of the state that follows, or UNKNOWN."""
        self._numbers: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def is_full(self) -> bool:
        """Whether there are more states than it pays to cache: runs that find so many do not come
        back to them.
        """
        return len(self) > self.most

    def number(self, states: Patterns) -> Ids:
        """Return the numbers of states, (B, width) -> (B,); equal states have the same one."""
        known, numbers = len(self), self._numbers
        given = np.array(
            [numbers.setdefault(name, len(numbers)) for name in names_of(states)], dtype=np.int64
        )
        if len(self) > known:
            self._grow()
            self.states[given] = states
        return given

    def _grow(self) -> None:
        """Allocate a row for every number; the rows double, so that each is moved only a few
        times.
        """
        rows = len(self.states)
        if len(self) > rows:
            more = max(2 * rows, len(self), _SMALLEST) - rows
            self.states = np.concatenate(
                [self.states, np.empty((more, self.states.shape[1]), dtype=np.int8)]
            )
            self.successors = np.concatenate([self.successors, np.full(more, UNKNOWN)])
