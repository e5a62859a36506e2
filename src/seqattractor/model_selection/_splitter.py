"""How a memory is to be tested: on what it has learned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.sequences import Sequences

Rows = NDArray[np.int64]


class LearnAll:
    """A splitter for scikit-learn that learns everything and tests on the same: ``GridSearchCV(net, grid, cv=LearnAll(), ...)``.

    The usual splitters keep some rows back and test on these. For a sequence memory the score is then next to nothing
    whatever its parameters: no network can know transitions that it was not shown, and rows left out in the middle leave a
    transition behind that is in no sequence. What can be asked of a memory is how well it recalls what it has learned, from
    cues that it has not seen (`recall_scorer`).

    Give several sequences as a list (``X.split()`` of `Sequences`): a sample is then a sequence. (Not with ``lengths=``, which
    scikit-learn hands to ``fit`` and not to a scorer.) One sequence can also be an array, whose rows are the samples.

    Examples
    --------
    >>> import seqattractor as sa
    >>> from sklearn.model_selection import GridSearchCV
    >>> from seqattractor.model_selection import LearnAll, recall_scorer
    >>> X = sa.datasets.random_sequences(3, 8, 40, rng=0)
    >>> search = GridSearchCV(sa.zoo.HebbianMemory(), {"order": [1, 2]}, cv=LearnAll(), scoring=recall_scorer(flips=4))
    >>> next(LearnAll().split(X.split()))
    (array([0, 1, 2]), array([0, 1, 2]))
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Give the rows to learn and the rows to test on: all of them, both times.

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
                f"scikit-learn would take the rows of these {len(X.lengths)} sequences for one; give them as a list: X.split()."
            )
        rows = np.arange(len(X))
        yield rows, rows.copy()

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Give the number of splits: one.

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
