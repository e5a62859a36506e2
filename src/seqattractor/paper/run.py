"""Run targets: their trials go through the one engine of `seqattractor.experiments` into one store."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path

from seqattractor.experiments._executors import Executor, Trials, in_this_process
from seqattractor.experiments._protocol import Point, Protocol, Trial, in_rounds
from seqattractor.experiments._run import Progress, run_trials
from seqattractor.experiments._store import Finished, Store
from seqattractor.paper.registry import get_target
from seqattractor.paper.target import Outcome, Request, Result, Target

Finish = Callable[[Target, Result, float], None]
"""Called as ``finish(target, result, seconds)``, with the seconds that the trials took."""

Bar = Callable[[str], Callable[[Progress], None]]
"""Called with the name of a target; gives what is called with its progress."""


def run_targets(
    names: Sequence[str],
    request: Request,
    path: Path,
    finish: Finish,
    *,
    executor: Executor = in_this_process,
    bar: Bar | None = None,
) -> None:
    """Run targets and hand over each result as soon as its last trial is there.

    Results depend on `request` alone, not on who does the trials. Every trial is committed to the store at `path` as it
    finishes: after an interruption the same call does only what is missing. Trials that other code did are done again.

    Parameters
    ----------
    names : sequence of str
    request : Request
    path : Path
        The store, a file; made with its folder if it does not exist.
    finish : callable
    executor : Executor
        Does the trials.
    bar : callable, optional
        Shows the progress of each target.
    """
    plans = [_Plan(get_target(name), request) for name in names]  # all first: data that cannot be read is seen before any work
    path.parent.mkdir(parents=True, exist_ok=True)
    with Store(path) as store:
        for plan in plans:
            plan.start(store, finish, bar)

        def watched(trials: Trials) -> Generator[list[Finished], None, None]:
            """Do trials as `executor` does; when it is asked for more, those that it gave are in the store."""
            with closing(executor(trials)) as batches:
                for batch in batches:
                    yield batch
                    for plan in plans:
                        plan.note(finished.trial for finished in batch)

        run_trials([trial for plan in plans for trial in plan.trials], store, watched, current=True)
        for plan in plans:
            plan.end()


class _Plan:
    """The trials of one target, and the outcomes of those that are done."""

    def __init__(self, target: Target, request: Request) -> None:
        self.target, self.request = target, request
        protocol = Protocol(target.experiment or target.name, f"seqattractor.paper.trials.{target.trial}")
        self.cells = [(Point(protocol, cell, request.seed), target.n_trials(request, cell)) for cell in target.cells(request)]
        self.trials = in_rounds(self.cells)
        self.missing = {trial.key: trial for trial in self.trials}
        self.outcomes: dict[tuple[str, int], Outcome] = {}
        self.seconds = 0.0
        self.show: Callable[[Progress], None] | None = None

    def start(self, store: Store, finish: Finish, bar: Bar | None) -> None:
        """Look up what is there already."""
        self.store, self.finish, self.bar = store, finish, bar
        self._look(self.trials)
        if not self.missing:
            self._tell()

    def note(self, trials: Iterable[Trial]) -> None:
        """Take note of trials that are in the store now, of this target or of others."""
        before = len(self.missing)
        self._look(trials)
        if len(self.missing) < before:
            self._tell()

    def end(self) -> None:
        """See that nothing is missing: another process may have done a part of it, or trials may have failed."""
        self.note(self.trials)
        for trial in self.missing.values():
            there = self.store.get(trial)
            problem = "nobody did it" if there is None else there.error or f"other code did it ({there.version})"
            raise OSError(
                f"{len(self.missing)} trials of {self.target.name} are missing; the first: {problem}. "
                "What is finished is kept: run the same command again."
            )

    def _look(self, trials: Iterable[Trial]) -> None:
        """Get those of some trials that are missing here and in the store now."""
        for trial in trials:
            finished = self.store.get(trial) if trial.key in self.missing else None
            if finished is not None and finished.by_this_code and finished.outcome is not None:
                del self.missing[trial.key]
                self.outcomes[trial.key] = finished.outcome
                self.seconds += finished.seconds

    def _tell(self) -> None:
        """Show the progress, and hand the result over when it is complete."""
        if self.bar is not None:
            self.show = self.show or self.bar(self.target.name)  # not before its first trial: a bar tells the speed from then on
            self.show(Progress(len(self.outcomes), 0, len(self.trials)))
        if not self.missing:
            cells = [(point.settings, [self.outcomes[point.key, k] for k in range(n)]) for point, n in self.cells]
            self.finish(self.target, self.target.result(self.request, cells), self.seconds)
