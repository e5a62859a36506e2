"""What is left after neurons or synapses are removed: measured for random lesions, proven for any.

A removed neuron sends nothing: 0, neither +1 nor -1. A removed synapse is 0. Removing one input of
a neuron takes c = sign(h) w x from its margin |h|, half of what a flip takes, so that the bounds of
`_certificate_bound` hold with the margin in place of half of it:

- hidden neurons: a visible neuron withstands r if its r largest supports are less than its margin.
  This is exact, since any r may be the ones.
- visible neurons: a hidden neuron may change if its r largest supports reach its margin; a visible
  neuron is safe if it can lose all of those that may change, each on its own.
- synapses: to remove the synapse V_ji costs one and takes its support from neuron j; to change
  hidden neuron i costs as many synapses of U as it takes, and gives that support to the other side.
  The best use of r synapses is a knapsack; its linear relaxation bounds the loss from above.

Random lesions do far less harm than the worst ones. Where what is removed acts on the visible
neurons directly, what a neuron loses is the sum of r of its supports, drawn without replacement,
which Bennett's inequality bounds with their mean, variance and range (it holds without replacement,
too: Hoeffding, J. Amer. Statist. Assoc. 58, 13-30, 1963, theorem 4); so it does for the supports
that are left. The sum over neurons and transitions bounds the probability that any goes wrong.

Learning does not continue after a lesion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_choice, check_count, check_counts, check_finite
from seqattractor._faces import Result, plural
from seqattractor._named_axes import NamedAxes
from seqattractor.analysis._certificate_bound import Transition, flip_radius
from seqattractor.analysis._retrieval import SuccessRate, retrieved
from seqattractor.analysis._threshold_view import ThresholdView, threshold_view
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.given import ThresholdNetwork, from_arrays
from seqattractor.noise import Seed, as_generator, flip
from seqattractor.sequences import Patterns, check_sequences, split

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Part = Literal["hidden", "visible", "synapses"]
_PARTS: dict[str, tuple[str, str]] = {
    "hidden": ("hidden neuron", "hidden neurons"),
    "visible": ("visible neuron", "visible neurons"),
    "synapses": ("synapse", "synapses"),
}
_SURE = 0.95
_PERIODS = 4  # times its length that recall may take until a sequence is seen, as in studies


@dataclass(frozen=True, repr=False, eq=False)
class LesionCurve(Result):
    """What a network still does after random lesions of growing size, and what is sure.

    Attributes
    ----------
    part : str
        What was removed: "hidden" or "visible" neurons, or "synapses".
    size : int
        How many there are.
    removed : ndarray of int, shape (K,)
        How many were removed.
    right : ndarray of float, shape (K, D)
        The fraction of stored transitions that are right, for each of D draws; of removed visible
        neurons nothing is asked.
    recalled : ndarray of bool, shape (K, D)
        Whether every sequence was recalled from its cue.
    flips : int
        Flipped units in each pattern of the cues.
    proven : ndarray of int, shape (n,)
        For each stored transition a number that may be removed, whichever they are, without making
        it wrong; -1 where it is wrong without a lesion, or right only by an accident of rounding.
    sure : ndarray of float, shape (K,)
        A proven lower bound of the probability that every transition is right after a random
        lesion. Where neurons or synapses are removed that act on visible neurons through others,
        this is only whether any lesion of that size is harmless.
    """

    _drawn_by = "lesion_recall"
    part: str
    size: int
    removed: Counts
    right: Floats
    recalled: NDArray[np.bool_]
    flips: int
    proven: Counts
    sure: Floats

    @property
    def fraction(self) -> Floats:
        """The fraction removed, shape (K,)."""
        return self.removed / self.size

    @property
    def certain(self) -> Floats:
        """The fraction of transitions that are proven to be right whatever is removed, shape
        (K,).
        """
        return np.asarray((self.proven >= self.removed[:, None]).mean(axis=1))

    def at(self, k: int) -> SuccessRate:
        """Give the draws of entry k in which every sequence was recalled, with their interval."""
        recalled = self.recalled[check_count(k, "k", 0, len(self.removed) - 1)]
        return SuccessRate(int(recalled.sum()), recalled.size)

    def describe(self) -> str:
        """Return a few sentences about what is sure and what was measured."""
        noun = _PARTS[self.part]
        draws = self.recalled.shape[1]
        cue = f"from cues with {plural(self.flips, 'flip')}" if self.flips else "from clean cues"
        always = np.flatnonzero(np.cumprod(self.recalled.all(axis=1)))
        if not always.size:
            least = f"{plural(int(self.removed[0]), noun[0])} removed"
            found = f"Not every sequence is recalled {cue} in every draw even with {least}"
        else:
            most = int(self.removed[always[-1]])
            lesion = f"with up to {most} of {self.size} {noun[1]} removed ({most / self.size:.1%})"
            found = (
                f"Every sequence is recalled {cue} in all {draws} draws "
                f"{lesion if most else 'only without a lesion'}"
            )
            few = np.flatnonzero(self.recalled.mean(axis=1) <= 0.5)
            if few.size:
                found += f", and in at most half of them with {self.removed[few[0]]}"
        return f"{found}. {self._about_proof()}"

    def _about_proof(self) -> str:
        """What is sure."""
        least, noun = int(self.proven.min()), _PARTS[self.part]
        if least < 0:
            return "Not every transition is right without a lesion, so nothing is proven for all."
        if not least:
            return f"Not even one {noun[0]} is proven to be dispensable at every transition."
        which = f"whichever {'one' if least == 1 else least} of the {noun[1]}"
        likely = int(self.removed[self.sure >= _SURE].max(initial=0))
        random = f", and with {_SURE:.0%} probability if {likely} random ones are"
        return (
            f"Every transition is proven to be right {which} {'is' if least == 1 else 'are'} "
            f"removed{random if likely > least else ''}."
        )

    def rows(self) -> Iterable[dict[str, Any]]:
        """One row per size of lesion: fractions of transitions, and draws with recall."""
        for k, removed in enumerate(self.removed.tolist()):
            recall = self.at(k)
            low, high = recall.interval
            yield {
                "part": self.part,
                "removed": removed,
                "fraction": removed / self.size,
                "right": float(self.right[k].mean()),
                "right_low": float(self.right[k].min()),
                "right_high": float(self.right[k].max()),
                "sure": float(self.sure[k]),
                "certain": float(self.certain[k]),
                "draws": recall.trials,
                "recalled": recall.successes,
                "recalled_low": low,
                "recalled_high": high,
            }

    def _named_axes(self) -> NamedAxes:
        """Along the sizes of lesions, the draws and the transitions."""
        return NamedAxes(
            {
                "right": (("removed", "draw"), self.right, "fraction of transitions right"),
                "recalled": (("removed", "draw"), self.recalled, "every sequence recalled"),
                "sure": ("removed", self.sure, "proven probability that every one is right"),
                "certain": ("removed", self.certain, "fraction proven to be right"),
                "proven": ("transition", self.proven, "removals proven to be harmless"),
            },
            {"removed": ("removed", self.removed, f"removed {_PARTS[self.part][1]}")},
            {"part": self.part, "size": self.size, "flips": self.flips},
        )


def lesion_curve(
    net: SequenceMemory,
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    *,
    remove: Part = "hidden",
    fractions: ArrayLike | None = None,
    draws: int = 20,
    flips: int = 0,
    rng: Seed = None,
) -> LesionCurve:
    """Measure recall against the fraction of removed neurons or synapses, with what is proven for
    any lesion of that size.

    In each draw more and more are removed, in a random order of its own.

    Parameters
    ----------
    net : SequenceMemory
        A network of threshold neurons that has learned; see `supports_certificate`.
    X : array of +-1, shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
        The stored sequences.
    lengths : array of shape (S,), optional
    remove : {"hidden", "visible", "synapses"}
        Neurons, which then send nothing; or synapses of all layers that are not 0. Biases stay.
    fractions : array of shape (K,), optional
        From 0 to 1, in order; by default from 0 to 0.8, closer at the start.
    draws : int
        At each fraction.
    flips : int
        Flipped units in each pattern of the cue from which a sequence is to be recalled, within
        four times its length.
    rng : int, Generator or None
        Where the lesions and the flips come from.

    Returns
    -------
    LesionCurve

    See Also
    --------
    certify : how many flips are proven to be harmless.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=120, random_state=0).fit(X)
    >>> curve = sa.lesion_curve(net, X, fractions=[0, 0.1, 0.9], rng=0)
    >>> curve.removed, curve.right.mean(axis=1).round(2), int(curve.proven.min())
    (array([  0,  12, 108]), array([1.  , 1.  , 0.08]), 16)
    """
    check_choice(remove, "remove", tuple(_PARTS))
    draws, view = check_count(draws, "draws"), threshold_view(net)
    flips = check_count(flips, "flips", 0, net.n_features_in_)
    size = _size(view, net.order_, remove)
    shares = _SHARES if fractions is None else check_finite(fractions, "fractions", "lesions")
    if not len(shares) or shares.min() < 0 or shares.max() > 1 or np.any(np.diff(shares) < 0):
        raise ValueError("fractions must lie between 0 and 1, in order.")
    counts = np.unique(np.round(shares * size).astype(np.int64))
    inputs, targets, _ = net._shown(X, lengths)
    sequences = list(split(*check_sequences(X, lengths)))
    generator = as_generator(rng, "lesions")
    right = np.zeros((len(counts), draws))
    recalled = np.zeros(right.shape, dtype=bool)
    for d in range(draws):
        order = generator.permutation(size)
        cues = [flip(x[: net.order_], flips, generator) for x in sequences]
        for k, count in enumerate(counts):
            left = _without(view, net.order_, remove, order[:count])
            alive = np.ones(net.n_features_in_, dtype=bool)
            if remove == "visible":
                alive[order[:count]] = False
            same = (left.next_patterns(inputs) == targets)[:, alive].all(axis=1) & alive.any()
            right[k, d] = same.mean()
            # From a clean cue this is the whole answer: after a wrong step no pattern is due.
            recalled[k, d] = same.all() and (
                not flips or _all_recalled(left, cues, sequences, alive)
            )
    proven = _proven(net, view, remove, inputs, targets)
    sure = (proven.min() >= counts).astype(np.float64)
    if proven.min() >= 0 and (remove == "hidden" or view.hidden is None):
        sure = np.maximum(sure, 1 - _random_failure(view, net.order_, remove, inputs, counts, size))
    return LesionCurve(
        part=remove,
        size=size,
        removed=counts,
        right=right,
        recalled=recalled,
        flips=flips,
        proven=proven,
        sure=sure,
    )


_SHARES = np.array(
    [0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
)


def lesioned(net: SequenceMemory, remove: Part, which: ArrayLike) -> ThresholdNetwork:
    """Return what is left of a network without some of its neurons or synapses.

    Parameters
    ----------
    net : SequenceMemory
        A network of threshold neurons that has learned; see `supports_certificate`.
    remove : {"hidden", "visible", "synapses"}
        As in `lesion_curve`.
    which : array of int, shape (R,)
        The neurons; or the synapses, counted over the weights that are not 0, row by row, those of
        the hidden neurons first.

    Returns
    -------
    ThresholdNetwork
        Of the same shape. Removed neurons still have a state, which nothing else sees.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=120, random_state=0).fit(X)
    >>> half = sa.analysis.lesioned(net, "hidden", range(60))
    >>> int((half.V_ != 0).any(axis=0).sum())
    60
    """
    check_choice(remove, "remove", tuple(_PARTS))
    view = threshold_view(net)
    most = _size(view, net.order_, remove) - 1
    chosen = check_counts(which, "which", 0, most) if np.size(which) else np.zeros(0, np.int64)
    return _without(view, net.order_, remove, chosen)


def _without(view: ThresholdView, order: int, remove: str, chosen: Counts) -> ThresholdNetwork:
    """Return a network of the weights that are left."""
    first, last = view.first.weights.copy(), view.visible.weights.copy()
    if view.hidden is None:
        first = last
    if remove == "hidden":
        last[:, chosen] = 0
    elif remove == "visible":
        first.reshape(len(first), order, -1)[:, :, chosen] = 0
    else:
        number = 0
        for weights in _layers(first, last):
            there = np.flatnonzero(weights)
            here = (number <= chosen) & (chosen < number + len(there))
            weights.ravel()[there[chosen[here] - number]] = 0
            number += len(there)
    if view.hidden is None:
        return from_arrays(last, visible_bias=view.visible.offset, order=order)
    silent: Literal[-1, 0] = -1 if view.hidden.low == -1 else 0
    return from_arrays(
        first,
        last,
        hidden_bias=view.hidden.offset,
        visible_bias=view.visible.offset,
        silent=silent,
        order=order,
    )


def _layers(first: Floats, last: Floats) -> list[Floats]:
    """The weights of all layers, once each."""
    return [first] if first is last else [first, last]


def _size(view: ThresholdView, order: int, remove: str) -> int:
    """How many there are of what is removed."""
    if remove == "visible":
        return view.n_inputs // order
    if remove == "synapses":
        layers = _layers(view.first.weights, view.visible.weights)
        return sum(int(np.count_nonzero(w)) for w in layers)
    if view.hidden is None:
        raise ValueError(
            "this network has no hidden neurons to remove; remove 'visible' neurons or 'synapses'."
        )
    return len(view.hidden.weights)


def _all_recalled(
    net: ThresholdNetwork, cues: list[Patterns], sequences: list[Patterns], alive: NDArray[np.bool_]
) -> bool:
    """Whether every sequence is recalled from its cue, of the neurons that are left."""
    return all(
        retrieved(net.recall(cue, steps=_PERIODS * len(x))[:, alive], x[:, alive])
        for cue, x in zip(cues, sequences, strict=True)
    )


def _proven(
    net: SequenceMemory, view: ThresholdView, remove: str, inputs: Patterns, targets: Patterns
) -> Counts:
    """How many may be removed, whichever they are, for each transition: (n, order * N) -> (n,)."""
    made = np.all((net.next_patterns(inputs) == targets) & (view.next(inputs) == targets), axis=1)
    proven = np.full(len(inputs), -1)
    patterns = net.order_ if remove == "visible" else 1
    fields = view.first.fields(inputs)
    of_first = flip_radius(view.first, inputs, fields, patterns, change=1)
    for t in np.flatnonzero(made):
        if view.hidden is None:
            proven[t] = of_first[t].min()
        elif remove == "visible":
            case = Transition(view, patterns, inputs[t], targets[t], of_first[t])
            proven[t] = case.counted_radius()
        elif (of_first[t] >= 0).all():  # else even the hidden states depend on rounding
            states = view.hidden.states(fields[t : t + 1])
            if remove == "hidden":
                of_last = flip_radius(view.visible, states, view.visible.fields(states), change=1)
                proven[t] = of_last.min()
            else:
                case = Transition(view, 1, inputs[t], targets[t], of_first[t])
                proven[t] = _synapses(case, states[0], of_first[t])
    return proven


def _synapses(case: Transition, states: Patterns, of_hidden: Counts) -> int:
    """How many synapses of U and V one transition can lose, by the linear relaxation of the best
    use of r of them.

    To remove V_ji is a piece of cost 1; to change hidden neuron i instead adds a piece of cost
    s_i, where s_i synapses of U cannot change it and s_i + 1 may. Taken by gain for cost, pieces
    give at least what any r synapses do.
    """
    sign = np.where(case.active, 1.0, -1.0)[:, None]
    removed = (sign * case.visible.weights * states).clip(0)
    changed = case.losses().clip(0)
    cost = of_hidden + 1.0
    # Where removing is the better use of a synapse, changing comes on top of it; else alone.
    both = removed * cost >= changed
    gains = np.hstack([np.where(both, removed, 0), (changed - np.where(both, removed, 0)).clip(0)])
    ones = np.ones_like(removed)
    costs = np.hstack([ones, np.where(both, np.maximum(cost - 1, 1e-9), cost)])
    order = np.argsort(-gains / costs, axis=1, kind="stable")
    gained = np.cumsum(np.take_along_axis(gains, order, axis=1), axis=1)
    spent = np.cumsum(np.take_along_axis(costs, order, axis=1), axis=1)
    limit = case.limit * (1 - 1e-12)  # so that no rounding below counts for the network
    if np.any(np.where(case.active, limit < 0, limit <= 0)):
        return -1
    most = case.hidden.weights.size + case.visible.weights.size
    least = np.inf
    for j, active in enumerate(case.active):
        over = gained[j] > limit[j] if active else gained[j] >= limit[j]
        if over.any():
            k = int(over.argmax())
            before, at = (gained[j, k - 1], spent[j, k - 1]) if k else (0.0, 0.0)
            share = (limit[j] - before) / (gained[j, k] - before)
            least = min(least, at + share * (spent[j, k] - at))
    # With a budget of `least` the bound just reaches the limit; whole numbers below it are safe.
    return most if least == np.inf else max(int(np.ceil(least * (1 - 1e-12) - 1e-9)) - 1, 0)


def _random_failure(
    view: ThresholdView, order: int, remove: str, inputs: Patterns, removed: Counts, size: int
) -> Floats:
    """Bound the probability that any transition goes wrong when some of `size` supports of visible
    neurons are removed at random, by Bennett's inequality: shape (K,), at most 1.
    """
    layer, total = view.visible, np.zeros(len(removed))
    r = removed[:, None].astype(np.float64)
    for x in inputs:
        states = x if view.hidden is None else view.hidden.states(view.hidden.fields(x[None]))[0]
        fields = layer.fields(states[None])[0]
        support = np.where(fields >= 0, 1.0, -1.0)[:, None] * layer.weights * states
        if remove == "visible":
            support = support.reshape(len(support), order, size).sum(axis=1)
        # Of the synapses of one neuron, all the others are zero to it.
        mean = support.sum(axis=1) / size
        square = (support**2).sum(axis=1) / size
        variance = np.maximum(square - mean**2, 1e-12 * square)
        most, least = support.max(axis=1).clip(0), support.min(axis=1).clip(None, 0)
        excess = (np.abs(fields) - layer.slack) * (1 - 1e-9) - r * mean
        lost = _log_bennett(excess, r, variance, most - mean)
        left = _log_bennett(excess, size - r, variance, mean - least)
        total += np.exp(np.minimum(np.minimum(lost, left), 0)).sum(axis=1)
    return np.minimum(total, 1)


def _log_bennett(excess: Floats, n: Floats, variance: Floats, reach: Floats) -> Floats:
    """Log of Bennett's bound of the probability that a sum of n terms exceeds its mean by `excess`,
    where none exceeds the mean of all by more than `reach`.
    """
    spread, reach = n * variance, np.maximum(reach, np.sqrt(variance))
    with np.errstate(divide="ignore", invalid="ignore"):  # where there is nothing left to vary
        u = excess.clip(0) * reach / spread
        bound = -spread / reach**2 * ((1 + u) * np.log1p(u) - u)
    return np.asarray(np.where(excess > 0, np.where(spread > 0, bound, -np.inf), 0.0))
