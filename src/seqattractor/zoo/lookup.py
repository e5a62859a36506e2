"""LookupMemory: the honest trivial baseline, a table of patterns and their successors."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np

from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Traits
from seqattractor.rule import field
from seqattractor.sequences import Patterns, Transitions
from seqattractor.sequences._patterns import pieces

_OVERLAPS = 4_000_000  # of states with patterns that are held at a time


@final
@dataclass(eq=False, repr=False)
class LookupMemory(OnlineMemory):
    """A look-up table: find the stored pattern nearest to the state and answer with its successor.

    It is not a neural network but a yardstick for them: nothing that has seen only these patterns
    can do better from a cue with random flips. With ``order=k`` it is an n-gram model that looks at
    the last k patterns. Between equally near patterns, and between several successors of one
    pattern (``on_conflict="learn"``), the most frequent transition wins, then the one that was seen
    first.

    Parameters
    ----------
    order, on_conflict
        As in `SequenceAttractor`.

    Attributes
    ----------
    patterns_, successors_ : ndarray of int8, shapes (P, order * N) and (P, N)
        Every transition that was seen, once.
    counts_ : ndarray of int, shape (P,)
        How often it was seen.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(500, 100, rng=0)
    >>> net = sa.zoo.LookupMemory().fit(X)
    >>> sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng=1), steps=1000), X)
    True
    """

    _: KW_ONLY
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"

    deterministic = True
    _arrays: ClassVar[dict[str, str]] = {
        "patterns_": "pattern T kN",
        "successors_": "pattern T N",
        "counts_": "count T",
    }
    _traits = Traits(
        weights=("patterns_", "successors_"),
        stores_patterns=True,
        online=True,
        local=False,
        note="no network: a table of all patterns, searched for the nearest",
    )

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the successor of the stored pattern nearest to each state: (B, order * N) -> (B,
        N).
        """
        # Overlaps are whole numbers, and exact; the frequency, below 1, decides between equals,
        # then the order of the table, since argmax takes the first.
        nearest, seen = (
            np.empty(len(states), dtype=np.int64),
            self.counts_ / (self.counts_.sum() + 1.0),
        )
        for rows in pieces(len(states), _OVERLAPS // len(self.patterns_) + 1):
            nearest[rows] = np.argmax(field(self.patterns_, states[rows]) + seen, axis=1)
        return np.asarray(self.successors_[nearest])

    def _init_learning(self, transitions: Transitions) -> None:
        self.patterns_, self.successors_ = transitions.inputs[:0], transitions.targets[:0]
        self.counts_ = np.zeros(0, dtype=np.int64)

    def _present(self, transitions: Transitions) -> None:
        """Store every different transition once, in the order in which they came, with its
        count.
        """
        inputs = np.concatenate([self.patterns_, transitions.inputs])
        targets = np.concatenate([self.successors_, transitions.targets])
        counts = np.concatenate([self.counts_, np.ones(len(transitions.inputs), dtype=np.int64)])
        rows: dict[bytes, int] = {}
        number = np.array(
            [
                rows.setdefault(x.tobytes() + y.tobytes(), len(rows))
                for x, y in zip(inputs, targets, strict=True)
            ]
        )
        first = np.unique(number, return_index=True)[1]
        self.patterns_, self.successors_ = inputs[first], targets[first]
        self.counts_ = np.bincount(number, weights=counts).astype(np.int64)
