"""The search for the number of hidden neurons and epochs that sequences need: it calls
`fit_transitions` with given sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone

from seqattractor import noise
from seqattractor._checks import NotEnoughMemoryError, check_count_or_auto, is_auto
from seqattractor._progress import print_line
from seqattractor.engine.problem import ProgressCallback
from seqattractor.sequences import Transitions
from seqattractor.sequences._transitions import lock_row

if TYPE_CHECKING:
    from seqattractor.networks.attractor import SequenceAttractor
    from seqattractor.networks.base import SequenceMemory
    from seqattractor.networks.sparse import SparseSequenceAttractor

LADDER = (25, 50, 100, 200, 400, 800, 1600, 3200)
MORE_EPOCHS = 10  # times as many, where the hidden neurons have errors left
PATIENCE = 2  # sizes to try beyond one, if none of them does better
ENOUGH = 0.9  # of the cues
CUES = 20  # in the test of recall
FLIPS = 0.1  # of the units of a cue
HORIZON = 20  # steps over which recall is judged
# field updates of one size at most, if every neuron errs at every transition of every epoch: some
# minutes
MOST_WORK = 2e13
BETTER = 0.9  # times as many wrong units as before, or fewer, are worth more neurons
USEFUL = 0.8  # times as many hidden errors, or fewer, are worth ten times the epochs

_Net = TypeVar("_Net", "SequenceAttractor", "SparseSequenceAttractor")


@dataclass(frozen=True)
class Attempt:
    """One size that was tried, and how it did."""

    network: str
    """The class."""
    n_hidden: int
    order: int
    epochs: int
    converged: bool
    """Whether no error was left that learning counts."""
    hidden_errors: int
    """Updates of hidden neurons in the last epoch, where these can come to an end."""
    wrong_units: int
    """Over all transitions."""
    score: float
    """The fraction of transitions without a wrong unit."""
    recalled: int
    recalled_one: int
    cues: int
    """Of so many cues with a tenth of their units flipped, or with one flipped unit, so many made
    it lock on to the sequence.
    """
    cut_short: bool = False
    """Whether more epochs or neurons were left out after this one because they would take too much
    work or memory.
    """

    @property
    def merit(self) -> tuple[float, bool, int, int]:
        """The measures by which attempts are compared, the most important first."""
        return self.score, self.converged, self.recalled, self.recalled_one

    @property
    def enough(self) -> bool:
        """Whether everything is stored with its margin, and nearly every noisy cue brings it
        back.
        """
        return self.converged and self.score == 1.0 and self.recalled >= ENOUGH * self.cues

    def describe(self) -> str:
        """Return what was tried and how it went."""
        context = f", a context of {self.order} patterns" if self.order > 1 else ""
        recall = (
            f"{self.recalled} of {self.cues} noisy cues recalled"
            if self.score == 1
            else "not stored"
        )
        if self.score == 1 and self.recalled < ENOUGH * self.cues:
            one = "" if self.recalled else f", {self.recalled_one} with one flip"
            recall += f" ({ceil(ENOUGH * self.cues)} are asked for){one}"
        if self.score == 1 and not self.converged:
            updates = (
                f"{self.hidden_errors} updates of hidden neurons"
                if self.hidden_errors
                else "updates of visible neurons"
            )
            recall += f", but not all margins are reached ({updates} in the last epoch)"
        sparse = "sparse, " if self.network == "SparseSequenceAttractor" else ""
        tried = f"{sparse}{self.n_hidden} hidden neurons, {self.epochs} epochs{context}"
        return f"{tried}: {self.score:.1%} of the transitions, {recall}"


def fit_smallest(
    net: SequenceAttractor | SparseSequenceAttractor,
    transitions: Transitions,
    callback: ProgressCallback | None,
) -> tuple[int, int] | None:
    """Learn with ``n_hidden="auto"``: `net` takes over what the chosen network has learned; returns
    the errors left.
    """
    report = (lambda attempt: print_line(attempt.describe())) if net.verbose else None
    chosen, attempts = choose_hidden(net, transitions, report=report, callback=callback)
    for name, value in chosen._fitted().items():
        setattr(net, name, value)
    used: Any = chosen.random_state
    if isinstance(net.random_state, np.random.Generator):  # of which `clone` made a copy
        net.random_state.bit_generator.state = used.bit_generator.state
    # A sparse code with noise, or a margin that is missing somewhere, is no reason to warn if all
    # is stored.
    best = max(attempts, key=lambda one: one.merit)
    return None if best.score == 1 else (best.hidden_errors, best.wrong_units)


def check_size(net: SequenceAttractor | SparseSequenceAttractor) -> None:
    """Raise an error if the number of hidden neurons or epochs makes no sense."""
    check_count_or_auto(net.n_hidden, "n_hidden")
    check_count_or_auto(net.max_epochs, "max_epochs")


def given_size(net: SequenceAttractor | SparseSequenceAttractor) -> int:
    """Return M as the user gave it; a stream that has only begun cannot choose it."""
    if is_auto(net.n_hidden):
        raise ValueError(
            "n_hidden='auto' is chosen by fit, which sees all transitions at once; fit first, or "
            "begin partial_fit with a number of hidden neurons."
        )
    return int(net.n_hidden)


def choose_hidden(
    net: _Net,
    transitions: Transitions,
    *,
    report: Callable[[Attempt], Any] | None = None,
    callback: ProgressCallback | None = None,
) -> tuple[_Net, list[Attempt]]:
    """Return the smallest network that stores everything and recalls from noisy cues, else the
    best, and all attempts.

    Hidden neurons with errors left need more epochs, visible ones more hidden neurons. `net` is not
    changed; ``max_epochs`` is raised only if "auto"; where `callback` returns True, the search
    ends.
    """
    search = _Search(net, transitions, report, callback)
    usual = epochs = net._epoch_limit
    most = MORE_EPOCHS * usual if net.max_epochs == "auto" else usual
    for n_hidden in (size for size in LADDER if size >= net._fewest_hidden):
        if search.attempts and not search.affords(n_hidden, epochs):
            break
        try:
            attempt = search.learn_with(n_hidden, epochs)
            if (
                attempt.hidden_errors
                and epochs < most
                and not search.stopped
                and search.affords(n_hidden, most)
            ):
                longer = search.learn_with(n_hidden, most)
                # Further sizes need as many, unless they were of no use.
                epochs, most = (
                    (most, most)
                    if longer.hidden_errors <= USEFUL * attempt.hidden_errors
                    else (usual, usual)
                )
                attempt = longer
        except NotEnoughMemoryError:
            if not search.attempts:
                raise
            search.cut_short()
            break
        if search.stopped or attempt.enough or search.is_exhausted():
            break
    return search.chosen, search.attempts


class _Search:
    """The attempts so far, and the best network."""

    def __init__(
        self,
        net: Any,
        transitions: Transitions,
        report: Callable[[Attempt], Any] | None,
        callback: ProgressCallback | None,
    ) -> None:
        self.net, self.transitions, self.report, self.callback = net, transitions, report, callback
        self.attempts: list[Attempt] = []
        self.chosen: Any = net
        self.stopped = False

    def learn_with(self, n_hidden: int, epochs: int) -> Attempt:
        """Let a network of one size learn, and measure it."""
        trial = clone(self.net).set_params(n_hidden=n_hidden, max_epochs=epochs)
        trial.n_features_in_, trial.order_ = self.net.n_features_in_, self.net.order_
        if "_learner" in vars(self.net):
            trial._learner = self.net._learner  # a cluster
        left = trial.fit_transitions(
            self.transitions, None if self.callback is None else self._watch
        )
        attempt = self._measure(trial, left)
        if not self.attempts or attempt.merit > max(one.merit for one in self.attempts):
            self.chosen = trial
        self.attempts.append(attempt)
        if self.report is not None:
            self.report(attempt)
        return attempt

    def affords(self, n_hidden: int, epochs: int) -> bool:
        """Whether so many neurons may learn for so many epochs; work is counted, so that a seed
        gives the same on any machine.
        """
        n, N = self.transitions.targets.shape
        if n * n * (n_hidden + N) * epochs <= MOST_WORK:
            return True
        self.cut_short()
        return False

    def cut_short(self) -> None:
        """Record that something was left out after the last attempt."""
        self.attempts[-1] = replace(self.attempts[-1], cut_short=True)

    def _watch(self, epoch: int, hidden: int, visible: int) -> bool:
        """Pass progress on, and record whether it is to stop."""
        assert self.callback is not None
        self.stopped = self.stopped or bool(self.callback(epoch, hidden, visible))
        return self.stopped

    def _measure(
        self, net: SequenceAttractor | SparseSequenceAttractor, left: tuple[int, int]
    ) -> Attempt:
        """Measure what a network has learned."""
        wrong = net._wrong_units(self.transitions)
        score = float(np.mean(~wrong.any(axis=1)))
        one = 1 / net.n_features_in_
        recalled, recalled_one = (
            recalls_from_noise(net, self.transitions, flips=flips) if score == 1 else 0
            for flips in (FLIPS, one)
        )
        return Attempt(
            network=type(net).__name__,
            n_hidden=net.n_hidden_,
            order=net.order_,
            epochs=int(net.n_iter_),
            converged=not any(left),
            hidden_errors=net._hidden_left,
            wrong_units=int(wrong.sum()),
            score=score,
            recalled=recalled,
            recalled_one=recalled_one,
            cues=CUES,
        )

    def is_exhausted(self) -> bool:
        """Return whether the last sizes did no better than one before."""
        sizes = sorted({one.n_hidden for one in self.attempts})
        latest = sizes[-PATIENCE:]
        if len(sizes) <= PATIENCE:
            return False
        best = max(self.attempts, key=lambda one: one.merit)
        if best.score == 1.0:
            return best.n_hidden < latest[0]
        fewest = {
            M: min(one.wrong_units for one in self.attempts if one.n_hidden == M) for M in sizes
        }
        before = min(fewest[M] for M in sizes[:-PATIENCE])
        # With as many hidden neurons as transitions, V could make nearly any answer.
        return (
            sizes[-1] >= len(self.transitions.targets)
            and min(fewest[M] for M in latest) >= BETTER * before
        )


def recalls_from_noise(
    net: SequenceMemory,
    transitions: Transitions,
    *,
    flips: float = FLIPS,
    cues: int = CUES,
    rng: noise.Seed = 0,
) -> int:
    """Count the cues, with a share `flips` of units flipped, that lock on in 20 steps."""
    generator = noise.as_generator(rng, "cues")
    order, truths, noisy = net.order_, [], []
    ends = np.cumsum(transitions.lengths)
    for _ in range(cues):
        s = int(generator.integers(len(ends)))
        first = int(ends[s]) - int(generator.integers(transitions.lengths[s])) - 1
        following = transitions.targets[first : int(ends[s])][:HORIZON]
        clean = transitions.inputs[first].reshape(order, -1)
        noisy.append(noise.flip(clean, round(flips * clean.shape[1]), generator))
        truths.append(np.concatenate([clean, following]))
    batch = np.stack(noisy)
    paths = net.recall(batch, max(map(len, truths)) - order)
    return sum(
        lock_row(path, truth, order) is not None for path, truth in zip(paths, truths, strict=True)
    )
