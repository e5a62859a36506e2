"""The one progress display: bars on a terminal, now and then a line elsewhere, nothing where the output is for a program."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars

    from seqattractor.experiments._run import Progress

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BEFORE_SPEED = 1.0


@contextmanager
def trial_bars(*, quiet: bool = False) -> Iterator[Callable[[str], Callable[[Progress], None]]]:
    """Give a function that makes a bar for trials under a title: done, failed, trials per second, time left.

    Where there is no terminal, a line comes every 10 s and one at the end of each title.
    """
    with _bars(quiet=quiet) as bars:

        def bar(title: str) -> Callable[[Progress], None]:
            last_line, pace = time.monotonic(), _Pace()
            task = bars.add_task(title, total=None, note="")

            def show(progress: Progress) -> None:
                nonlocal last_line
                now = time.monotonic()
                if pace.before is None:
                    bars.reset(task, total=progress.total, completed=progress.done)
                speed, over = pace(progress.done, now), progress.done == progress.total
                parts = [f"{speed:.3g} trials/s"] if speed else []
                parts += ["starting, compiling if need be"] if pace.since is None and not over else []
                parts += [f"{progress.failed} failed"] if progress.failed else []
                bars.update(task, completed=progress.done, total=progress.total, note=", ".join(parts))
                if not bars.console.is_terminal and (over or now - last_line > _SECONDS_BETWEEN_LINES):
                    last_line = now
                    parts += [f"about {(progress.total - progress.done) / speed:.0f} s left"] if speed else []
                    words = [f"{title}: {progress.done} of {progress.total} trials", *([] if over else parts)]
                    bars.console.print(", ".join(words), highlight=False)

            return show

        yield bar


class _Pace:
    """Trials per second, counted from the end of the first one: before it there is the start of workers and compiling.

    Trials of an earlier run count as done, but not for the speed. It is told only after a while, since workers that start
    together end their first trials together.
    """

    def __init__(self) -> None:
        self.before: int | None = None
        self.since: tuple[int, float] | None = None

    def __call__(self, done: int, now: float) -> float | None:
        """Give the speed at a time at which so many are done, or None if it cannot be told yet."""
        if self.before is None:
            self.before = done
        if self.since is None:
            self.since = (done, now) if done > self.before else None
            return None
        seconds = now - self.since[1]
        return (done - self.since[0]) / seconds if done > self.since[0] and seconds >= _SECONDS_BEFORE_SPEED else None


@contextmanager
def trial_progress(title: str, *, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Give a function that shows how far the trials under one title are, as `trial_bars` does."""
    with trial_bars(quiet=quiet) as bar:
        yield bar(title)


@contextmanager
def epoch_progress(most: int | None, *, quiet: bool = False) -> Iterator[Callable[[int, int, int], None]]:
    """Give a callback for `fit` that shows epochs and errors while a network learns; the bar disappears when it is done.

    Where there is no terminal, a line comes every 10 s.
    """
    with _bars(quiet=quiet, transient=True) as bars:
        task = bars.add_task("learning", total=most, note="")
        line = _Lines(bars.console)

        def show(epoch: int, hidden: int, visible: int) -> None:
            note = f"{hidden} hidden, {visible} visible errors"
            bars.update(task, completed=epoch, note=note)
            line(f"learning: epoch {epoch}, {note}")

        yield show


@contextmanager
def part_progress(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Give a function that shows which part of a long job is being done; on a terminal it disappears at the end.

    Where there is no terminal, a part is named if it begins more than 10 s after the last line.
    """
    from rich.console import Console

    console = Console(stderr=True, quiet=quiet)
    line = _Lines(console)
    with console.status("") as status:

        def show(part: str) -> None:
            status.update(f"{part} ...")
            line(f"{part} ...")

        yield show


class _Lines:
    """Lines where there is no terminal for a bar: at most one every 10 s."""

    def __init__(self, console: Console) -> None:
        self.console, self.last = console, time.monotonic()

    def __call__(self, words: str) -> None:
        """Print a line, if it is time for one."""
        now = time.monotonic()
        if not self.console.is_terminal and now - self.last > _SECONDS_BETWEEN_LINES:
            self.last = now
            self.console.print(words, highlight=False, soft_wrap=True)


@contextmanager
def _bars(*, quiet: bool, transient: bool = False) -> Iterator[Bars]:
    """Bars on standard error, drawn only on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, quiet=quiet)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    hidden = quiet or not console.is_terminal
    bars = Progress(*columns, console=console, disable=hidden, transient=transient, speed_estimate_period=300)
    with nullcontext() if hidden else bars:  # before version 15 rich ends also what is hidden with an empty line
        yield bars
