"""A score for a memory: how often it comes back to its sequences from corrupted cues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import MOST, check_count, check_counts, check_kind
from seqattractor.analysis._robustness import basin_fraction
from seqattractor.networks.base import SequenceMemory
from seqattractor.sequences import Sequences

Rows = NDArray[np.int64]


class LearnAll:
    """A splitter for scikit-learn that learns everything and tests on the same: ``GridSearchCV(net,
    grid, cv=LearnAll(), ...)``.

    The usual splitters hold some rows out and test on these, but no network can recall transitions
    that it was not shown. A memory is scored by how well it recalls what it has learned, from cues
    that it has not seen (`recall_scorer`).

    Pass several sequences as a list (``X.split()`` of `Sequences`): a sample is then a sequence.
    (Not with ``lengths=``, which scikit-learn hands to ``fit`` and not to a scorer.) One sequence
    can also be an array, whose rows are the samples.

    Examples
    --------
    >>> import seqattractor as sa
    >>> from sklearn.model_selection import GridSearchCV
    >>> from seqattractor.model_selection import LearnAll, recall_scorer
    >>> X = sa.datasets.random_sequences(3, 8, 40, rng=0)
    >>> net, grid, scorer = sa.zoo.HebbianMemory(), {"order": [1, 2]}, recall_scorer(flips=4)
    >>> search = GridSearchCV(net, grid, cv=LearnAll(), scoring=scorer)
    >>> next(search.cv.split(X.split()))
    (array([0, 1, 2]), array([0, 1, 2]))
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows to learn and the rows to test on: all of them, both times.

        Parameters
        ----------
        X : list of arrays of shape (T_s, N), or array of shape (T, N)
        y, groups : ignored

        Yields
        ------
        train, test : ndarray of int, shape (n,)

        Examples
        --------
        >>> list(LearnAll().split([[1, -1], [-1, 1]]))
        [(array([0, 1]), array([0, 1]))]
        """
        if isinstance(X, Sequences) and len(X.lengths) > 1:
            raise ValueError(
                f"scikit-learn would take the rows of these {len(X.lengths)} sequences for one; "
                "give them as a list: X.split()."
            )
        rows = np.arange(len(X))
        yield rows, rows.copy()

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits: one.

        Parameters
        ----------
        X, y, groups : ignored

        Returns
        -------
        int

        Examples
        --------
        >>> LearnAll().get_n_splits()
        1
        """
        return 1

    def __repr__(self) -> str:
        return "LearnAll()"


@dataclass(frozen=True)
class RecallScorer:
    """Scores a network, or a pipeline that ends with one, on sequences that it has learned;
    `recall_scorer` makes one.
    """

    flips: tuple[int, ...]
    trials: int
    settle: int
    seed: int

    def __call__(self, estimator: Any, X: ArrayLike | Sequence[ArrayLike], y: Any = None) -> float:
        """Return the mean fraction of starts that come to their sequence, between 0 and 1."""
        steps = getattr(estimator, "steps", None)
        if steps is not None:  # a pipeline: encoders, and a network
            X, estimator = estimator[:-1].transform(X) if len(steps) > 1 else X, steps[-1][1]
        check_kind(
            estimator,
            SequenceMemory,
            "the estimator",
            "a network of seqattractor, or a pipeline that ends with one",
        )
        # The same seeds for every network: what differs between scores is then the networks, and
        # not the cues.
        seeds = np.random.SeedSequence(self.seed).generate_state(self.trials)
        scores = [
            basin_fraction(estimator, X, flips=k, settle=self.settle, rng=int(seed))
            for k in self.flips
            for seed in seeds
        ]
        return float(np.mean(scores))


def recall_scorer(
    flips: int | Sequence[int] = 10, *, trials: int = 1, settle: int = 25, rng: int = 0
) -> RecallScorer:
    """Make a scorer for scikit-learn: the fraction of corrupted cues that lead to the sequence
    (`sa.basin_fraction`).

    Every pattern of every sequence is a cue with `flips` of its units flipped, and the network must
    be exactly on the sequence and in phase `settle` steps later. Where networks score equally,
    ``GridSearchCV`` takes the first: list small ones first.

    Parameters
    ----------
    flips : int or list of int
        How many units of the cues are flipped; of several numbers the mean score counts.
    trials : int
        How often every pattern is a cue, with other flips each time.
    settle : int
        After how many steps the network must be on the sequence.
    rng : int
        A seed, so that every network gets the same cues.

    Returns
    -------
    callable
        ``scorer(net, X)``, as ``scoring=`` of ``GridSearchCV`` and ``cross_val_score`` takes it.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(30, 100, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=300, random_state=0).fit(X)
    >>> recall_scorer(flips=5)(net, X)
    1.0
    """
    counts = check_counts(flips, "flips", 0, MOST)
    return RecallScorer(
        tuple(counts.tolist()),
        check_count(trials, "trials"),
        check_count(settle, "settle"),
        check_count(rng, "rng", 0),
    )
