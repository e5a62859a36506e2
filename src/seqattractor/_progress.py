"""Progress of long work: bars on a terminal and in a notebook, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from seqattractor._checks import check_flag

if TYPE_CHECKING:
    from seqattractor.study.run import Progress

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_DRAWINGS = 0.1  # in a notebook, where each one is a message to the browser

_Draw = Callable[[int, int | None, str], None]
"""Draws a bar, given how much is done, the total if it is known, and a note to stand beside it."""


@contextmanager
def trial_progress(title: str, *, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Provide a function that shows the progress of trials: a bar with the trials done and failed
    and the time left.

    Where bars cannot be drawn, a line is printed every 10 s and at the end.
    """
    with _bar(title, "trials", quiet=quiet) as draw:

        def show(progress: Progress) -> None:
            draw(
                progress.done,
                progress.total,
                f"{progress.failed} failed" if progress.failed else "",
            )

        yield show


@contextmanager
def also_shown(
    title: str, progress: Callable[[Progress], None] | None, verbose: bool
) -> Iterator[Callable[[Progress], None] | None]:
    """Provide a function that calls the user's own and, with `verbose`, shows a bar; None if there
    is nothing to do.
    """
    if not check_flag(verbose, "verbose"):
        yield progress
        return
    with trial_progress(title) as show:

        def both(news: Progress) -> None:
            show(news)
            if progress is not None:
                progress(news)

        yield both


@contextmanager
def epoch_progress(
    most: int | None, *, quiet: bool = False, stays: bool = False
) -> Iterator[Callable[[int, int, int], None]]:
    """Provide a callback for `fit` that shows epochs and errors; in the end the bar disappears or
    `stays`.

    Where bars cannot be drawn, a line is printed every 10 s, and at the end if it `stays`.
    """
    with _bar("learning", "epochs", quiet=quiet, transient=not stays) as draw:

        def show(epoch: int, hidden: int, visible: int) -> None:
            # Without errors nothing is left to do.
            draw(
                epoch,
                most if hidden or visible else epoch,
                f"{hidden} hidden, {visible} visible errors",
            )

        yield show


@contextmanager
def count_progress(
    title: str, unit: str, *, quiet: bool = False
) -> Iterator[Callable[[int, int], None]]:
    """Provide a function that draws a bar, called with how much is done and the total."""
    with _bar(title, unit, quiet=quiet) as draw:
        yield lambda done, total: draw(done, total, "")


@contextmanager
def part_progress(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Provide a function that shows which part of a long job is being done; on a terminal it
    disappears at the end.

    Where there is no terminal, a part is named if it begins 10 s or more after the last line.
    """
    from rich.console import Console

    console = Console(stderr=True, quiet=quiet)
    line = _Line(quiet or console.is_terminal)
    with console.status("") as status:

        def show(part: str) -> None:
            status.update(f"{part} ...")
            line(f"{part} ...")

        yield show


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, whose output is a page."""
    ipython = sys.modules.get(
        "IPython"
    )  # without it there is no notebook, and it takes a while to import
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


def print_line(words: str) -> None:
    """Print a line about progress: to standard error, which a notebook would show as if something
    had gone wrong.
    """
    print(words, file=sys.stdout if in_notebook() else sys.stderr)


class _Line:
    """A line where no bar can be drawn, at most every 10 s."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet, self.due = quiet, time.monotonic() + _SECONDS_BETWEEN_LINES

    def __call__(self, words: str, *, last: bool = False) -> None:
        """Print a line if one is due, or if it is the last one."""
        now = time.monotonic()
        if not self.quiet and (last or now >= self.due):
            self.due = now + _SECONDS_BETWEEN_LINES
            print_line(words)


@contextmanager
def _bar(title: str, unit: str, *, quiet: bool, transient: bool = False) -> Iterator[_Draw]:
    """Provide a function that draws a bar; without a terminal, the last line of a `transient` one
    is not printed.
    """
    if quiet:
        yield lambda done, total, note: None
        return
    if in_notebook():
        page = _NotebookBar(title, unit)
        yield page.update
        page.draw()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if console.is_terminal:
        note = TextColumn("{task.fields[note]}")
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            note,
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, transient=transient) as bars:
            yield _terminal_bar(bars, title)
        return
    line = _Line()
    yield lambda done, total, note: line(
        _words(title, unit, done, total, note), last=not transient and done == total
    )


def _terminal_bar(bars: Any, title: str) -> _Draw:
    """Begin a bar of rich; trials of an earlier run do not count for the time left."""
    task = bars.add_task(title, total=None, note="", start=False)

    def draw(done: int, total: int | None, note: str) -> None:
        if not bars.tasks[task].started:
            bars.reset(task, total=total, completed=done)
        bars.update(task, completed=done, total=total, note=note)

    return draw


def _words(title: str, unit: str, done: int, total: int | None, note: str) -> str:
    """Return what a bar shows in words."""
    of = "" if total is None else f" of {total}"
    return f"{title}: {done}{of} {unit}" + (f", {note}" if note else "")


class _NotebookBar:
    """A bar of HTML that is replaced as it grows; it needs no widgets and stays in the saved
    notebook.
    """

    def __init__(self, title: str, unit: str) -> None:
        self.title, self.unit = title, unit
        self.bar, self.words = "<progress></progress>", title
        self.output: Any = None
        self.drawn = 0.0

    def update(self, done: int, total: int | None, note: str) -> None:
        """Change the bar, and draw it now and then."""
        size = "" if total is None else f' value="{done}" max="{max(total, 1)}"'
        self.bar, self.words = (
            f"<progress{size}></progress>",
            _words(self.title, self.unit, done, total, note),
        )
        if time.monotonic() - self.drawn > _SECONDS_BETWEEN_DRAWINGS:
            self.draw()

    def draw(self) -> None:
        """Replace what was shown before."""
        self.drawn = time.monotonic()
        content = {
            "text/html": f"<div>{self.bar} {escape(self.words)}</div>",
            "text/plain": self.words,
        }
        if self.output is None:
            self.output = import_module("IPython.display").display(
                content, raw=True, display_id=True
            )
        else:
            self.output.update(content, raw=True)
