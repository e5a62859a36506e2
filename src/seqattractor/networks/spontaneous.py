"""What a network recalls by itself: sequences that start from its own weights, and are told from
spurious ones by its own margins. No pattern from outside is needed.

Every neuron's incoming weights are a mixture of the patterns before which it is to be active, its
outgoing weights of those after which it was. Their signs, of one neuron or of two neurons with
similar weights, are states near a stored pattern, from which the network runs. A transition is
*sure* if learning it again would change nothing: the field of every neuron that was trained for a
margin exceeds it, eqs. (5) and (8). Stored transitions are sure once learning has converged.

A cycle whose transitions are sure, but for a few, is a stored loop. A path of sure transitions that
ends in one that is not is a stored open sequence. Noisy versions of a pattern may be followed by
the same, and as surely; the pattern itself is the one whose active neurons have the largest fields.
Nothing leads to the first pattern of an open sequence, which is rebuilt from the weights
(`_way_back`), and not always exactly. A sparse network that learns by `add` therefore learns a
*lead-in* with it (`lead_in`). To reach it, what was found is taken away from the weights of each
neuron, and what is left starts further runs. Where the network would go on after the last pattern
as surely as if it had learned that, `add` has taught it a *lead-out*, at which replay ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._faces import Result
from seqattractor.networks.base import SequenceMemory, check_learned
from seqattractor.networks.lead_in import lead_in
from seqattractor.networks.run import UNKNOWN, KnownStates
from seqattractor.networks.traits import NotApplicable
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import as_signs, pieces
from seqattractor.sequences._transitions import close_loop

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Grades = NDArray[np.int8]
Weights = NDArray[np.floating[Any]]

SURE, NEARLY, END = 2, 1, -1  # how sure a transition is, or that it ends an open sequence
TRANSIENT = 20  # steps that a run from a start may take until its transitions are sure
_PAIRS = 4  # pairs of neurons, in multiples of their number, from which runs start in one round
_ROUNDS = 10  # of pairs, at most
_IN_VAIN = 3  # rounds in a row that find no new sequence, after which the search ends
_MOST_NEURONS = 0.95  # of a hidden layer exceed their margins if a transition is nearly sure
_MOST_TRANSITIONS = 0.8  # of a loop are sure, at least
_RARE = 0.02  # of the starts of a frequent sequence (the upper quartile), at least
_BRANCH = 3  # states of its own of a path that joins another sequence, at least
_ALONE = 5  # states of its own of a path without a lead-in where others have one, at least
_REBUILT = 5  # times a first pattern is rebuilt from the neurons that it activates
_MOST_BYTES = 2**28  # of states that were seen
_MOST_FIELDS = 2**23  # that are computed at once


@dataclass(frozen=True, repr=False, eq=False)
class SelfReplay(Result):
    """The sequences that a network recalls by itself, the one with the most starts first.

    Attributes
    ----------
    sequences : list of ndarray of int8, shape (T, N)
        As `fit` takes them: a loop ends with its first pattern (or as many as the order of the
        network). A loop begins anywhere. The first pattern of an open sequence that was not
        learned by `add` is rebuilt and may have wrong units.
    loops : list of bool
        Which of them are loops.
    led : list of bool
        Which are open sequences that `add` has learned with a lead-in, so that their first pattern
        is right.
    starts : list of int
        How many starts led into each.
    n_starts : int
        How many were tried.
    share_of_neurons : float
        The fraction of single neurons whose outgoing or incoming weights led into a sequence. It
        falls as the memory fills.
    """

    sequences: list[Patterns] = field(repr=False)
    loops: list[bool]
    led: list[bool]
    starts: list[int]
    n_starts: int
    share_of_neurons: float

    def __len__(self) -> int:
        return len(self.sequences)

    def describe(self) -> str:
        """Describe how many sequences were found, and from how many starts."""
        n, loops = len(self), sum(self.loops)
        patterns = sum(map(len, self.sequences))
        return (
            f"{n} sequence{'' if n == 1 else 's'} of {patterns} patterns in all ({loops} loops) "
            f"replayed from {self.n_starts} starts. The weights of "
            f"{self.share_of_neurons:.0%} of single neurons lead into one of them."
        )

    def rows(self) -> Iterable[dict[str, Any]]:
        """Return a row for each sequence."""
        each = zip(self.sequences, self.loops, self.starts, strict=True)
        return ({"patterns": len(x), "loop": loop, "starts": n} for x, loop, n in each)


def self_replay(net: SequenceMemory) -> SelfReplay:
    """Let a network recall what it has learned, started by its own weights.

    Runs start from the weights of single neurons, then of pairs of neurons with similar weights,
    until three rounds of pairs find nothing new, for ten rounds at most. Where open sequences were
    learned by `add`, runs also start from what is left of the weights when all that was found is
    taken away. Nothing is drawn by chance.

    Parameters
    ----------
    net : SequenceAttractor, SparseSequenceAttractor or VisibleNetwork without a leak
        A network that has learned.

    Returns
    -------
    SelfReplay

    Notes
    -----
    A network without biases and thresholds stores the mirror image of every sequence, all units
    inverted, as well as the sequence, and cannot tell which of the two it learned: one of them
    is returned. For the learning rule the two are the same. An open sequence that was not learned
    by `add` needs at least three transitions to be found, and in the paper's network often four.

    Examples
    --------
    >>> import seqattractor as sa
    >>> net = sa.SparseSequenceAttractor(n_hidden=200, random_state=0)
    >>> X = sa.datasets.random_periodic(20, 100, rng=0)
    >>> replayed = sa.networks.self_replay(net.fit(X))
    >>> loop = replayed.sequences[0][:-1]
    >>> len(replayed), sorted(loop.tolist()) == sorted(X[:-1].tolist())
    (1, True)
    """
    check_learned(net)
    if net._leak:
        raise NotApplicable(
            f"{type(net).__name__} with a leak cannot replay by itself, since no single pattern "
            "determines what follows it."
        )
    if all(layer.kappa is None for layer in net.layers() or ()):
        raise NotApplicable(
            f"{type(net).__name__} was not trained for margins, by which a network tells what it "
            "has learned from what it has not."
        )
    incoming, outgoing = net._synapses()
    incoming = incoming - incoming.mean(axis=0)  # what sets a neuron apart from the others
    seen = _Seen(net)
    starts = [seen.explore(_states_from(incoming, outgoing))]
    found = _search(seen, starts, incoming, outgoing)
    each, led = map(list, zip(*map(seen.patterns_of, found), strict=True)) if found else ([], [])
    one_of_two = _without_mirror_images(each)
    found, each, led = ([part[m] for m in one_of_two] for part in (found, each, led))
    counts = seen.count(starts, found)
    singles = seen.lead_into(found)[starts[0]].reshape(2, -1) >= 0
    order = np.argsort(-counts, kind="stable")
    return SelfReplay(
        sequences=[each[m] for m in order],
        loops=[found[m].loop for m in order],
        led=[led[m] for m in order],
        starts=counts[order].tolist(),
        n_starts=sum(map(len, starts)),
        share_of_neurons=float(singles.any(axis=0).mean()),
    )


def goes_on(net: SequenceMemory, x: Patterns) -> bool:
    """Return whether a network is sure of what follows the last pattern of a sequence."""
    _, grades, _ = _transitions_from(net, x[-net.order_ :].reshape(1, -1))
    return bool(grades[0] == SURE)


def _search(seen: _Seen, starts: list[Ids], incoming: Weights, outgoing: Weights) -> list[_Memory]:
    """Run from more and more starts, whose numbers are appended to those given, and return what is
    found.
    """
    found, vain = seen.memories(starts), 0
    for first, second in _similar_pairs(incoming, outgoing):
        led = any(m.led for m in found) and not any(m.loop for m in found)
        if vain == _IN_VAIN or seen.is_full or led:
            break
        starts.append(seen.explore(_states_from(*_sums(incoming, outgoing, first, second))))
        before, found = found, seen.memories(starts)
        vain = vain + 1 if len(found) <= len(before) else 0
    # Where open sequences have lead-ins, runs must reach these. What was found is taken away from
    # the weights, and what is left points to what was not.
    vain, rounds = 0, 0
    while any(memory.led for memory in found) and rounds < _ROUNDS and not seen.is_full:
        left = seen.unexplained(found, incoming, outgoing)
        if vain:
            pairs = next(islice(_similar_pairs(*left), vain - 1, None), None)
            if pairs is None:
                break
            left = _sums(*left, *pairs)
        starts.append(seen.explore(_states_from(*left)))
        before, found = found, seen.memories(starts)
        vain = 0 if _progress(found) > _progress(before) else vain + 1
        rounds += 1
        if vain and all(memory.led or memory.loop for memory in found):
            break
    return found


def _sums(incoming: Weights, outgoing: Weights, first: Ids, second: Ids) -> tuple[Weights, Weights]:
    """Return the sums of the weights of pairs of neurons."""
    return incoming[first] + incoming[second], outgoing[first] + outgoing[second]


def _progress(found: list[_Memory]) -> tuple[int, int, int]:
    """Return how many sequences were found, how many from their beginning, and their length."""
    return len(found), sum(m.led for m in found), sum(len(m.own) for m in found)


def _transitions_from(
    net: SequenceMemory, states: Patterns
) -> tuple[Patterns, Grades, NDArray[np.float64]]:
    """Return what follows each state, (B, order * N) -> (B, N), whether that is SURE, NEARLY sure
    or neither, and the smallest field of a neuron that the state activates, of the first layer.

    This field is largest at a stored pattern: every wrong unit takes something away from it.
    """
    sure, depth, at = np.full(len(states), SURE, dtype=np.int8), None, states
    layers = net.layers() or ()
    for layer in layers:
        fields = layer.fields(at)
        at, sizes = layer.states(fields), np.abs(fields)
        if layer.kappa is not None:
            share = np.mean(sizes > layer.kappa, axis=1)
            most = 1.0 if layer is layers[-1] else _MOST_NEURONS
            sure = np.minimum(sure, np.where(share == 1, SURE, NEARLY * (share >= most)))
        if depth is None:
            depth = np.where(at != 0, sizes, np.inf).min(axis=1)
    assert depth is not None
    return at, sure, depth


@dataclass(frozen=True)
class _Memory:
    """A sequence that was found: the numbers of the states that it passes, and of those that no
    other sequence has.
    """

    path: Ids
    own: Ids
    loop: bool
    led: bool
    """Whether a lead-in proves that the path begins with the first pattern."""


class _Seen:
    """The states that were seen, what follows each, and how sure that is."""

    def __init__(self, net: SequenceMemory) -> None:
        self.net = net
        self._way_back = net._way_back()
        self._known = KnownStates(net.n_features_in_ * net.order_)
        self._grades = np.zeros(0, dtype=np.int8)
        self._led = dict[int, bool]()

    @property
    def is_full(self) -> bool:
        """Whether the states take more memory than they may."""
        return bool(self._known.states.nbytes > _MOST_BYTES)

    @property
    def _successors(self) -> Ids:
        return self._known.successors[: len(self._known)]

    def explore(self, starts: Patterns) -> Ids:
        """Run from starts, (B, order * N), and return their numbers: for some steps, and on as
        long as transitions are sure and states new.
        """
        N = self.net.n_features_in_
        first = at = self._known.number(starts)
        steps = 0
        while len(at := np.unique(at[self._known.successors[at] == UNKNOWN])):
            states = self._known.states[at]
            following, grades = self._follow(states)
            grades[self._are_ends(states[:, -N:], following)] = END
            after = self._known.number(np.concatenate([states[:, N:], following], axis=1))
            more = len(self._known.successors) - len(self._grades)
            self._grades = np.append(self._grades, np.zeros(more, dtype=np.int8))
            self._known.successors[at], self._grades[at] = after, grades
            steps += 1
            at = after if steps < TRANSIENT else after[grades == SURE]
        return first

    def _are_ends(self, patterns: Patterns, following: Patterns) -> Flags:
        """Return for each pattern whether a lead-out follows, not the pattern itself."""
        if not self.net._leads_in:
            return np.zeros(len(patterns), dtype=np.bool_)
        out = np.all(following == lead_in(patterns), axis=1)
        return np.asarray(out & np.any(following != patterns, axis=1))

    def _follow(self, states: Patterns) -> tuple[Patterns, Grades]:
        """Return what follows each state and how sure that is, of some states at a time."""
        n_fields = max(self.net.n_features_in_, getattr(self.net, "n_hidden_", 0))
        each = [
            _transitions_from(self.net, states[part])
            for part in pieces(len(states), _MOST_FIELDS // n_fields)
        ]
        return np.concatenate([a for a, _, _ in each]), np.concatenate([b for _, b, _ in each])

    def memories(self, starts: list[Ids]) -> list[_Memory]:
        """Return the cycles and paths that these starts lead into, without those that hardly any
        of them does and that have no lead-in.
        """
        found = self._cycles_and_paths()
        counts = self.count(starts, found)
        least = _RARE * np.quantile(counts, 0.75) if found else 0
        return [m for m, n in zip(found, counts, strict=True) if n >= least or m.led]

    def count(self, starts: list[Ids], found: list[_Memory]) -> Ids:
        """Return how many of the starts lead into each sequence."""
        belongs = self.lead_into(found)[np.concatenate(starts)]
        return np.bincount(belongs + 1, minlength=len(found) + 1)[1:]

    def _cycles_and_paths(self) -> list[_Memory]:
        """Return the cycles and paths of sure transitions between states that were recalled."""
        following = self._successors
        recalled = np.zeros(len(following), dtype=np.bool_)
        recalled[following[following != UNKNOWN]] = True
        grades = self._grades[: len(following)]
        stem = (grades == SURE) & recalled
        heads = self._heads(stem, (grades == NEARLY) & recalled)
        led = set(heads[self._are_led(heads)].tolist())
        paths = {head: _path(head, following, stem) for head in heads.tolist()}
        opened = np.zeros(len(following), dtype=np.bool_)
        for head in led:
            opened[paths[head]] = True
        cycles = _cycles(following, recalled & (following != UNKNOWN))
        found = [
            _Memory(cycle, cycle, loop=True, led=False)
            for cycle in cycles
            if self._is_loop(cycle, opened)
        ]
        taken = np.zeros(len(following), dtype=np.bool_)
        for memory in found:
            taken[memory.own] = True
        for path in sorted(
            paths.values(), key=lambda path: (path[0] in led, len(path)), reverse=True
        ):
            own = np.array([s for s in path if not taken[s]], dtype=np.int64)
            # A noisy pattern that was recalled by chance joins the sequence soon after.
            least = _ALONE if led else _BRANCH if len(own) < len(path) else 2
            if len(own) and (path[0] in led or len(own) >= least):
                taken[own] = True
                found.append(_Memory(np.array(path), own, loop=False, led=path[0] in led))
        return found

    def _heads(self, stem: Flags, nearly: Flags) -> Ids:
        """Return the states of the stem to which none of it leads.

        Where there are lead-ins, transitions that are nearly sure join the stem if they close a gap
        in it: if they lead to a head without a lead-in.
        """
        following = self._successors
        while True:
            leads_to = np.zeros(len(stem), dtype=np.bool_)
            leads_to[following[stem]] = True
            heads = np.flatnonzero(stem & ~leads_to)
            led = self._are_led(heads)
            gaps = np.flatnonzero(nearly & ~stem & np.isin(following, heads[~led]))
            if not (led.any() and len(gaps)):
                return heads
            stem[gaps] = True

    def _is_loop(self, cycle: Ids, opened: Flags) -> bool:
        """Return whether a cycle is a stored loop, not an open sequence whose end leads back."""
        share = np.mean(self._grades[cycle] == SURE)
        if share == 1:
            return True
        return bool(
            share >= _MOST_TRANSITIONS
            and not opened[cycle].any()
            and not self._are_led(cycle).any()
        )

    def _are_led(self, states: Ids) -> Flags:
        """Return for each state whether a lead-in proves that an open sequence begins with it."""
        if not self.net._leads_in:
            return np.zeros(len(states), dtype=np.bool_)
        new = np.array([s for s in states if s not in self._led], dtype=np.int64)
        if len(new):
            here = self._known.states[new]
            there, sure = self._from_lead_in(here)
            self._led |= dict(zip(new, sure & np.all(there == here, axis=1), strict=True))
        return np.array([self._led[s] for s in states], dtype=np.bool_)

    def _from_lead_in(self, states: Patterns) -> tuple[Patterns, Flags]:
        """Return the states to which the lead-ins of some states lead, and whether that is sure or
        nearly.
        """
        N, order = self.net.n_features_in_, self.net.order_
        at = lead_in(states.reshape(-1, order, N)).reshape(len(states), -1)
        sure = np.ones(len(at), dtype=np.bool_)
        for _ in range(order):
            following, grades = self._follow(at)
            at, sure = np.concatenate([at[:, N:], following], axis=1), sure & (grades >= NEARLY)
        return at, sure

    def _begun(self, beginnings: list[tuple[Patterns, Patterns]]) -> Patterns | None:
        """Return the first open sequence, of some beginnings, (order, N), and what follows each,
        that begins where its lead-in leads, which corrects a few wrong units; None if none does.
        """
        if not (beginnings and self.net._leads_in):
            return None
        at = np.stack([head.ravel() for head, _ in beginnings])
        for _ in range(_REBUILT):
            at, _ = self._from_lead_in(at)
        there, sure = self._from_lead_in(at)
        following = np.stack([tail[0] for _, tail in beginnings])
        fits = sure & np.all((there == at), axis=1)
        fits &= np.all(self.net.next_patterns(at) == following, axis=1)
        if not fits.any():
            return None
        first = int(np.argmax(fits))
        head, tail = beginnings[first]
        return np.concatenate([at[first].reshape(head.shape), tail])

    def unexplained(
        self, found: list[_Memory], incoming: Weights, outgoing: Weights
    ) -> tuple[Weights, Weights]:
        """Return what is left of weights if the sequences that were found are taken away from them,
        but for the first states of paths without a lead-in, which may be noisy.
        """
        N, known = self.net.n_features_in_, self._known
        skipped = self.net.order_ + 1
        paths = [m.path if m.loop or m.led else m.path[skipped:] for m in found]
        last = known.successors[[m.path[-1] for m in found]]
        ends = last[self._grades[last] == END]
        states = np.unique(np.concatenate([*paths, ends]))
        before = known.states[states]
        after = known.states[known.successors[states]][:, -N:]
        hidden = self.net._hidden_states(before)
        return _residuals(incoming, before, hidden), _residuals(outgoing, after, hidden)

    def patterns_of(self, memory: _Memory) -> tuple[Patterns, bool]:
        """Return a loop, or an open sequence with what comes before its path, and whether a lead-in
        proves where it begins.
        """
        N, order, known = self.net.n_features_in_, self.net.order_, self._known
        path = memory.path
        if memory.loop:
            return close_loop(known.states[path][:, -N:], order), False
        context = known.states[path[0]].reshape(-1, N)
        newest = known.states[known.successors[path]][:, -N:]
        x = np.concatenate([context, newest])
        begun = self._begun(self._windows(x))
        if begun is None and self.net._leads_in:
            begun = self._begun(list(self._other_beginnings(x, path)))
        if begun is None:
            x = np.array([*self._before(path[0]), *x])
            begun = self._begun(self._windows(x))
        return (x, False) if begun is None else (begun, True)

    def _windows(self, x: Patterns) -> list[tuple[Patterns, Patterns]]:
        """Return the first few states of a sequence, (order, N), and what follows each."""
        order = self.net.order_
        few = min(2 * order + 2, len(x) - order)
        return [(x[i : i + order], x[i + order :]) for i in range(few)]

    def _other_beginnings(self, x: Patterns, path: Ids) -> Iterator[tuple[Patterns, Patterns]]:
        """Yield rebuilt beginnings of an open sequence, and what follows each. The first states of
        the path may be noisy versions of those that were learned.
        """
        N, order, following = self.net.n_features_in_, self.net.order_, self._successors
        for i, state in enumerate(path[: order + 2]):
            beside = np.flatnonzero(following == path[i + 1]) if i + 1 < len(path) else path[:0]
            beside = beside[np.isin(beside, following)]  # that were recalled
            for other in sorted({int(state), *beside.tolist()}):
                near, second = self._near(other)
                tail = np.concatenate([second[None, -N:], x[i + order :]])
                for before in self._rebuilt(near, second):
                    yield before.reshape(order, N), tail

    def _before(self, head: int) -> list[Patterns]:
        """Return the patterns before those of a state, as far back as transitions are sure, and one
        more.
        """
        N = self.net.n_features_in_
        near, state = self._near(head)
        found, sure = dict[bytes, Patterns](), True
        while sure:
            rebuilt = self._rebuilt(near, state)
            _, grades, depth = _transitions_from(self.net, rebuilt)
            if not len(rebuilt):
                break
            near, best = state[None], np.argmax(np.where(grades == SURE, depth, -1))
            if rebuilt[best].tobytes() in found:
                break
            state, sure = rebuilt[best], bool(grades[best] == SURE)
            found[state.tobytes()] = state[:N]
        return list(found.values())[::-1]

    def _near(self, number: int) -> tuple[Patterns, Patterns]:
        """Return the states that lead to one, and this one."""
        known = self._known
        return known.states[: len(known)][self._successors == number], known.states[number]

    def _rebuilt(self, near: Patterns, state: Patterns) -> Patterns:
        """Return states that lead to another, rebuilt from the weights and states near them."""
        N = self.net.n_features_in_
        for _ in range(_REBUILT):
            rebuilt = self._way_back(near, state[-N:])
            rebuilt[:, N:] = state[:-N]
            fits = np.all(self.net.next_patterns(rebuilt) == state[-N:], axis=1)
            near = np.where(fits[:, None], rebuilt, near)
        return np.unique(near[np.all(self.net.next_patterns(near) == state[-N:], axis=1)], axis=0)

    def lead_into(self, found: list[_Memory]) -> Ids:
        """Return, for every state, the number of the sequence that it leads into, or -1."""
        belongs = np.full(len(self._known) + 1, -1)
        for m, memory in enumerate(found):
            belongs[memory.own] = m
        ahead = np.append(self._successors, -1)  # what follows an unknown state is unknown
        for _ in range(len(ahead).bit_length()):
            belongs, ahead = np.where(belongs < 0, belongs[ahead], belongs), ahead[ahead]
        return belongs


def _cycles(following: Ids, stem: Flags) -> Iterator[Ids]:
    """Yield the cycles of some states with one successor each."""
    visited = ~stem
    for start in np.flatnonzero(stem):
        place, at = dict[int, int](), int(start)
        while not visited[at]:
            visited[at] = True
            place[at] = len(place)
            at = int(following[at])
        if at in place:
            yield np.array(list(place)[place[at] :])


def _path(start: int, following: Ids, stem: Flags) -> list[int]:
    """Return the states from one to the last of the stem, or once round the cycle that it joins."""
    path, at = dict[int, None](), int(start)
    while stem[at] and at not in path:
        path[at] = None
        at = int(following[at])
    return list(path)


def _states_from(incoming: NDArray[Any], outgoing: NDArray[Any]) -> Patterns:
    """Return states that weights point to: where a neuron is to be active, and after it was."""
    context = np.concatenate([incoming[:, outgoing.shape[1] :], outgoing], axis=1)
    return as_signs(np.concatenate([incoming, context]) >= 0)


def _residuals(weights: Weights, patterns: Patterns, active: Patterns) -> Weights:
    """Return weights, (M, N), without their best fit by the patterns, (n, N), at which their neuron
    is active, (n, M).
    """
    each = patterns.astype(np.float64)
    overlaps, fields = each @ each.T, each @ weights.T
    fit = np.zeros_like(fields)
    for i in range(len(weights)):
        part = np.flatnonzero(active[:, i] > 0)
        fit[part, i] = np.linalg.lstsq(overlaps[np.ix_(part, part)], fields[part, i])[0]
    left = weights - fit.T @ each
    # Where nothing is left but what rounding makes of it, signs would differ between machines.
    return np.where(np.abs(left) > 1e-6 * np.abs(weights).max(), left, 0.0)


def _similar_pairs(incoming: NDArray[Any], outgoing: NDArray[Any]) -> Iterator[tuple[Ids, Ids]]:
    """Yield pairs of neurons in rounds, those with the most similar weights first."""
    M = len(incoming)
    similar = sum(_cosines(weights) for weights in (incoming, outgoing))
    first, second = np.triu_indices(M, 1)
    order = np.argsort(-similar[first, second], kind="stable")[: _ROUNDS * _PAIRS * M]
    for at in range(0, len(order), _PAIRS * M):
        chosen = order[at : at + _PAIRS * M]
        yield first[chosen], second[chosen]


def _cosines(weights: NDArray[Any]) -> Any:
    """Return the cosines between rows; 0 for rows of zeros."""
    lengths = np.sqrt((weights**2).sum(axis=1, keepdims=True))
    rows = weights / np.where(lengths > 0, lengths, 1.0)
    return rows @ rows.T


def _without_mirror_images(found: list[Patterns]) -> list[int]:
    """Return the numbers of the sequences, longest first, without those that are mirror images of
    longer ones at more than half of their patterns.
    """
    left, mirrored = [], set[bytes]()
    for m in sorted(range(len(found)), key=lambda m: -len(found[m])):
        if sum(row.tobytes() in mirrored for row in found[m]) <= len(found[m]) / 2:
            left.append(m)
            mirrored |= {row.tobytes() for row in -found[m]}
    return left
