"""SequenceMemory: what every network can do. A network says how it learns and what comes next; the rest stands once.

`_hooks.py` has what a network says; what it can do then is in `_fitting.py`, `_recalling.py`, `_saving.py`, `_showing.py` and
`_exporting.py`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from seqattractor._checks import check_kind
from seqattractor.networks.exporting import Exporting
from seqattractor.networks.fitting import Fitting
from seqattractor.networks.showing import Showing


class SequenceMemory(Fitting, Showing, Exporting):
    """A network that stores sequences of +-1 patterns and recalls them from a cue.

    A network of your own derives from this class and says two things: how it learns (`fit_transitions`), and what comes next
    (`next_patterns`). It then has `fit`, `step`, `recall`, `score` and `save`, loads with `sa.load`, and can be analysed and
    compared like those of this package. Further methods can be written where they apply: `start` for slow or latent variables,
    `layers` for certificates, `traits` for what is fair to know. Parameters are assigned in ``__init__`` and checked in
    `check_parameters`; what is learned goes into attributes that end in ``_`` (arrays and plain values are saved with the model).

    Attributes
    ----------
    n_features_in_ : int
        N, the number of visible neurons.
    feature_names_in_ : ndarray of str, shape (N,)
        The names of the columns, if the network learned from a frame whose columns have names.
    order_ : int
        How many past patterns the network looks at.
    metadata_ : dict
        Anything that should travel with the model file, such as the shape of a frame; plain JSON values.

    Examples
    --------
    A memory that answers with the successor of the stored pattern nearest to the state:

    >>> import numpy as np, seqattractor as sa
    >>> class Nearest(sa.SequenceMemory):
    ...     def fit_transitions(self, transitions, callback=None):
    ...         self.inputs_, self.targets_ = transitions.inputs, transitions.targets
    ...     def next_patterns(self, states, memory=None):
    ...         return self.targets_[np.argmax(states.astype(int) @ self.inputs_.T, axis=1)]
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> sa.retrieved(Nearest().fit(X).recall(sa.noise.flip(X[0], 5, rng=1), steps=40), X)
    True
    """

    _of_users: ClassVar[dict[str, type[SequenceMemory]]] = {}
    """Classes from outside this package, which `sa.load` must know by name."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__module__.startswith("seqattractor."):
            SequenceMemory._of_users[cls.__name__] = cls


def check_learned(net: Any) -> None:
    """Refuse what is not a network, or has not learned anything.

    Examples
    --------
    >>> check_learned("x")
    Traceback (most recent call last):
    TypeError: net must be a network that has learned, such as SequenceAttractor().fit(X), but it is 'x'.
    """
    check_kind(net, SequenceMemory, "net", "a network that has learned, such as SequenceAttractor().fit(X)")
    check_is_fitted(net, "n_features_in_")
