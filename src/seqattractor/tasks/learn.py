"""Learn sequences with a network of a given or a fitting size, and say how it went."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from seqattractor import noise
from seqattractor._faces import Result
from seqattractor.analysis._certificate import Certificate, certify
from seqattractor.analysis._threshold_view import supports_certificate
from seqattractor.learning.result import ProgressCallback
from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._registry import make_network, parameters_of
from seqattractor.sequences import Sequences, close_loops
from seqattractor.sequences._transitions import conflicts

MOST_TO_CERTIFY = 2 * 10**9  # patterns x weights: a few seconds
LADDER = (25, 50, 100, 200, 400, 800, 1600, 3200)
PATIENCE = 2  # sizes to try after the first that stores everything, if recall from noise is still poor
ENOUGH = 0.9  # of the cues
CUES = 20  # in the test of recall
HORIZON = 20  # steps after which recall is judged


class ConflictError(ValueError):
    """Patterns with two successors, which the context does not tell apart."""

    def __init__(self, sentence: str, context: int | None) -> None:
        super().__init__(sentence)
        self.context = context
        """The context that would, if there is one."""


@dataclass(frozen=True)
class Attempt:
    """How one size did."""

    n_hidden: int
    epochs: int
    converged: bool
    """Whether the last epoch was free of errors."""
    score: float
    """The fraction of transitions without a wrong unit."""
    recalled: int
    cues: int
    """Of so many noisy cues, so many ended at the right pattern."""

    @property
    def enough(self) -> bool:
        """Whether everything is stored with its margin, and nearly every noisy cue brings it back."""
        return self.converged and self.score == 1.0 and self.recalled >= ENOUGH * self.cues


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
        net, attempts = choose_hidden(net, data, tell=tell, callback=progress)
    else:
        _fit(net, data, progress)
    seconds = time.perf_counter() - started
    score = net.score(data)
    certificate = quick_certificate(net, data, MOST_TO_CERTIFY)
    radius, noise = (
        (None, None) if certificate is None else (int(c.min()) for c in (certificate.radius, certificate.noise_radius))
    )
    return LearningResult(net, data, score, radius, noise, attempts, _warnings(net, data, score, radius), seconds)


def choose_hidden(
    net: SequenceMemory,
    data: Sequences,
    *,
    tell: Callable[[Attempt], Any] | None = None,
    callback: ProgressCallback | None = None,
) -> tuple[SequenceMemory, list[Attempt]]:
    """Learn with more and more hidden neurons until everything is stored and comes back from noisy cues.

    Parameters
    ----------
    net : SequenceMemory
        With a parameter ``n_hidden``; it is not changed.
    data : Sequences
    tell : callable, optional
        Called with each `Attempt`.
    callback : callable, optional
        For `fit`.

    Returns
    -------
    net : SequenceMemory
        The smallest network of the sizes 25, 50, 100, ..., 3200 that learns without an error left and recalls from 9 of 10
        cues; if none of them does, the one that stores most transitions and recalls best.
    attempts : list of Attempt

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 40, rng=0)
    >>> net, attempts = choose_hidden(sa.SequenceAttractor(random_state=0), X)
    >>> net.n_hidden == attempts[-1].n_hidden, net.score(X)
    (True, 1.0)
    """
    seed = int(noise.as_generator(0).integers(2**32))
    attempts: list[Attempt] = []
    best, chosen = (-1.0, False, 0), net
    for n_hidden in LADDER:
        trial = _fit(clone(net).set_params(n_hidden=n_hidden), data, callback)
        score = trial.score(data)
        recalled = recalls_from_noise(trial, data, cues=CUES, rng=seed) if score == 1 else 0
        attempts.append(Attempt(n_hidden, int(trial.n_iter_), bool(trial.converged_), score, recalled, CUES))
        if tell is not None:
            tell(attempts[-1])
        merit = score, attempts[-1].converged, recalled
        if merit > best:
            best, chosen = merit, trial
        if attempts[-1].enough or sum(attempt.score == 1.0 for attempt in attempts) > PATIENCE:
            break
    return chosen, attempts


def recalls_from_noise(net: SequenceMemory, data: Sequences, *, flips: float = 0.1, cues: int = CUES, rng: noise.Seed = 0) -> int:
    """Count the noisy cues from random places after which the network is at the right pattern some steps later.

    Parameters
    ----------
    net : SequenceMemory
    data : Sequences
        What it has stored.
    flips : float
        The fraction of units flipped in every pattern of the cue.
    cues : int
    rng : int, Generator or None

    Returns
    -------
    int
        How many of the cues led, after at most 20 steps or at the end of the sequence, to the stored pattern.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> recalls_from_noise(sa.LookupMemory().fit(X), X, flips=0.05, cues=5)
    5
    """
    generator = noise.as_generator(rng)
    order, good = net.order_, 0
    sequences = data.split()
    for _ in range(cues):
        sequence = sequences[int(generator.integers(len(sequences)))]
        start = int(generator.integers(len(sequence) - order))
        steps = min(len(sequence) - order - start, HORIZON)
        clean = sequence[start : start + order]
        noisy = noise.flip(clean, round(flips * clean.shape[1]), generator)
        trajectory = net.recall(noisy[0] if order == 1 else noisy, steps)
        good += bool(np.array_equal(trajectory[-1], sequence[start + order - 1 + steps]))
    return good


def _fit(net: SequenceMemory, data: Sequences, callback: ProgressCallback | None) -> SequenceMemory:
    """Let a network learn; errors that are left are told elsewhere, in words of our own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return net.fit(data, callback=callback)


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


def _warnings(net: SequenceMemory, data: Sequences, score: float, radius: int | None) -> list[str]:
    """The warnings that matter."""
    sentences = []
    grows = "n_hidden" in net.get_params(deep=False)
    if (data.patterns == data.patterns[0]).all():
        sentences.append("all patterns are equal, so there is nothing to recall; look at the input, or choose another threshold.")
    if not getattr(net, "converged_", True):
        hidden, visible = (int(getattr(net, name, [0])[-1]) for name in ("hidden_errors_", "visible_errors_"))
        sentences.append(
            f"learning stopped after {getattr(net, 'n_iter_', '?')} epochs with errors left ({hidden} hidden, {visible} visible "
            f"in the last), so recall may be fragile; allow more epochs{' or use more hidden neurons' if grows else ''}."
        )
    if score < 1.0:
        other = "the network sparse, " if type(net).__name__ == "SequenceAttractor" else ""
        sentences.append(
            f"only {score:.1%} of the transitions are stored without a wrong unit; "
            f"try {'more hidden neurons, ' if grows else ''}{other}a larger order, or less to store."
        )
    elif radius is not None and radius <= 0:
        sentences.append(
            "not even one wrong unit is proven to be harmless (certified radius 0 by a quick look; `seqattractor inspect` looks "
            "closer); recall from noise may fail, so try it."
        )
    return sentences
