"""Learn sequences with a network of a given or a fitting size, and say how it went."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sklearn.base import clone

from seqattractor._faces import Result
from seqattractor.analysis._certificate import Certificate, certify
from seqattractor.analysis._threshold_view import supports_certificate
from seqattractor.learning.result import ProgressCallback
from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._registry import make_network, parameters_of
from seqattractor.sequences import Sequences, close_loops
from seqattractor.sequences._transitions import conflicts
from seqattractor.tasks.advice import warnings_about
from seqattractor.tasks.choose import Attempt, choose_hidden, fit_quietly

MOST_TO_CERTIFY = 2 * 10**9  # patterns x weights: a few seconds


class ConflictError(ValueError):
    """Patterns with two successors, which the context does not tell apart."""

    def __init__(self, sentence: str, context: int | None) -> None:
        super().__init__(sentence)
        self.context = context
        """The context that would, if there is one."""


@dataclass(frozen=True, repr=False)
class LearningResult(Result):
    """A network that has learned, and how well."""

    net: SequenceMemory
    data: Sequences
    score: float
    """The fraction of transitions without a wrong unit."""
    radius: int | None
    """How many wrong units every transition is proven to withstand in one step, by a quick look; None where nothing was proven.
    Of a network of order k they are counted in the window of k patterns."""
    noise_radius: int | None
    """How many flips before every step are proven to be harmless at every transition; fewer where flips stay in a window."""
    attempts: Sequence[Attempt]
    """The sizes that were tried, where the size was to be chosen."""
    warnings: Sequence[str]
    seconds: float

    @property
    def n_hidden(self) -> int | None:
        """M, where the network has such a parameter."""
        n_hidden: int | None = self.net.get_params(deep=False).get("n_hidden")
        return n_hidden

    def describe(self) -> str:
        """Say what was learned, how, and how safely."""
        net, data = self.net, self.data
        S, shape = len(data.lengths), data.frame_shape
        names = ", ".join(data.names[:5]) + (", ..." if S > 5 else "")
        frame = f"{shape[1]} x {shape[0]} = {data.shape[1]}" if len(shape) == 2 else f"{data.shape[1]}"
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
        return "\n".join(
            [
                f"{S} sequence{'s' if S > 1 else ''} ({names}), {len(data)} patterns of {frame} units, "
                f"{(data.patterns > 0).mean():.1%} on",
                f"{type(net).__name__}{hidden}{order} learned them{taken}, {self.seconds:.1f} s",
                stored,
            ]
        )

    def __repr__(self) -> str:
        """Say the answer in one line."""
        return f"LearningResult: {self.score:.1%} of the transitions by a {type(self.net).__name__}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        net, data = self.net, self.data
        return {
            "network": type(net).__name__,
            "n_hidden": self.n_hidden,
            "order": net.order_,
            "sequences": [{"name": n, "length": int(t)} for n, t in zip(data.names, data.lengths, strict=True)],
            "n_units": net.n_features_in_,
            "frame_shape": list(data.frame_shape),
            "kind": data.kind,
            "on": float((data.patterns > 0).mean()),
            "epochs": getattr(net, "n_iter_", None),
            "converged": getattr(net, "converged_", None),
            "transitions_exact": self.score,
            "certified_radius": self.radius,
            "certified_noise_radius": self.noise_radius,
            "tries": [vars(attempt) for attempt in self.attempts],
            "seconds": round(self.seconds, 3),
            "warnings": list(self.warnings),
        }


def prepare(data: Sequences, order: int | Literal["auto"] = 1) -> Sequences:
    """Close loops with as many patterns as the context needs, and refuse what no network with this context can learn.

    Parameters
    ----------
    data : Sequences
    order : int or "auto"
        How many past patterns the network sees; "auto": as few as resolve all conflicts.

    Returns
    -------
    Sequences

    Raises
    ------
    ConflictError
        If the same context is followed by different patterns.

    Examples
    --------
    >>> import seqattractor as sa
    >>> prepare(sa.datasets.xor(), order=1).closed
    1
    """
    for name, length in zip(data.names, data.lengths, strict=True):
        if length < 2:
            raise ValueError(f"{name} has only one pattern, but a sequence needs at least two: a pattern and its successor.")
    ambiguous = conflicts(data)
    context = ambiguous.context
    if data.closed:
        wanted = context if order == "auto" else order
        while wanted is not None and wanted > data.closed:
            data = close_loops(data, order=wanted)
            context = conflicts(data).context
            wanted = context if order == "auto" else wanted
    if context is None or (order != "auto" and context > order):
        raise ConflictError(ambiguous.describe(), context)
    return data


def learn(
    data: Sequences,
    network: str = "attractor",
    parameters: Mapping[str, Any] | None = None,
    *,
    widen: bool = False,
    progress: ProgressCallback | None = None,
    tell: Callable[[Attempt], Any] | None = None,
) -> LearningResult:
    """Learn sequences; with as many hidden neurons as they need, unless `parameters` say how many.

    Parameters
    ----------
    data : Sequences
        As `prepare` gives them.
    network : str
        A short name of the registry.
    parameters : mapping, optional
        Of the network.
    widen : bool
        Whether a larger context may be tried where no number of hidden neurons stores everything.
    progress : callable, optional
        Called with epoch, hidden errors and visible errors after each epoch.
    tell : callable, optional
        Called with each `Attempt` where the number of hidden neurons is to be chosen.

    Returns
    -------
    LearningResult

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
    net = make_network(network, **given)
    started = time.perf_counter()
    attempts: list[Attempt] = []
    if "n_hidden" in parameters_of(network) and "n_hidden" not in given:
        fixed = "max_epochs" in given
        net, attempts = choose_hidden(net, data, fixed_epochs=fixed, tell=tell, callback=progress)
        if widen and "order" in parameters_of(network) and max(one.score for one in attempts) < 1:
            wider, more = prepare(data, net.order_ + 1), net.order_ + 1
            other, tried = choose_hidden(
                clone(net).set_params(order=more), wider, fixed_epochs=fixed, tell=tell, callback=progress
            )
            attempts += tried
            if max(one.merit for one in tried) > max(one.merit for one in attempts[: -len(tried)]):
                net, data = other, wider
    else:
        fit_quietly(net, data, progress)
    seconds = time.perf_counter() - started
    score = net.score(data)
    certificate = quick_certificate(net, data, MOST_TO_CERTIFY)
    radius, noise = (
        (None, None) if certificate is None else (int(c.min()) for c in (certificate.radius, certificate.noise_radius))
    )
    told = warnings_about(net, data, score, radius, attempts)
    return LearningResult(net, data, score, radius, noise, attempts, told, seconds)


def quick_certificate(net: SequenceMemory, data: Sequences, most: int) -> Certificate | None:
    """Prove how many wrong units each transition withstands, by the quick method.

    Parameters
    ----------
    net : SequenceMemory
    data : Sequences
        What it has learned, with loops closed for its context.
    most : int
        Patterns times weights; beyond it nothing is proven.

    Returns
    -------
    Certificate or None
        None also for networks without such a proof.
    """
    if len(data) * net.n_parameters() > most or not supports_certificate(net):
        return None
    return certify(net, data, method="count", attack=False)
