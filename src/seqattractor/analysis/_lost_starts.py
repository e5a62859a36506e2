"""Where starts from corrupted patterns are lost: what hidden neurons do in the first step, and
where the network ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count
from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes
from seqattractor.analysis._robustness import Starts
from seqattractor.analysis._threshold_view import NotApplicable
from seqattractor.networks.base import SequenceMemory, check_learned
from seqattractor.networks.run import Run, led_memory
from seqattractor.noise import Seed, as_generator

FIRST_STEPS = ("right", "miss", "wrong answer", "both")
"""What hidden neurons do in the first step: as without flips; some miss; some answer that should
not; both.
"""

ENDS = ("in phase", "another phase", "silence", "elsewhere")
"""Where a start ends: where it should be; at another stored pattern; no hidden neuron is active;
none of these.
"""


@dataclass(frozen=True, repr=False, eq=False)
class LostStarts(Result):
    """What became of each corrupted start."""

    _drawn_by = "start_losses"
    flips: int
    missed: NDArray[np.int64]
    """How many hidden neurons that are active without flips are silent in the first step, shape
    (n,).
    """
    answered: NDArray[np.int64]
    """How many hidden neurons that are silent without flips are active in the first step, shape
    (n,).
    """
    first_right: NDArray[np.bool_]
    """Whether the first step gave the next pattern, shape (n,)."""
    end: NDArray[np.int64]
    """Where each start ended, as an index into `ENDS`, shape (n,)."""

    @property
    def first(self) -> NDArray[np.int64]:
        """What hidden neurons did in the first step of each start, as an index into `FIRST_STEPS`,
        shape (n,).
        """
        return np.asarray((self.missed > 0) + 2 * (self.answered > 0), dtype=np.int64)

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Which starts did not end in phase, shape (n,)."""
        return np.asarray(self.end != 0)

    @property
    def basin(self) -> float:
        """The fraction of starts that end in phase, as `seqattractor.basin` measures it."""
        return float(np.mean(~self.lost))

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many starts there are of each first step and end, shape (4, 4)."""
        table = np.zeros((len(FIRST_STEPS), len(ENDS)), dtype=np.int64)
        np.add.at(table, (self.first, self.end), 1)
        return table

    def rows(self) -> Iterable[dict[str, Any]]:
        """One row for each kind of first step: how many starts there are, and how many of them end
        where.
        """
        for name, counts in zip(FIRST_STEPS, self.counts.tolist(), strict=True):
            yield {
                "first step": name,
                "starts": sum(counts),
                **dict(zip(ENDS, counts, strict=True)),
            }

    def _named_axes(self) -> NamedAxes:
        """Counts by first step and end, and each start."""
        return NamedAxes(
            {
                "starts": (("first_step", "end"), self.counts, "number of starts"),
                "missed": ("start", self.missed, "hidden neurons that miss in the first step"),
                "answered": (
                    "start",
                    self.answered,
                    "hidden neurons that answer wrongly in the first step",
                ),
                "first_right": (
                    "start",
                    self.first_right,
                    "whether the first step gave the next pattern",
                ),
                "lost": ("start", self.lost, "whether it does not end in phase"),
            },
            {
                "first_step": ("first_step", list(FIRST_STEPS), "first step"),
                "end": ("end", list(ENDS), "end"),
            },
            {"flips": self.flips, "basin": self.basin},
        )

    def describe(self) -> str:
        """Return a sentence about how many starts are lost, by what, and where they end."""
        n, table = len(self.end), self.counts
        lost = int(self.lost.sum())
        text = (
            f"{lost} of {n} starts with {self.flips} flip{'' if self.flips == 1 else 's'} are lost"
        )
        if not lost:
            return f"{text}."
        causes = (
            "with hidden neurons as without flips",
            "after a miss",
            "after a wrong answer",
            "after both",
        )
        by = [
            f"{k} {words}"
            for k, words in zip(table[:, 1:].sum(axis=1).tolist(), causes, strict=True)
            if k
        ]
        places = ("at another phase", "in silence", "elsewhere")
        ends = [
            f"{k} {words}"
            for k, words in zip(table[:, 1:].sum(axis=0).tolist(), places, strict=True)
            if k
        ]
        return f"{text}: in the first step {', '.join(by)}; they end {', '.join(ends)}."


def lost_starts(
    net: SequenceMemory,
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    *,
    flips: int = 10,
    settle: int = 25,
    rng: Seed = None,
) -> LostStarts:
    """Return where starts from corrupted patterns are lost.

    Starts and judgement are those of `seqattractor.basin`: every stored pattern with `flips`
    flipped units, and after `settle` steps the network must be exactly on the sequence and in
    phase. In the first step each hidden neuron is compared with what it does without flips: it may
    *miss* (be silent instead of active) or *answer wrongly* (be active instead of silent).

    Parameters
    ----------
    net : SequenceMemory
        A network with hidden neurons that has learned: one that has a method ``hidden``.
    X : array of +-1, shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
    lengths : array of shape (S,), optional
    flips : int
        How many units of a start are flipped, in each of its patterns.
    settle : int
        After how many steps a start is judged.
    rng : int, Generator or None
        Where the flips come from; the same as for `basin` gives the same starts.

    Returns
    -------
    LostStarts

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(40, 40, rng=0)
    >>> net = sa.SparseSequenceAttractor(n_hidden=60, random_state=0).fit(X)
    >>> starts = sa.lost_starts(net, X, flips=6, rng=1)
    >>> starts.counts.shape, int(starts.counts.sum())
    ((4, 4), 39)
    >>> starts.basin == sa.basin_fraction(net, X, flips=6, rng=1)
    True
    """
    check_learned(net)
    if not hasattr(net, "_hidden_states"):
        raise NotApplicable(f"{type(net).__name__} has no hidden neurons.")
    flips, settle = check_count(flips, "flips", 0), check_count(settle, "settle")
    starts = Starts.of(net, X, lengths, settle)
    cues = starts.corrupted(net, flips, as_generator(rng, "basin"))  # the very starts of `basin`
    inputs, targets, _ = starts.shown
    clean, noisy = net._hidden_states(inputs) > 0, net._hidden_states(cues) > 0
    run = Run(net, cues, led_memory(net, starts.shown))
    arrived, silent = np.zeros_like(starts.wanted), np.zeros(len(cues), dtype=np.bool_)
    first_right = silent.copy()
    for k in range(1, int(starts.due.max()) + 1):
        due, quiet = starts.due == k, ~np.any(net._hidden_states(run.states) > 0, axis=1)
        following = run.step()
        arrived[due], silent[due] = following[due], quiet[due]
        if k == 1:
            first_right = np.all(following == targets, axis=1)
    N = net.n_features_in_
    stored = {x.tobytes() for x in (*inputs[:, -N:], *targets)}
    on_sequence = np.array([state.tobytes() in stored for state in arrived], dtype=np.bool_)
    in_phase = np.all(arrived == starts.wanted, axis=1)
    return LostStarts(
        flips=flips,
        missed=np.sum(clean & ~noisy, axis=1),
        answered=np.sum(~clean & noisy, axis=1),
        first_right=first_right,
        end=np.select([in_phase, on_sequence, silent], [0, 1, 2], 3),
    )
