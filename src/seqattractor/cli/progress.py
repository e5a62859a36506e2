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


@contextmanager
def trial_bars(*, quiet: bool = False) -> Iterator[Callable[[str], Callable[[Progress], None]]]:
    """Give a function that makes a bar for trials under a title: done, failed, trials per second, time left.

    Where there is no terminal, a line comes every 10 s and one at the end of each title.
    """
    with _bars(quiet=quiet) as bars:

        def bar(title: str) -> Callable[[Progress], None]:
            started = last_line = time.monotonic()
            first: int | None = None
            task = bars.add_task(title, total=None, note="")

            def show(progress: Progress) -> None:
                nonlocal first, last_line
                now = time.monotonic()
                if first is None:  # trials of an earlier run count as done, but not for the speed
                    first = progress.done
                    bars.reset(task, total=progress.total, completed=progress.done)
                speed = (progress.done - first) / max(now - started, 1e-9)
                note = f"{speed:.3g} trials/s" if speed else ""
                if progress.failed:
                    note += f", {progress.failed} failed"
                bars.update(task, completed=progress.done, total=progress.total, note=note)
                over = progress.done == progress.total
                if not bars.console.is_terminal and (over or now - last_line > _SECONDS_BETWEEN_LINES):
                    last_line = now
                    left = f", {note}, about {(progress.total - progress.done) / speed:.0f} s left" if speed and not over else ""
                    bars.console.print(f"{title}: {progress.done} of {progress.total} trials{left}", highlight=False)

            return show

        yield bar


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
