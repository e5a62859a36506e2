"""What a trained memory guarantees: how many flips each stored transition withstands, whichever
units are flipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from seqattractor._checks import check_choice, check_count, check_flag, check_positive
from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes
from seqattractor.analysis._breaking_sets import (
    NODES,
    breaking_set,
    smallest_breaking_set,
    weakest_neuron,
)
from seqattractor.analysis._certificate_bound import Transition, flip_radius, theorem_4
from seqattractor.analysis._threshold_view import ThresholdView, threshold_view
from seqattractor.analysis._work import Callback, Work
from seqattractor.networks.base import SequenceMemory
from seqattractor.sequences import Patterns

Counts = NDArray[np.int64]
# Beyond this many weights times transitions, "auto" leaves the joint bound out, and noise at every
# step is not bounded by itself.
_QUICK = 100_000_000


@dataclass(frozen=True, repr=False, eq=False)
class Certificate(Result):
    """How many flips each stored transition withstands; all arrays have one entry per transition,
    shape (n,).

    Attributes
    ----------
    radius : ndarray of int
        In one step: with up to this many units of the input flipped, whichever they are, the next
        pattern is proven to be exactly right. -1 where even the transition itself goes wrong, or is
        right only by an accident of rounding. The input of a network of order k is a window of k
        patterns, and the flips are counted in all of it.
    noise_radius : ndarray of int
        At every step: with up to this many flips in *each* of the patterns of the window the next
        one is proven to be right, so that as much noise before every step does no harm. At least
        `radius` // k; equal to `radius` for k = 1.
    breaking : ndarray of int
        The fewest flips that are known to make it wrong, found by an attack; 0 where it is wrong
        already, and one more than the number of units where nothing was found. The truth lies
        between `radius` and `breaking` - 1.
    theorem_4 : ndarray of int
        What Theorem 4 of the paper promises on its own, from kappa and the largest weight alone.
        Never more than `radius`.
    margin : ndarray of float
        The smallest margin of a visible neuron as a fraction of the sum of its weights' sizes; at
        most 0 where it is wrong.
    breaking_sets : list of ndarray of int
        The units of each attack, empty where none was found. Of a network of order k > 1, unit u is
        u % N of the pattern k - 1 - u // N steps back.
    sequence, time : ndarray of int
        The sequence and the pattern in it from which each transition starts.
    n_inputs : int
        How many units can be flipped.
    order : int
        k, the number of patterns in the window.
    attacked : bool
        Whether an attack was made; if not, `breaking` has no meaning.
    """

    _drawn_by = "certificate_profile"
    radius: Counts
    noise_radius: Counts
    breaking: Counts
    theorem_4: Counts
    margin: NDArray[np.float64]
    sequence: Counts
    time: Counts
    n_inputs: int
    order: int
    attacked: bool
    breaking_sets: list[Counts]

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Where the bound is tight: one flip more, at the right places, breaks the transition."""
        return np.asarray(self.radius + 1 == self.breaking)

    @property
    def sequence_radius(self) -> Counts:
        """The smallest `noise_radius` in each sequence, shape (S,): what recall withstands at every
        step, from any of its places.

        With up to this many flips of the newest pattern before every step, ``recall(...,
        noise=r)``, no pattern up to the end of the sequence is wrong; in a loop that `close_loops`
        has closed for the order of the network, never any.
        """
        return np.array(
            [self.noise_radius[self.sequence == s].min() for s in np.unique(self.sequence)]
        )

    def describe(self) -> str:
        """Return a few sentences about what is guaranteed."""
        wrong = np.flatnonzero(self.radius < 0)
        n = len(self.radius)
        if wrong.size:
            first = f"pattern {self.time[wrong[0]]} of sequence {self.sequence[wrong[0]]}"
            return (
                f"{wrong.size} of {n} transitions are wrong even without flips, the first from "
                f"{first}. Nothing is guaranteed for a sequence that holds a wrong one."
            )
        low, high = int(self.radius.min()), int(self.radius.max())
        spread = (
            f"radius {low}"
            if low == high
            else f"radius {low} to {high}, median {np.median(self.radius):g}"
        )
        window = f" in a window of {self.order} patterns" if self.order > 1 else ""
        if low:
            units = "one wrong unit is" if low == 1 else f"{low} wrong units are"
            answer = (
                f"Any {units} corrected in one step, at each of {n} stored transitions ({spread}; "
                f"{self.n_inputs} units{window})"
            )
        else:
            answer = (
                f"At some of {n} stored transitions not even one wrong unit is sure to be "
                f"corrected ({spread})"
            )
        tight = (
            f" The bound is tight for {int(self.exact.sum())} of them." if self.exact.any() else ""
        )
        broken = int(self.breaking.min())
        if broken <= self.n_inputs:
            attack = (
                f" An attack breaks the weakest one with {broken} flip{'s' if broken > 1 else ''}."
            )
        else:
            attack = " An attack found no flips that break any of them." if self.attacked else ""
        return (
            f"{answer}.{tight}{attack} Theorem 4 alone promises {int(self.theorem_4.min())}. "
            f"{self._about_noise()}"
        )

    def _about_noise(self) -> str:
        """What flips before every step may do."""
        most = int(self.noise_radius.min())
        stay = (
            f", which stay{'s' if most < 2 else ''} in the window for {self.order} steps,"
            if self.order > 1
            else ""
        )
        flips = ("not even one flip", "up to one flip")[most] if most < 2 else f"up to {most} flips"
        harmless = (
            "can do no harm at any of them" if most else "is sure to be harmless at all of them"
        )
        return f"Noise at every step: {flips} before each step{stay} {harmless}."

    def rows(self) -> Iterable[dict[str, Any]]:
        """One row per transition; ``breaking`` is None where no attack is known."""
        names = (
            "sequence",
            "time",
            "radius",
            "noise_radius",
            "breaking",
            "theorem_4",
            "margin",
            "exact",
        )
        for values in zip(*(getattr(self, name).tolist() for name in names), strict=True):
            row = dict(zip(names, values, strict=True))
            yield row if row["breaking"] <= self.n_inputs else row | {"breaking": None}

    def _named_axes(self) -> NamedAxes:
        """Along the transitions; the units of the attacks as a table of all units."""
        attacked = np.zeros((len(self.radius), self.n_inputs), dtype=bool)
        for row, units in zip(attacked, self.breaking_sets, strict=True):
            row[units] = True
        words = {
            "radius": "flips of one step that are proven to be harmless; "
            "-1 where the transition is wrong",
            "noise_radius": "flips before every step that are proven to be harmless",
            "theorem_4": "flips that Theorem 4 alone promises to be harmless",
            "margin": "smallest margin of a visible neuron, of the sum of its weights' sizes",
            "exact": "whether one flip more, at the right places, breaks it",
        }
        found = np.where(self.breaking > self.n_inputs, np.nan, self.breaking)
        return NamedAxes(
            {name: ("transition", getattr(self, name), text) for name, text in words.items()}
            | {
                "breaking": ("transition", found, "fewest flips known to break it"),
                "breaking_set": (("transition", "input"), attacked, "units whose flips break it"),
            },
            {
                name: ("transition", getattr(self, name), f"{name} from which it starts")
                for name in ("sequence", "time")
            },
            {"n_inputs": self.n_inputs, "order": self.order, "attacked": self.attacked},
        )


def certify(
    net: SequenceMemory,
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    *,
    method: Literal["auto", "count", "tight", "exact"] = "auto",
    attack: bool = True,
    node_limit: int = NODES,
    work_limit: float | None = None,
    callback: Callback | None = None,
) -> Certificate:
    """Prove how many flips each stored transition withstands, whichever units are flipped.

    A hidden neuron can change under r flips only if its margin is at most twice the sum of its r
    largest supporting contributions U_ik x_k; a visible neuron is safe if its margin exceeds what
    all the hidden neurons that can change support it with. This takes Theorem 4 of the paper
    through both layers, with the network's own margins and weights. Rounding counts against the
    network, so that the promise holds for what it computes in floating point.

    Parameters
    ----------
    net : SequenceMemory
        A network of threshold neurons that has learned; see `supports_certificate`.
    X : array of +-1, shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
        The stored sequences.
    lengths : array of shape (S,), optional
    method : {"auto", "count", "tight", "exact"}
        "count" takes together all hidden neurons that could change, each on its own. "tight" also
        bounds what the *same* flips can do to them, and tries sets of flips one by one where these
        are few. "exact" then solves a mixed-integer program for each transition where proof and
        attack still differ (small networks: a few dozen neurons). "auto" is "tight", or "count" for
        large networks.
    attack : bool
        Also search for the fewest flips that break each transition.
    node_limit : int
        How many nodes of their search trees the mixed-integer programs of a transition may visit
        ("exact"); what is proven by then is returned. Counted, not timed, so that every machine
        proves the same.
    work_limit : float, optional
        How many multiplications (a core does some 4e9 in a second) the attacks, and proofs beyond
        those of "count", may take for all transitions together; what is known by then is returned.
    callback : callable, optional
        Called as ``callback(done, total)`` after each transition of a network with hidden neurons.

    Returns
    -------
    Certificate

    See Also
    --------
    basin : measured over several steps, with random flips.
    robustness_curve : measured for one step.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=120, random_state=0).fit(X)
    >>> certificate = sa.certify(net, X)
    >>> certificate.radius.min() > certificate.theorem_4.min()
    np.True_
    >>> worst = int(certificate.radius.argmin())
    >>> cue = sa.noise.flip(X[worst], int(certificate.radius[worst]), rng=1)
    >>> (net.step(cue) == X[worst + 1]).all()
    np.True_
    """
    check_choice(method, "method", ("auto", "count", "tight", "exact"))
    node_limit = check_count(node_limit, "node_limit", 0)
    check_flag(attack, "attack")
    work = Work() if work_limit is None else Work(check_positive(work_limit, "work_limit"))
    view = threshold_view(net)
    inputs, targets, counts = net._shown(X, lengths)
    made = np.flatnonzero(
        np.all((net.next_patterns(inputs) == targets) & (view.next(inputs) == targets), axis=1)
    )
    if method == "auto":
        method = "tight" if len(inputs) * view.first.weights.size <= _QUICK else "count"
    radius, sets = np.full(len(inputs), -1), [np.zeros(0, dtype=np.int64)] * len(inputs)
    # Thousands of small matrix products: threads would cost far more than they give.
    with threadpool_limits(1, user_api="blas"):
        bracket = _bracket(
            view, inputs[made], targets[made], method, attack, node_limit, work, callback
        )
        for t, proven, units in zip(made, *bracket, strict=True):
            radius[t], sets[t] = proven, units
        noise_radius = (
            radius // net.order_
        )  # so many flips in each pattern of the window are at most `radius` in all
        if net.order_ > 1 and made.size and len(inputs) * view.first.weights.size <= _QUICK:
            noise_radius[made] = _noise_radius(
                view, inputs[made], targets[made], net.order_, radius[made], work
            )
    breaking = np.array([len(units) or view.n_inputs + 1 for units in sets], dtype=np.int64)
    layer, fields = view.visible, view.visible_fields(inputs)
    size = np.maximum(
        np.abs(layer.weights).sum(axis=1) + np.abs(layer.offset), np.finfo(float).tiny
    )
    return Certificate(
        radius=radius,
        noise_radius=noise_radius,
        breaking=np.where(radius < 0, 0, breaking),
        theorem_4=np.where(radius >= 0, theorem_4(view, inputs), 0),
        margin=np.asarray((targets * fields / size).min(axis=1)),
        sequence=np.repeat(np.arange(len(counts)), counts),
        time=np.concatenate([net.order_ - 1 + np.arange(n) for n in counts]),
        n_inputs=view.n_inputs,
        order=net.order_,
        attacked=attack,
        breaking_sets=sets,
    )


def _bracket(
    view: ThresholdView,
    inputs: Patterns,
    targets: Patterns,
    method: str,
    attack: bool,
    node_limit: int,
    work: Work,
    callback: Callback | None,
) -> tuple[Counts, list[Counts]]:
    """For transitions that the network makes: proven numbers of flips, and sets that break them,
    empty where none is known.
    """
    none = np.zeros(0, dtype=np.int64)
    if view.hidden is None:  # each neuron's number is exact, and the weakest one decides
        of_neurons = flip_radius(view.visible, inputs, view.visible.fields(inputs))
        radius = of_neurons.min(axis=1, initial=view.n_inputs)
        cases = zip(inputs, targets, of_neurons, radius, strict=True)
        return radius, [
            weakest_neuron(view, x, target, each) if r >= 0 else none
            for x, target, each, r in cases
        ]
    transitions = Transition.each(view, inputs, targets)
    proven, sets = [], []
    for done, each in enumerate(transitions, start=1):
        share = work.share(len(transitions) - done + 1)
        r = each.counted_radius()
        units = breaking_set(each, at_least=r + 1, work=share) if attack and r >= 0 else none
        if method != "count":
            r = each.proven_radius(r, (len(units) or view.n_inputs + 1) - 1, share)
        if method == "exact" and r >= 0 and r + 1 < (len(units) or view.n_inputs + 1):
            r, units = smallest_breaking_set(each, radius=r, known=units, node_limit=node_limit)
        proven.append(r)
        sets.append(units)
        if callback is not None:
            callback(done, len(transitions))
    return np.array(proven, dtype=np.int64), sets


def _noise_radius(
    view: ThresholdView, inputs: Patterns, targets: Patterns, order: int, radius: Counts, work: Work
) -> Counts:
    """The proven number of flips in each pattern of the window: at least what follows from the
    radius, at most the radius.
    """
    least = radius // order
    if view.hidden is None:
        of_neurons = flip_radius(view.visible, inputs, view.visible.fields(inputs), order)
        found = of_neurons.min(axis=1, initial=view.n_inputs // order)
    else:
        each = zip(
            Transition.each(view, inputs, targets, order),
            least.tolist(),
            radius.tolist(),
            strict=True,
        )
        found = np.array(
            [
                t.proven_radius(max(low, t.counted_radius()), min(high, t.most), work)
                for t, low, high in each
            ]
        )
    return np.asarray(np.clip(found, least, radius))
