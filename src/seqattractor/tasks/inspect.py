"""Analyses of a trained network within a bounded amount of work: what `seqattractor inspect`
shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from seqattractor._faces import Result, plural
from seqattractor.analysis._attractors import Attractors, find_attractors
from seqattractor.analysis._certificate import Certificate, certify
from seqattractor.analysis._hidden_activity import HiddenActivity, hidden_activity
from seqattractor.analysis._robustness import (
    RobustnessCurve,
    basin_fraction,
    robustness_curve,
    steps_per_pattern,
)
from seqattractor.analysis._separability import Separability, separable
from seqattractor.analysis._threshold_view import NotApplicable, supports_certificate
from seqattractor.networks.base import SequenceMemory
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Lengths, Patterns, split, transitions
from seqattractor.sequences._transitions import LOCKED_ON, close_loop
from seqattractor.tasks.recall import Corruption, Recall, RecallTrials, recall, recall_often
from seqattractor.tasks.stored import Stored

Source = Literal["model", "data", "cycles"]
_T = TypeVar("_T")
OPERATIONS = 1.2e11  # multiplications for an effort of 1: about half a minute on one core
TRIALS, LOOPS, RECALLS = 500, 20, 20
# Shares of it: a look at transitions, proofs and attacks, separability, and steps, which are
# quicker.
_LOOK, _PROOFS, _SEPARABILITY, _STEPS = 0.2, 0.25, 0.2, 0.5
_MOST_SOLVED = 3000  # transitions whose independence is looked at


@dataclass(frozen=True, repr=False)
class Inspection(Result):
    """Results of all analyses of a network; a part that was left out is None, `left_out` has
    why.
    """

    net: SequenceMemory
    sequences: list[Patterns]
    source: Source
    """Whether the sequences are stored in the model, given, or limit cycles from random starts."""
    flips: int  # the noise in `trials`, `basin` and `from_stored`
    score: float | None = None
    recalls: tuple[Recall, ...] | None = None  # from the first pattern of each sequence, clean
    trials: RecallTrials | None = None  # from the same places, with `flips` units flipped
    certificate: Certificate | None = None  # of all transitions, or of some if there are many
    robustness: RobustnessCurve | None = None
    basin: float | None = None
    from_random: Attractors | None = None
    from_stored: Attractors | None = None
    hidden: HiddenActivity | None = None
    separability: Separability | None = None
    separability_with_biases: Separability | None = None
    """None unless hidden neurons are needed where there are no biases."""
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def n_hidden(self) -> int | None:
        """M, where there are hidden neurons."""
        V = getattr(self.net, "V_", None)
        return None if V is None else int(V.shape[1])

    @property
    def n_transitions(self) -> int:
        """Number of transitions of the sequences."""
        return sum(len(x) - self.net.order_ for x in self.sequences)

    def heading(self) -> str:
        """Return a line about the kind and size of the network and how it was learned."""
        net = self.net
        hidden = f" and {self.n_hidden} hidden" if self.n_hidden is not None else ""
        context = f", a context of {net.order_} patterns" if net.order_ > 1 else ""
        text = f"A {type(net).__name__} with {net.n_features_in_} visible{hidden} neurons{context}"
        if hasattr(net, "converged_"):
            end = "without an error left" if net.converged_ else "with errors left"
            text += f", learned in {plural(getattr(net, 'n_iter_', 0), 'epoch')} {end}"
        return text + "."

    def paragraphs(self) -> dict[str, str]:
        """Return the results in sentences, by title."""
        parts = {"Sequences": self._about_sequences()}
        if self.recalls is not None:
            parts["Recall"] = self._about_recall()
        if self.certificate is not None:
            parts["Guarantee"] = self.certificate.describe()
            if (some := len(self.certificate.radius)) < self.n_transitions:
                parts["Guarantee"] += (
                    f" ({some} of the {self.n_transitions} transitions were looked at, evenly "
                    "spread.)"
                )
        if self.robustness is not None:
            curve = _lower(self.robustness.describe())
            parts["Measured robustness"] = f"One step from a randomly corrupted pattern: {curve}"
        if self.basin is not None:
            parts["Basin"] = (
                f"From any stored pattern with {self.flips} flips, {self.basin:.1%} of all starts "
                "are on the sequence and in phase 25 steps later, or at its end if that comes "
                "sooner."
            )
        if self.from_random is not None:
            parts["Attractors"] = f"From random starts: {_lower(self.from_random.describe())}"
        if self.from_stored is not None:
            ends = _lower(self.from_stored.describe())
            parts["Attractors"] += f" From stored patterns with {self.flips} flips: {ends}"
        if self.hidden is not None:
            parts["Hidden neurons"] = self.hidden.describe()
        verdicts = [
            v.describe()
            for v in (self.separability, self.separability_with_biases)
            if v is not None
        ]
        if verdicts:
            parts["Without hidden neurons"] = " ".join(verdicts)
        if self.left_out:
            parts["Left out"] = " ".join(
                f"{name.capitalize()}: {why}" for name, why in self.left_out.items()
            )
        return parts

    def _about_sequences(self) -> str:
        """Describe the stored sequences, and where they come from."""
        if not self.sequences:
            return (
                "None are known: the model does not hold them, and random starts led to no cycle. "
                "Give the data."
            )
        words = {
            "model": "stored in the model",
            "data": "given as data",
            "cycles": "seen as cycles from random starts",
        }
        lengths = [len(x) for x in self.sequences]
        size = (
            f"{lengths[0]} patterns"
            if len(set(lengths)) == 1
            else f"{min(lengths)} to {max(lengths)} patterns"
        )
        made = (
            f"{self.score:.1%} of the {self.n_transitions} transitions are made without a wrong "
            "unit"
        )
        return f"{plural(len(lengths), 'sequence')} of {size}, {words[self.source]}; {made}."

    def _about_recall(self) -> str:
        """Count the sequences that lock on from their first patterns, and describe one that does
        not.
        """
        assert self.recalls is not None
        lost = [(s, each) for s, each in enumerate(self.recalls) if each.locked_on is None]
        first = (
            "the first pattern" if self.net.order_ == 1 else f"the first {self.net.order_} patterns"
        )
        locked = (
            f"{len(self.recalls) - len(lost)} of {plural(len(self.recalls), 'sequence')} "
            f"{LOCKED_ON}"
        )
        text = f"From {first} without noise, {locked}."
        if lost:
            s, each = lost[0]
            text += f" Sequence {s}: {_lower(each.describe())}"
        if self.trials is not None:
            text += f" With {self.flips} units flipped: {self.trials.describe()}"
        return text

    def describe(self) -> str:
        """Return everything in sentences."""
        return " ".join([self.heading(), *self.paragraphs().values()])

    def rows(self) -> list[dict[str, str]]:
        """Return a row for each part."""
        return [{"part": title, "result": text} for title, text in self.paragraphs().items()]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON: of each part its description and its rows."""
        net = self.net
        values = {
            "network": type(net).__name__,
            "n_visible": int(net.n_features_in_),
            "n_hidden": self.n_hidden,
            "order": int(net.order_),
            "epochs": getattr(net, "n_iter_", None),
            "converged": getattr(net, "converged_", None),
            "source": self.source,
            "lengths": [len(x) for x in self.sequences],
            "transitions": self.n_transitions,
            "score": self.score,
            "criterion": LOCKED_ON,
            "flips": self.flips,
            "basin": self.basin,
            "left_out": self.left_out,
        }
        recalls = None if self.recalls is None else [each.summary() for each in self.recalls]
        return (
            values | {"recalls": recalls} | {name: _plain(getattr(self, name)) for name in _PARTS}
        )


_PARTS = (
    "trials",
    "certificate",
    "robustness",
    "from_random",
    "from_stored",
    "hidden",
    "separability",
    "separability_with_biases",
)


def _plain(part: Result | None) -> dict[str, Any] | None:
    """Return a part as plain values; None where it was left out."""
    return None if part is None else {"summary": part.describe(), "rows": list(part.rows())}


def inspect_network(
    net: SequenceMemory,
    X: Patterns | None = None,
    lengths: Lengths | None = None,
    *,
    source: Literal["model", "data"] = "data",
    flips: int | None = None,
    starts: int = 100,
    effort: float = 1.0,
    exact: bool = False,
    rng: Seed = 0,
    on_part: Callable[[str], Any] | None = None,
) -> Inspection:
    """Analyse a trained network within a bounded amount of work.

    X, of shape (T, N), are the stored sequences, checked. Without them the limit cycles that random
    starts lead to stand for them: a stored loop is itself such a cycle. `flips` is the noise in
    starts from stored patterns, by default a tenth of the units, and `starts` the number of runs,
    at most, in the search for attractors. An `effort` of 2 allows twice as much work before a part
    is cut down or left out; work is counted in multiplications, never in seconds, so that the same
    seed gives the same result on any machine. `exact` closes gaps of the certificate by
    mixed-integer programming. `on_part` is called with a few words about each part.
    """
    check_is_fitted(net, "n_features_in_")
    work = _Work(net, effort, on_part)
    generator = as_generator(rng, "inspect")
    stored = None if X is None or lengths is None else list(split(X, lengths))
    runs = work.starts(starts, None if stored is None else max(len(x) for x in stored))
    options: dict[str, Any] = {"starts": runs[0], "max_steps": runs[1], "rng": generator}
    from_random = work.do("attractors", lambda: find_attractors(net, stored, **options))
    if stored is None:
        cycles = (
            []
            if from_random is None
            else [a.patterns for a in from_random.attractors if a.period > 1]
        )
        stored, given = [close_loop(once, net.order_) for once in cycles[:LOOPS]], False
    else:
        given = True
    inspection = Inspection(
        net,
        stored,
        source if given else "cycles",
        max(1, net.n_features_in_ // 10) if flips is None else flips,
        from_random=from_random,
        left_out=work.left_out,
    )
    if not stored:
        for part in ("recall", "certificate", "robustness", "basin", "hidden", "separability"):
            work.left_out[part] = (
                "no stored sequence is known, and random starts led to no cycle; give the data."
            )
        return inspection
    inspection = replace(
        inspection, score=net.score(stored), **_threshold_parts(inspection, work, exact)
    )
    inspection = replace(inspection, **_robustness_parts(inspection, work, options))
    inspection = replace(inspection, **_separability_parts(stored, net.order_, work))
    return replace(inspection, **_recalls(inspection, work, generator))


def _threshold_parts(inspection: Inspection, work: _Work, exact: bool) -> dict[str, Any]:
    """Return the analyses of networks of threshold neurons, if the network is one."""
    net, sequences = inspection.net, inspection.sequences
    if not supports_certificate(net):
        why = (
            f"{type(net).__name__} is not a network of threshold neurons that sees only its last "
            "patterns."
        )
        work.left_out |= {"certificate": why, "hidden": why}
        return {}
    places, looked_at = work.sample(sequences)
    options: dict[str, Any] = {
        "method": "exact" if exact else "auto",
        "work_limit": _PROOFS * work.operations,
    }
    progress = work.counting("certificate", "transition")
    certificate = work.do(
        "certificate", lambda: certify(net, looked_at, callback=progress, **options)
    )
    if looked_at is not sequences and certificate is not None:
        certificate = replace(certificate, sequence=places[:, 0], time=places[:, 1])
    return {
        "certificate": certificate,
        "hidden": work.do("hidden", lambda: hidden_activity(net, looked_at)),
    }


def _robustness_parts(inspection: Inspection, work: _Work, runs: dict[str, Any]) -> dict[str, Any]:
    """Return what follows from corrupted stored patterns: one step, the basin, and where runs
    end.
    """
    net, sequences, flips, rng = inspection.net, inspection.sequences, inspection.flips, runs["rng"]
    looked_at = work.sample(sequences)[1]
    parts: dict[str, Any] = {}
    trials = work.repetitions(
        25, 20, TRIALS
    )  # some 25 numbers of flips, with a step for each trial
    parts["robustness"] = work.do(
        "robustness", lambda: robustness_curve(net, looked_at, trials=trials, rng=rng)
    )
    if work.allows("basin", 25 * sum(len(x) for x in sequences)):
        parts["basin"] = work.do(
            "basin", lambda: basin_fraction(net, sequences, flips=flips, rng=rng)
        )
    name = "attractors from stored patterns"
    if work.allows(name, 50 * runs["starts"]):
        parts["from_stored"] = work.do(
            name, lambda: find_attractors(net, sequences, flips=flips, **runs)
        )
    return parts


def _separability_parts(sequences: list[Patterns], order: int, work: _Work) -> dict[str, Any]:
    """Return whether hidden neurons are needed, and, where they are, whether biases would do."""
    if _separability_work(sequences, order) > _SEPARABILITY * work.operations:
        work.left_out["separability"] = "it takes too much work; use sa.separable."
        return {}
    options: dict[str, Any] = {
        "order": order,
        "largest_margin": False,
        "callback": work.counting("separability", "neuron"),
    }
    verdict = work.do("separability", lambda: separable(sequences, **options))
    if verdict:
        return {"separability": verdict}
    with_biases = work.do(
        "separability with biases", lambda: separable(sequences, bias=True, **options)
    )
    return {"separability": verdict, "separability_with_biases": with_biases}


def _recalls(inspection: Inspection, work: _Work, rng: np.random.Generator) -> dict[str, Any]:
    """Recall every sequence from its first patterns, and several times from the same patterns with
    noise.
    """
    net, sequences = inspection.net, inspection.sequences
    stored = Stored.of_arrays(sequences, net.order_)
    cues = [(s, x[: net.order_], stored.steps(s, 0, net.order_)) for s, x in enumerate(sequences)]
    rows = steps_per_pattern(net) * sum(
        steps + stored.steps_beyond(s, net.order_) for s, _, steps in cues
    )
    if not work.allows("recall", rows):
        return {}
    often = work.repetitions(rows, 1, RECALLS)
    corruption, shape = Corruption(inspection.flips), (net.n_features_in_,)

    def clean() -> tuple[Recall, ...]:
        return tuple(
            recall(net, cue, steps, stored=stored, place=(s, 0), look_on=True)
            for s, cue, steps in cues
        )

    def noisy() -> RecallTrials:
        options: dict[str, Any] = {
            "trials": often,
            "stored": stored,
            "frame_shape": shape,
            "rng": rng,
        }
        parts = [
            recall_often(net, cue, corruption, steps, place=(s, 0), **options)
            for s, cue, steps in cues
        ]
        return RecallTrials(
            tuple(trial for part in parts for trial in part.each),
            max(part.looked for part in parts),
        )

    return {"recalls": work.do("recall", clean), "trials": work.do("recall from noise", noisy)}


def _separability_work(sequences: list[Patterns], order: int) -> float:
    """Return what `separable` takes: one linear system if the patterns are independent, else a
    linear program for each neuron.
    """
    inputs, targets, _ = transitions(
        np.concatenate(sequences), np.array([len(x) for x in sequences]), order
    )
    n, d = inputs.shape
    columns = len(np.unique(targets, axis=1).T)
    x = inputs.astype(np.float64)
    if n < d and n <= _MOST_SOLVED and np.linalg.matrix_rank(x @ x.T) == n:
        return float(2 * n * n * (n + columns))
    # Measured: to set up a linear program, to check its solution in whole numbers, and to solve it.
    return float(columns * (2e7 + 160 * n * d + 25 * (n * d) ** 1.5))


class _Work:
    """The amount of work that is allowed, counted in multiplications, and a record of what was
    done.
    """

    def __init__(
        self, net: SequenceMemory, effort: float, on_part: Callable[[str], Any] | None
    ) -> None:
        self.on_part = on_part or (lambda part: None)
        self.operations, self.order = effort * OPERATIONS, net.order_
        self.left_out: dict[str, str] = {}
        self.cost = 2.0 * max(1, net.n_parameters())  # of a step

    def do(self, name: str, call: Callable[[], _T]) -> _T | None:
        """Run a part, or note the reason where it does not apply to the network."""
        self.on_part(name)
        try:
            return call()
        except NotApplicable as reason:
            self.left_out[name] = str(reason)
            return None

    def counting(self, name: str, what: str) -> Callable[[int, int], Any]:
        """Return a callback that reports the progress of a part."""
        return lambda done, total: self.on_part(f"{name}, {what} {done} of {total}")

    def allows(self, name: str, steps: float) -> bool:
        """Return whether a part may make this many steps of the network."""
        if steps * self.cost <= _STEPS * self.operations:
            return True
        self.left_out[name] = "it takes too much work; allow a larger effort."
        return False

    def starts(self, wanted: int, longest: int | None) -> tuple[int, int]:
        """Return how many starts, if each goes once round the longest sequence, and the most steps
        for all of them.

        Where no sequence is known, cycles are all that there is to see, and may take more work.
        """
        steps = self.operations / self.cost
        once = 300 if longest is None else max(100, longest + 50)
        count = int(np.clip(0.2 * steps / once, min(5, wanted), wanted))
        most = (0.5 if longest is None else 0.25) * steps / count
        return count, int(np.clip(most, 100, max(1000, once)))

    def repetitions(self, steps: float, least: int, most: int) -> int:
        """Return how often to repeat what takes this many steps."""
        return int(np.clip(0.1 * self.operations / self.cost / max(1.0, steps), least, most))

    def sample(self, sequences: list[Patterns]) -> tuple[NDArray[np.int64], list[Patterns]]:
        """Return the transitions to look at: all, or single ones, evenly spread.

        Their places are rows (sequence, time of the newest pattern).
        """
        places = np.array(
            [(s, t) for s, x in enumerate(sequences) for t in range(self.order - 1, len(x) - 1)]
        )
        # Measured: a transition takes some 1e8 multiplications' time, and in large networks as many
        # as some 20 steps.
        most = int(np.clip(_LOOK * self.operations / (1.2e8 + 40 * self.cost), 8, len(places)))
        if most == len(places):
            return places, sequences
        places = places[np.unique(np.linspace(0, len(places) - 1, most).astype(int))]
        return places, [sequences[s][t - self.order + 1 : t + 2] for s, t in places]


def _lower(sentence: str) -> str:
    """Return a sentence as it stands after a colon."""
    return sentence[:1].lower() + sentence[1:]
