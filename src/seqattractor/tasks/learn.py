"""Learn sequences with a network of a given or a fitting size, and describe the outcome."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from sklearn.exceptions import ConvergenceWarning

from seqattractor._checks import is_auto
from seqattractor._faces import Result, plural
from seqattractor.analysis._certificate import Certificate, certify
from seqattractor.analysis._threshold_view import supports_certificate
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.choose_hidden import (
    CUES,
    ENOUGH,
    FLIPS,
    Attempt,
    choose_hidden,
    recalls_from_noise,
)
from seqattractor.networks.registry import make_network, parameters_of, takes_hidden
from seqattractor.sequences import Sequences
from seqattractor.sequences._transitions import LOCKED_ON, prepare

MOST_TO_CERTIFY = 2 * 10**9  # patterns x weights: a few seconds
OTHER = "sparse"  # the network that is tried where the paper's does not store everything
SHARED = {
    "n_hidden",
    "order",
    "max_epochs",
    "random_state",
}  # parameters that mean the same in both


class NoisyCues(NamedTuple):
    """From how many cues recall locked on: with a tenth of the units flipped, and with one."""

    recalled: int
    one_flip: int
    cues: int

    def describe(self) -> str:
        """Return the counts in words."""
        one = f", from {self.one_flip} with one unit flipped" if self.recalled < self.cues else ""
        return (
            f"from {self.recalled} of {self.cues} cues with {FLIPS:.0%} of their units "
            f"flipped{one}, recall {LOCKED_ON}"
        )


@dataclass(frozen=True, repr=False)
class LearningResult(Result):
    """A network that has learned, and how well."""

    net: SequenceMemory
    data: Sequences
    score: float  # the fraction of transitions without a wrong unit
    radius: int | None
    """How many wrong units every transition is proven to withstand in one step, by a quick look;
    None where nothing was proven. Of a network of order k they are counted in k patterns."""
    recalled: NoisyCues | None
    """From how many noisy cues recall locked on; None where it was not tried."""
    attempts: Sequence[Attempt]  # the sizes that were tried, where the size was to be chosen
    seconds: float

    @property
    def n_hidden(self) -> int | None:
        """M, where the network has hidden neurons."""
        return getattr(self.net, "n_hidden_", None)

    @property
    def warnings(self) -> list[str]:
        """What is missing; advice names only what was not tried."""
        if (self.data.patterns == self.data.patterns[0]).all():
            return [
                "all patterns are equal, so there is nothing to recall; look at the input, or "
                "choose another threshold."
            ]
        if self.score < 1.0:
            ideas = " or ".join(self._ideas())
            return [
                f"only {self.score:.1%} of the transitions are stored without a wrong unit; try "
                f"{ideas}."
            ]
        if self.recalled is None or self.recalled.recalled >= ENOUGH * self.recalled.cues:
            return []
        return [
            "every transition is right, but recall from noise is fragile: "
            f"{self.recalled.describe()}."
        ]

    def _ideas(self) -> list[str]:
        """Return what to try next, of what was not tried."""
        net, attempts = self.net, self.attempts
        parameters = net.get_params(deep=False)
        hidden, visible = (
            int(getattr(net, name, [0])[-1]) for name in ("hidden_errors_", "visible_errors_")
        )
        tried = [attempt for attempt in attempts if attempt.network == type(net).__name__]
        ideas = []
        if hidden and len({attempt.epochs for attempt in tried}) < 2:
            ideas.append("more epochs (hidden neurons have errors left)")
        if any(attempt.cut_short for attempt in tried):
            ideas.append(
                "more hidden neurons or epochs than were tried (they take long, so give their "
                "number)"
            )
        elif "n_hidden" in parameters and visible and not attempts:
            ideas.append("more hidden neurons")
        n_transitions = len(self.data) - len(self.data.lengths) * net.order_
        crowded = n_transitions > net.order_ * self.data.shape[1]
        if crowded and {type(net).__name__, *(each.network for each in attempts)} == {
            "SequenceAttractor"
        }:
            ideas.append(
                "the network sparse (there are more transitions than a hidden neuron has inputs)"
            )
        if "order" in parameters and net.order_ >= max(
            (each.order for each in tried), default=net.order_
        ):
            ideas.append(f"an order of {net.order_ + 1}")
        return ideas or ["another network, or less to store"]

    def describe(self) -> str:
        """Return what was learned, how, and how safely."""
        net, data = self.net, self.data
        names = ", ".join(data.names[:5]) + (", ..." if len(data.names) > 5 else "")
        sides = (*(data.picture_shape or ())[::-1], *data.frame_shape[2:])
        frame = f"{' x '.join(map(str, sides))} = {data.shape[1]}" if sides else f"{data.shape[1]}"
        hidden = f" with {self.n_hidden} hidden neurons" if self.n_hidden else ""
        order = f" and a context of {net.order_} patterns" if net.order_ > 1 else ""
        epochs = getattr(net, "n_iter_", None)
        taken = f" in {plural(epochs, 'epoch')}" if epochs else ""
        taken += " of a plain loop" if getattr(net, "engine_", "") == "reference" else ""
        stored = (
            "every transition is stored exactly" if self.score == 1 else "not everything is stored"
        )
        if self.radius is not None and self.radius > 0:
            window = (
                f" of the {net.order_} patterns that the network sees" if net.order_ > 1 else ""
            )
            stored += (
                f", and is proven to withstand any {plural(self.radius, 'wrong unit')}{window} in "
                "one step (`seqattractor inspect` looks closer and may prove more)"
            )
        lines = [
            f"{plural(len(data.names), 'sequence')} ({names}), {len(data)} patterns of {frame} "
            f"units, {(data.patterns > 0).mean():.1%} on",
            f"{type(net).__name__}{hidden}{order} learned them{taken}, {self.seconds:.1f} s",
            stored,
        ]
        return "\n".join(lines if self.recalled is None else [*lines, self.recalled.describe()])

    def __repr__(self) -> str:
        """Return the answer in one line."""
        return f"LearningResult: {self.score:.1%} of the transitions by a {type(self.net).__name__}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        net, data = self.net, self.data
        return {
            "network": type(net).__name__,
            "n_hidden": self.n_hidden,
            "order": net.order_,
            "sequences": [
                {"name": n, "length": int(t)} for n, t in zip(data.names, data.lengths, strict=True)
            ],
            "n_units": net.n_features_in_,
            "frame_shape": list(data.frame_shape),
            "code": None if data.code is None else data.code.to_dict(),
            "kind": data.kind,
            "on": float((data.patterns > 0).mean()),
            "epochs": getattr(net, "n_iter_", None),
            "converged": getattr(net, "converged_", None),
            "transitions_exact": self.score,
            "certified_radius": self.radius,
            "noisy_cues": None if self.recalled is None else self.recalled._asdict(),
            "tries": [vars(attempt) for attempt in self.attempts],
            "seconds": round(self.seconds, 3),
            "warnings": self.warnings,
        }


def learn(
    data: Sequences,
    network: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    widen: bool = False,
    progress: ProgressCallback | None = None,
    on_attempt: Callable[[Attempt], Any] | None = None,
) -> LearningResult:
    """Learn sequences, as `prepare` returns them.

    A network with hidden neurons gets as many as it needs unless `parameters` set their number. The
    default network is the paper's, and the sparse one where no size of it stores everything. With
    `widen`, a larger context may be tried, too. `progress` is called with epoch, hidden errors and
    visible errors after each epoch, `on_attempt` with each `Attempt`.
    """
    given = dict(parameters or {})
    started = time.perf_counter()
    name, prepared = network or "attractor", data
    attempts: list[Attempt] = []
    if takes_hidden(name) and is_auto(given.get("n_hidden", "auto")):
        best, net = _try_sizes(data, name, given, attempts, on_attempt, progress)
        for other, order in _what_else(
            data, name, best, given, may_change=network is None, widen=widen
        ):
            if best.score < 1:
                wider = prepared if order is None else prepare(prepared, order)
                settings = given if order is None else given | {"order": order}
                better, candidate = _try_sizes(
                    wider, other, settings, attempts, on_attempt, progress
                )
                if better.merit > best.merit:
                    best, net, data = better, candidate, wider
    else:
        net = make_network(name, **given)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ConvergenceWarning
            )  # the result has warnings of its own
            net.fit(data, callback=progress)
    seconds = time.perf_counter() - started
    score = net.score(data)
    certificate = quick_certificate(net, data, MOST_TO_CERTIFY)
    radius = None if certificate is None else int(certificate.radius.min())
    recalled = None
    if score == 1 and not net.traits().dwells:
        often, one = (
            recalls_from_noise(net, net._shown(data), flips=flips)
            for flips in (FLIPS, 1 / data.shape[1])
        )
        recalled = NoisyCues(often, one, CUES)
    return LearningResult(net, data, score, radius, recalled, attempts, seconds)


def _try_sizes(
    data: Sequences,
    name: str,
    given: dict[str, Any],
    attempts: list[Attempt],
    on_attempt: Callable[[Attempt], Any] | None,
    progress: ProgressCallback | None,
) -> tuple[Attempt, SequenceMemory]:
    """Try all sizes of a network, add them to `attempts`, and return the best."""
    net = cast(SequenceAttractor, make_network(name, **(given | {"n_hidden": "auto"})))
    chosen, tried = choose_hidden(net, net.transitions(data), report=on_attempt, callback=progress)
    attempts += tried
    return max(tried, key=lambda one: one.merit), chosen


def _what_else(
    data: Sequences,
    name: str,
    best: Attempt,
    given: dict[str, Any],
    *,
    may_change: bool,
    widen: bool,
) -> list[tuple[str, int | None]]:
    """Return what to try next, a larger context and another network, as names and orders."""
    order, (n, units) = best.order, data.shape
    lengths = data.lengths if not data.closed else data.lengths + 1
    wider = (
        [(name, order + 1)]
        if widen and "order" in parameters_of(name) and lengths.min() > order + 1
        else []
    )
    others: list[tuple[str, int | None]] = (
        [(OTHER, None)] if may_change and set(given) <= SHARED else []
    )
    # A neuron with more to separate than inputs fails however long it learns; elsewhere a context
    # distinguishes frames.
    return [*others, *wider] if n > order * units else [*wider, *others]


def quick_certificate(net: SequenceMemory, data: Sequences, most: int) -> Certificate | None:
    """Prove how many wrong units each transition withstands, by the quick method.

    Returns None where patterns times weights are more than `most`, and for networks without such a
    proof.
    """
    if len(data) * net.n_parameters() > most or not supports_certificate(net):
        return None
    return certify(net, data, method="count", attack=False)
