"""A network on its way: the one stateful run behind `recall`, `score`, `basin`, `robustness_curve` and `find_attractors`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.networks.known_states import UNKNOWN, Ids, KnownStates, leads_on_by_state
from seqattractor.noise import flip
from seqattractor.sequences import Patterns, Transitions, split

if TYPE_CHECKING:
    from seqattractor.networks.hooks import Hooks


class WrongAnswerError(ValueError):
    """A method of a network gave what no network may give; networks of the user's can."""

    def __init__(self, sentence: str, method: str = "next_patterns") -> None:
        super().__init__(sentence)
        self.method = method


class Run:
    """A batch of runs of one network: the last `order` patterns of each, and the slow or latent variables that it carries.

    Parameters
    ----------
    net : SequenceMemory
        A network that has learned.
    states : ndarray of int8, shape (B, order * N)
        Where the runs start, oldest pattern first.
    memory : ndarray of shape (B, ...), optional
        What the network carries; by default what it starts with, `SequenceMemory.start`.
    remember : bool
        Whether a successor that was computed before may be looked up.
    """

    def __init__(self, net: Hooks, states: Patterns, memory: NDArray[Any] | None = None, *, remember: bool = True) -> None:
        self.net = net
        self.states = states.copy()
        self.memory = started(net, self.states) if memory is None else memory
        self._may_know = remember and self.memory is None and leads_on_by_state(net)
        self._known: KnownStates | None = None
        self._at: Ids | None = None
        """The numbers of the states among the known ones."""

    def step(self, noise: int = 0, rng: np.random.Generator | None = None) -> Patterns:
        """Go one step on, after flipping `noise` units of the newest pattern; gives the new patterns, (B, N)."""
        N = self.net.n_features_in_
        if noise:
            self.states, self._at = self.states.copy(), None
            self.states[:, -N:] = flip(self.states[:, -N:], noise, rng)
        if noise or self._known is None:
            self.states = self._after(self.states)
        else:
            self._go_on_from(self._known)
        if self._may_know and self._known is None:
            # Cues differ, and nothing is gained at the first step. Afterwards runs meet each other, and come back.
            self._known = KnownStates(self.states.shape[1])
        return self.states[:, -N:]

    def _after(self, states: Patterns) -> Patterns:
        """The states one step on, (B, order * N)."""
        following = self._checked(self.net.next_patterns(states, self.memory), len(states))
        return np.concatenate([states[:, self.net.n_features_in_ :], following], axis=1)

    def _go_on_from(self, known: KnownStates) -> None:
        """Go one step on where the successor of a state is computed only once, whichever runs come to it, and how often."""
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
        """Refuse what no network should answer; a network of the user's may."""
        name = f"{type(self.net).__name__}.next_patterns"
        wanted = (runs, self.net.n_features_in_)
        if following is None:
            raise WrongAnswerError(f"{name} gave None; let it return the next patterns, an array of the shape {wanted}.")
        answer: NDArray[Any] = np.asarray(following)
        if answer.shape != wanted:
            raise WrongAnswerError(f"{name} gave patterns of the shape {answer.shape} where {wanted} was wanted.")
        if answer.dtype.kind not in "biuf" or not np.all(answer * answer == 1):
            raise WrongAnswerError(f"{name} gave {_strange(answer)}; patterns are of -1 and +1.")
        return answer.astype(np.int8, copy=False)


def _strange(answer: NDArray[Any]) -> str:
    """What values of an answer are neither -1 nor +1, in words."""
    if answer.dtype.kind not in "biuf":
        return f"values of the type {answer.dtype}"
    strange = answer[answer * answer != 1]
    many = f"of {answer.size} values"
    if not np.all(np.isfinite(strange)):
        return f"NaN or infinity ({np.sum(~np.isfinite(strange))} {many})"
    if not np.any(strange):
        return f"zeros ({strange.size} {many}; a field of exactly 0 counts as +1, as in np.where(field >= 0, 1, -1))"
    return f"values other than -1 and +1, such as {strange[strange != 0][0]:g} ({strange.size} {many}; take their sign)"


def started(net: Hooks, states: Patterns) -> NDArray[Any] | None:
    """The slow or latent variables with which runs start, a row for each; refuses what a network may not carry."""
    memory = net.start(states)
    if memory is not None and (not isinstance(memory, np.ndarray) or memory.shape[:1] != (len(states),)):
        found = f"an array of the shape {memory.shape}" if isinstance(memory, np.ndarray) else f"{type(memory).__name__}"
        wanted = f"an array with a row for each of {len(states)} runs"
        raise WrongAnswerError(f"{type(net).__name__}.start gave {found} where {wanted} or None was wanted.", "start")
    return memory


def led_memory(net: Hooks, transitions: Transitions) -> NDArray[Any] | None:
    """What a network carries when it has been led through each sequence up to each of its inputs, shape (n, ...).

    Most networks carry nothing, and one that dwells at each pattern starts as if the pattern had been there for long. Where
    the memory is a context, the network is shown the sequence from its beginning.
    """
    memory = started(net, transitions.inputs)
    if memory is None or net.traits().dwells:
        return memory
    at = 0
    for shown in split(transitions.inputs, transitions.lengths):
        carried: NDArray[Any] = np.asarray(net.start(shown[:1]))
        for t in range(len(shown)):
            memory[at + t] = carried[0]
            net.next_patterns(shown[t : t + 1], carried)
        at += len(shown)
    return memory
