"""A bar for many trials: done, failed, trials per second, time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from seqattractor.experiments._run import Progress

__all__ = ["trial_progress"]


@contextmanager
def trial_progress(title: str, *, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Show how far a sweep is: a bar on a terminal, elsewhere a line every 10 s, nothing if `quiet`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True, quiet=quiet)
    started = last_line = time.monotonic()
    first: int | None = None
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, disable=not console.is_terminal, speed_estimate_period=300) as bars:
        task = bars.add_task(title, total=None, speed="")

        def show(progress: Progress) -> None:
            nonlocal first, last_line
            if first is None:  # trials of an earlier run count as done, but not for the speed
                first = progress.done
                bars.reset(task, total=progress.total, completed=progress.done)
            seconds = time.monotonic() - started
            speed = (progress.done - first) / max(seconds, 1e-9)
            told = f"{speed:.3g} trials/s" if progress.done > first else ""
            if progress.failed:
                told += f", {progress.failed} failed"
            bars.update(task, completed=progress.done, total=progress.total, speed=told)
            if not console.is_terminal and time.monotonic() - last_line > 10:
                last_line = time.monotonic()
                left = f", {told}, about {(progress.total - progress.done) / speed:.0f} s left" if speed else ""
                console.print(f"{title}: {progress.done} of {progress.total} trials{left}")

        yield show
