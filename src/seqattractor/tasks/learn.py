"""Learn sequences with a network of a given or a fitting size, and describe the outcome."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from sklearn.exceptions import ConvergenceWarning

from seqattractor._checks import is_auto
from seqattractor._faces import Result
from seqattractor.analysis._certificate import Certificate, certify
from seqattractor.analysis._threshold_view import supports_certificate
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.choose_hidden import CUES, ENOUGH, FLIPS, Attempt, choose_hidden, recalls_from_noise
from seqattractor.networks.registry import make_network, parameters_of
from seqattractor.sequences import Sequences
from seqattractor.sequences._transitions import LOCKED_ON, prepare
from seqattractor.tasks.repeats import near_repeats


class NoisyCues(NamedTuple):
    """From how many cues recall locked on: with a tenth of the units flipped, and with one."""

    recalled: int
    one_flip: int
    cues: int


def warnings_about(
    net: SequenceMemory,
    data: Sequences,
    score: float,
    radius: int | None,
    recalled: NoisyCues | None,
    attempts: Sequence[Attempt],
) -> list[str]:
    """Return the warnings that matter; advice names only what was not tried.

    `radius` is the number of wrong units that every transition is proven to withstand, `recalled` the number of noisy cues from
    which recall locked on, each None where it was not looked at; `attempts` are the sizes that were tried.
    """
    if (data.patterns == data.patterns[0]).all():
        return ["all patterns are equal, so there is nothing to recall; look at the input, or choose another threshold."]
    hidden, visible = (int(getattr(net, name, [0])[-1]) for name in ("hidden_errors_", "visible_errors_"))
    if score < 1.0:
        ideas = _ideas(net, data, hidden, visible, attempts)
        return [f"only {score:.1%} of the transitions are stored without a wrong unit; try {' or '.join(ideas)}."]
    if recalled is not None and recalled.recalled >= ENOUGH * recalled.cues:
        return []
    if not getattr(net, "converged_", True) and not getattr(net, "noise_", 0):
        why = (
            f"every transition is right, but not yet with its full margin (the last of {getattr(net, 'n_iter_', '?')} epochs made"
            f" {hidden} hidden and {visible} visible updates)"
        )
    elif radius is not None and radius <= 0:
        why = (
            "not even one wrong unit is proven to be harmless (certified radius 0 by a quick look; `seqattractor inspect` looks "
            "closer)"
        )
    elif recalled is None:
        return []
    else:
        why = "what is stored is easily lost in noise"
    if recalled is None:
        return [f"{why}; recall from noise may be fragile."]
    often = f"{recalled.recalled} of {recalled.cues} cues with {FLIPS:.0%} of their units flipped"
    return [f"{why}; recall from noise is fragile: {often}, and {recalled.one_flip} with one, brought the sequence back."]


def _ideas(net: SequenceMemory, data: Sequences, hidden: int, visible: int, attempts: Sequence[Attempt]) -> list[str]:
    """Return what to try next, of what was not tried; `hidden` and `visible` count the errors left."""
    parameters = net.get_params(deep=False)
    name = type(net).__name__
    tried = [attempt for attempt in attempts if attempt.network == name]
    networks = {name, *(attempt.network for attempt in attempts)}
    ideas = []
    if hidden and len({attempt.epochs for attempt in tried}) < 2:
        ideas.append("more epochs (hidden neurons have errors left)")
    if "n_hidden" in parameters and not attempts and visible:
        ideas.append("more hidden neurons")
    if any(attempt.cut_short for attempt in tried):
        ideas.append("more hidden neurons or epochs than were tried (they take long, so say how many)")
    n_transitions = len(data) - len(data.lengths) * net.order_
    if networks == {"SequenceAttractor"} and n_transitions > net.order_ * data.shape[1]:
        ideas.append("the network sparse (there are more transitions than a hidden neuron has inputs)")
    if "order" in parameters and net.order_ >= max((attempt.order for attempt in tried), default=net.order_):
        ideas.append(f"an order of {net.order_ + 1}")
    if len(near_repeats(data)):
        ideas.append("leaving out what is nearly the same as the frame before")
    return ideas or ["another network, or less to store"]


MOST_TO_CERTIFY = 2 * 10**9  # patterns x weights: a few seconds
OTHER = "sparse"  # the network that is tried where the paper's does not store everything
SHARED = {"n_hidden", "order", "max_epochs", "random_state"}  # parameters that mean the same in both


@dataclass(frozen=True, repr=False)
class LearningResult(Result):
    """A network that has learned, and how well."""

    net: SequenceMemory
    data: Sequences
    score: float  # the fraction of transitions without a wrong unit
    radius: int | None
    """How many wrong units every transition is proven to withstand in one step, by a quick look; None where nothing was proven.
    Of a network of order k they are counted in the window of k patterns."""
    noise_radius: int | None
    """How many flips before every step are proven to be harmless at every transition; fewer where flips stay in a window."""
    recalled: NoisyCues | None
    """From how many cues with a tenth of their units flipped recall locked on; None where it was not tried."""
    attempts: Sequence[Attempt]  # the sizes that were tried, where the size was to be chosen
    warnings: Sequence[str]
    seconds: float

    @property
    def n_hidden(self) -> int | None:
        """M, where the network has hidden neurons."""
        return getattr(self.net, "n_hidden_", None)

    def describe(self) -> str:
        """Return what was learned, how, and how safely."""
        net, data = self.net, self.data
        S = len(data.lengths)
        names = ", ".join(data.names[:5]) + (", ..." if S > 5 else "")
        frame = " x ".join(str(side) for side in (*(data.picture_shape or ())[::-1], *data.frame_shape[2:]))
        frame = f"{frame} = {data.shape[1]}" if frame else f"{data.shape[1]}"
        hidden = f" with {self.n_hidden} hidden neurons" if self.n_hidden else ""
        order = f" and a context of {net.order_} patterns" if net.order_ > 1 else ""
        epochs = getattr(net, "n_iter_", None)
        taken = f" in {epochs} epoch{'s' if epochs > 1 else ''}" if epochs else ""
        stored = "every transition is stored exactly" if self.score == 1 else "not everything is stored"
        if (flips := self.radius or 0) > 0:
            window = f" of the {net.order_} patterns that the network sees" if net.order_ > 1 else ""
            stored += f", and is proven to withstand any {flips} wrong unit{'s' if flips > 1 else ''}{window} in one step"
            if net.order_ > 1:
                stored += f", or {self.noise_radius} before every step"
            stored += " (`seqattractor inspect` looks closer and may prove more)"
        if self.recalled is not None:
            noisy = self.recalled
            one = f", from {noisy.one_flip} with one unit flipped" if noisy.recalled < noisy.cues else ""
            flipped = f"from {noisy.recalled} of {noisy.cues} cues with {FLIPS:.0%} of their units flipped{one}"
            stored += f"\n{flipped}, recall {LOCKED_ON}"
        return "\n".join(
            [
                f"{S} sequence{'s' if S > 1 else ''} ({names}), {len(data)} patterns of {frame} units, "
                f"{(data.patterns > 0).mean():.1%} on",
                f"{type(net).__name__}{hidden}{order} learned them{taken}, {self.seconds:.1f} s",
                stored,
            ]
        )

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
            "sequences": [{"name": n, "length": int(t)} for n, t in zip(data.names, data.lengths, strict=True)],
            "n_units": net.n_features_in_,
            "frame_shape": list(data.frame_shape),
            "code": None if data.code is None else data.code.to_dict(),
            "kind": data.kind,
            "on": float((data.patterns > 0).mean()),
            "epochs": getattr(net, "n_iter_", None),
            "converged": getattr(net, "converged_", None),
            "transitions_exact": self.score,
            "certified_radius": self.radius,
            "certified_noise_radius": self.noise_radius,
            "noisy_cues": None if self.recalled is None else self.recalled._asdict(),
            "tries": [vars(attempt) for attempt in self.attempts],
            "seconds": round(self.seconds, 3),
            "warnings": list(self.warnings),
        }


def learn(
    data: Sequences,
    network: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    widen: bool = False,
    progress: ProgressCallback | None = None,
    tell: Callable[[Attempt], Any] | None = None,
) -> LearningResult:
    """Learn sequences, as `prepare` returns them, with as many hidden neurons as they need unless `parameters` set their number.

    The default network is the paper's, and the sparse one where no size of it stores everything. With `widen`, a larger context
    may be tried, too. `progress` is called with epoch, hidden errors and visible errors after each epoch, `tell` with each
    `Attempt`.

    Examples
    --------
    >>> import seqattractor as sa
    >>> learned = learn(sa.datasets.random_periodic(10, 40, rng=0), parameters={"random_state": 0})
    >>> learned
    LearningResult: 100.0% of the transitions by a SequenceAttractor
    >>> learned.n_hidden == learned.attempts[-1].n_hidden
    True
    """
    given = dict(parameters or {})
    started = time.perf_counter()
    name, attempts = network or "attractor", []
    if "n_hidden" in parameters_of(name) and is_auto(given.get("n_hidden", "auto")):
        search = _Search(data, given, tell, progress)
        search.try_network(name)
        for other, more in _what_else(search, name, may_change=network is None, widen=widen):
            if search.best.score < 1:
                search.try_network(other, more)
        net, data, attempts = search.net, search.ready, search.attempts
    else:
        net = make_network(name, **given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the result has warnings of its own
            net.fit(data, callback=progress)
    seconds = time.perf_counter() - started
    score = net.score(data)
    certificate = quick_certificate(net, data, MOST_TO_CERTIFY)
    radius = None if certificate is None else int(certificate.radius.min())
    noise = None if certificate is None else int(certificate.noise_radius.min())
    recalled = None
    if score == 1 and not net.traits().dwells:
        often, one = (recalls_from_noise(net, net._shown(data), flips=flips) for flips in (FLIPS, 1 / data.shape[1]))
        recalled = NoisyCues(often, one, CUES)
    about = warnings_about(net, data, score, radius, recalled, attempts)
    return LearningResult(net, data, score, radius, noise, recalled, attempts, about, seconds)


class _Search:
    """Networks that were tried, each with all its sizes, and the best of them."""

    def __init__(
        self, data: Sequences, given: dict[str, Any], tell: Callable[[Attempt], Any] | None, progress: ProgressCallback | None
    ) -> None:
        self.data, self.given, self.tell, self.progress = data, given, tell, progress
        self.attempts: list[Attempt] = []
        self.best: Attempt
        self.net: SequenceMemory
        self.ready: Sequences

    def try_network(self, name: str, order: int | None = None) -> None:
        """Try all sizes of a network, with the context that the user wants or with another one."""
        settings = self.given | {"n_hidden": "auto"} | ({} if order is None else {"order": order})
        ready = self.data if order is None else prepare(self.data, order)
        net = cast(SequenceAttractor, make_network(name, **settings))
        chosen, tried = choose_hidden(net, net.transitions(ready), tell=self.tell, callback=self.progress)
        best = max(tried, key=lambda one: one.merit)
        if not self.attempts or best.merit > self.best.merit:
            self.best, self.net, self.ready = best, chosen, ready
        self.attempts += tried


def _what_else(search: _Search, name: str, *, may_change: bool, widen: bool) -> list[tuple[str, int | None]]:
    """What to try after a network did not store everything: a larger context, and another network, as names and orders."""
    order, (n, units) = search.best.order, search.data.shape
    lengths = search.data.lengths if not search.data.closed else search.data.lengths + 1
    wider = [(name, order + 1)] if widen and "order" in parameters_of(name) and lengths.min() > order + 1 else []
    others: list[tuple[str, int | None]] = [(OTHER, None)] if may_change and set(search.given) <= SHARED else []
    # A neuron that has more to separate than inputs fails however long it learns; elsewhere the past tells frames apart.
    return [*others, *wider] if n > order * units else [*wider, *others]


def quick_certificate(net: SequenceMemory, data: Sequences, most: int) -> Certificate | None:
    """Prove how many wrong units each transition withstands, by the quick method.

    Returns None where patterns times weights are more than `most`, and for networks without such a proof.
    """
    if len(data) * net.n_parameters() > most or not supports_certificate(net):
        return None
    return certify(net, data, method="count", attack=False)
