"""The longest sequences that a network without hidden neurons can make: orbits through all 2**N
states.
"""

from __future__ import annotations

import itertools

import numpy as np

from seqattractor._checks import check_count
from seqattractor.analysis._separability import prove
from seqattractor.sequences import Patterns, Sequences

State = tuple[int, ...]
_MOST_UNITS = 12  # 4096 states; a search comes nowhere near


def longest_orbit(n_units: int, *, node_limit: int = 100_000) -> Sequences:
    """Search for an orbit through all 2**N states of a network xi' = sign(W xi) without hidden
    neurons and biases.

    There is one for every N (Muscinelli, Gerstner and Brea 2017). Pattern after pattern is appended
    as long as exact arithmetic finds weights for each neuron (as `separable` does). Such a network
    is odd, so that an orbit with xi and -xi in it has x(t + 2**(N-1)) = -x(t), and only half of it
    is sought. What differs only by the names or the signs of neurons is sought once.

    Parameters
    ----------
    n_units : int
        N. The search takes 2, 4 and 27 nodes for N = 2, 3 and 4; the number grows very quickly from
        there.
    node_limit : int
        How many nodes, beginnings of orbits, to try at most.

    Returns
    -------
    Sequences
        One, of shape (2**N + 1, N). The last pattern is the first again.

    References
    ----------
    S. P. Muscinelli, W. Gerstner and J. Brea, Exponentially long orbits in Hopfield neural
    networks, 2017.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = longest_orbit(3)
    >>> X.T
    array([[ 1,  1,  1,  1, -1, -1, -1, -1,  1],
           [ 1,  1, -1, -1, -1, -1,  1,  1,  1],
           [ 1, -1,  1, -1, -1,  1, -1,  1,  1]], dtype=int8)
    >>> net = sa.VisibleNetwork(random_state=0).fit(X)
    >>> sa.find_attractors(net, X, starts=20, rng=0)[0].period
    8
    """
    search = OrbitSearch(
        check_count(n_units, "n_units", 1, _MOST_UNITS), check_count(node_limit, "node_limit")
    )
    half = search.complete([(1,) * n_units])
    if half is None:
        raise ValueError(f"there is no orbit through all {2**n_units} states of {n_units} units.")
    once = np.array(half, dtype=np.int8)
    return Sequences(
        np.concatenate([once, -once, once[:1]]), names=[f"orbit of {2**n_units} states"], closed=1
    )


class OrbitSearch:
    """A search in depth, which remembers what is possible for single neurons."""

    def __init__(self, n_units: int, node_limit: int) -> None:
        self.states: list[State] = list(itertools.product((1, -1), repeat=n_units))
        self.node_limit = node_limit
        self.nodes = 0
        self._known: dict[frozenset[State], bool] = {}

    def complete(self, path: list[State]) -> list[State] | None:
        """Continue a path to half an orbit, or give None where that is impossible."""
        if 2 * len(path) == len(self.states):
            return path if self._is_possible([*path, _mirrored(path[0])]) else None
        used = {state for seen in path for state in (seen, _mirrored(seen))}
        for state in self.states:
            if (
                state not in used
                and _comes_first(path, state)
                and self._is_possible([*path, state])
            ):
                complete = self.complete([*path, state])
                if complete is not None:
                    return complete
        return None

    def _is_possible(self, path: list[State]) -> bool:
        """Whether each neuron has weights that make a path, and with it the mirrored one."""
        self.nodes += 1
        if self.nodes > self.node_limit:
            raise ValueError(
                f"no orbit was found among {self.node_limit} beginnings; raise node_limit."
            )
        for targets in zip(*path[1:], strict=True):
            # The states after which the neuron has to be on.
            on = frozenset(
                x if y > 0 else _mirrored(x) for x, y in zip(path, targets, strict=False)
            )
            if on not in self._known:
                self._known[on] = _is_separable(np.array(sorted(on), dtype=np.int8))
            if not self._known[on]:
                return False
        return True


def _is_separable(on: Patterns) -> bool:
    """Whether some weights are positive at all given states and, as zero counts as +1, negative at
    their mirror images.
    """
    y = np.repeat(np.array([1, -1], dtype=np.int8), len(on))
    return prove(np.concatenate([on, -on]).astype(np.int64), y).weights is not None


def _mirrored(state: State) -> State:
    """All units inverted."""
    return tuple(-unit for unit in state)


def _comes_first(path: list[State], state: State) -> bool:
    """Whether a state stands for all those that differ by an exchange of units that were always
    equal so far.
    """
    histories = list(zip(*path, strict=True))
    return all(
        state[a] >= state[b]
        for a, b in itertools.combinations(range(len(state)), 2)
        if histories[a] == histories[b]
    )
