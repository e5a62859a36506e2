"""What the hidden neurons do: how sparse and how selective their codes are, how much alike, and
whether they follow P.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes
from seqattractor.analysis._threshold_view import NotApplicable, threshold_view
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.variants import FixedHiddenNetwork
from seqattractor.sequences._patterns import as_items


@dataclass(frozen=True, repr=False, eq=False)
class HiddenActivity(Result):
    """The codes of stored patterns in the hidden neurons.

    Attributes
    ----------
    active : ndarray of bool, shape (n, M)
        Which hidden neurons are active (+1, or 1 in a sparse network) at each of the n transitions.
    follows_P : float or None
        The fraction of hidden states that equal their targets sign(P x(t+1)), where the network has
        learned such targets; here and below P is P + lambda Q if the targets themselves are
        learned.
    decoded_by_P : float or None
        The fraction of units of x(t+1) that sign(P^+ y(t)) gives back: the code holds the next
        pattern, whatever V (section 5.1).
    """

    _drawn_by = "code_overlap"
    active: NDArray[np.bool_]
    follows_P: float | None
    decoded_by_P: float | None

    @property
    def sparseness(self) -> NDArray[np.float64]:
        """The fraction of neurons that are active at each transition, shape (n,)."""
        return np.asarray(self.active.mean(axis=1))

    @property
    def rate(self) -> NDArray[np.float64]:
        """The fraction of transitions at which each neuron is active, shape (M,)."""
        return np.asarray(self.active.mean(axis=0))

    @property
    def idle(self) -> NDArray[np.int64]:
        """The neurons that are always silent or always active."""
        return np.flatnonzero((self.rate == 0) | (self.rate == 1))

    @property
    def selectivity(self) -> NDArray[np.float64]:
        """The information of each neuron about the pattern, in bits: the entropy of being active,
        shape (M,); at most 1.
        """
        p = self.rate
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
        return np.nan_to_num(bits)

    @property
    def overlap(self) -> NDArray[np.float64]:
        """The fraction of equal neurons less that of different ones, of every pair of codes, shape
        (n, n).
        """
        code = np.where(self.active, 1.0, -1.0)
        return np.asarray(code @ code.T / code.shape[1])

    @property
    def n_codes(self) -> int:
        """How many different codes there are."""
        return len(np.unique(as_items(self.active)))

    def rows(self) -> Iterable[dict[str, Any]]:
        """One row per hidden neuron: how often it is active, and its information in bits."""
        pairs = zip(self.rate.tolist(), self.selectivity.tolist(), strict=True)
        return (
            {"neuron": i, "rate": rate, "selectivity": bits} for i, (rate, bits) in enumerate(pairs)
        )

    def _named_axes(self) -> NamedAxes:
        """Transitions and hidden neurons."""
        return NamedAxes(
            {
                "active": (
                    ("transition", "neuron"),
                    self.active,
                    "whether a hidden neuron is active",
                ),
                "sparseness": ("transition", self.sparseness, "fraction of active neurons"),
                "rate": ("neuron", self.rate, "fraction of transitions at which it is active"),
                "selectivity": (
                    "neuron",
                    self.selectivity,
                    "information about the pattern, in bits",
                ),
            },
            attributes={"follows_P": self.follows_P, "decoded_by_P": self.decoded_by_P},
        )

    def describe(self) -> str:
        """Return a few sentences about the code."""
        n, M = self.active.shape
        away = self.overlap[~np.eye(n, dtype=bool)]
        text = f"{self.sparseness.mean():.1%} of {M} hidden neurons are active at a time; "
        text += f"{self.n_codes} different codes for {n} transitions"
        if away.size:
            text += f", overlap {away.mean():+.2f} on average and {away.max():+.2f} at most"
        text += f"; {self.idle.size} neurons never change."
        if self.follows_P is not None:
            text += f" {self.follows_P:.2%} of the hidden states equal their targets from P, "
            text += f"and P^+ reads {self.decoded_by_P:.2%} of the next pattern from them."
        return text


def hidden_activity(
    net: SequenceMemory, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None
) -> HiddenActivity:
    """Return the hidden states of stored patterns, and how sparse, selective and different they
    are.

    Parameters
    ----------
    net : SequenceAttractor, SparseSequenceAttractor or OneHotNetwork
        A network that has learned.
    X : array of +-1, shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
    lengths : array of shape (S,), optional

    Returns
    -------
    HiddenActivity

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> activity = sa.hidden_activity(sa.SequenceAttractor(n_hidden=120, random_state=0).fit(X), X)
    >>> activity.active.shape, activity.follows_P, activity.n_codes
    ((9, 120), 1.0, 9)
    """
    view = threshold_view(net)
    if view.hidden is None:
        raise NotApplicable(f"{type(net).__name__} has no hidden neurons.")
    inputs, targets, _ = net._shown(X, lengths)
    active = view.hidden.fields(inputs) >= 0
    follows, decoded = None, None
    if isinstance(net, SequenceAttractor) and not isinstance(
        net, FixedHiddenNetwork
    ):  # hidden neurons that have learned targets
        follows = float(np.mean(active == (net.hidden_targets(targets) > 0)))
        # P^+ y without the pseudo-inverse of a large matrix: the least-squares solution of P x = y.
        read = np.linalg.lstsq(net._projection(), np.where(active, 1.0, -1.0).T, rcond=None)[0].T
        decoded = float(np.mean((read >= 0) == (targets > 0)))
    return HiddenActivity(active, follows, decoded)
