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
def trial_bars(*, quiet: bool = False) -> Iterator[Callable[[str], Callable[[Progress], None]]]:
    """Provide a function that makes a bar for trials under a title: done, failed, time left.

    Where bars cannot be drawn, a line is printed every 10 s and at the end of each title.
    """
    with _bars(quiet=quiet) as begin:

        def bar(title: str) -> Callable[[Progress], None]:
            draw = begin(title, "trials")

            def show(progress: Progress) -> None:
                draw(progress.done, progress.total, f"{progress.failed} failed" if progress.failed else "")

            return show

        yield bar


@contextmanager
def trial_progress(title: str, *, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Provide a function that shows the progress of trials under one title, as `trial_bars` does."""
    with trial_bars(quiet=quiet) as bar:
        yield bar(title)


@contextmanager
def also_shown(
    title: str, progress: Callable[[Progress], None] | None, verbose: bool
) -> Iterator[Callable[[Progress], None] | None]:
    """Provide a function that calls the user's own and, with `verbose`, shows a bar; None if there is nothing to do."""
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
def epoch_progress(most: int | None, *, quiet: bool = False, stays: bool = False) -> Iterator[Callable[[int, int, int], None]]:
    """Provide a callback for `fit` that shows epochs and errors; in the end the bar disappears or `stays`.

    Where bars cannot be drawn, a line is printed every 10 s, and at the end if it `stays`.
    """
    with _bars(quiet=quiet, transient=not stays) as begin:
        draw = begin("learning", "epochs")

        def show(epoch: int, hidden: int, visible: int) -> None:
            # Without errors nothing is left to do.
            draw(epoch, most if hidden or visible else epoch, f"{hidden} hidden, {visible} visible errors")

        yield show


@contextmanager
def part_progress(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Provide a function that shows which part of a long job is being done; on a terminal it disappears at the end.

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
    ipython = sys.modules.get("IPython")  # without it there is no notebook, and it takes a while to import
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


def print_line(words: str) -> None:
    """Print a line about progress: to standard error, which a notebook would show as if something had gone wrong."""
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
def _bars(*, quiet: bool, transient: bool = False) -> Iterator[Callable[[str, str], _Draw]]:
    """Provide a function that begins a bar, given its title and what it counts."""
    if quiet:
        yield lambda title, unit: lambda done, total, note: None
        return
    if in_notebook():
        page = _NotebookBars()
        yield page.begin
        page.draw()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if console.is_terminal:
        note = TextColumn("{task.fields[note]}")
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), note, TimeRemainingColumn())
        with Progress(*columns, console=console, transient=transient) as bars:
            yield lambda title, unit: _terminal_bar(bars, title)
        return
    yield lambda title, unit: _lines(title, unit, ends=not transient)


def _terminal_bar(bars: Any, title: str) -> _Draw:
    """Begin a bar of rich; trials of an earlier run do not count for the time left."""
    task = bars.add_task(title, total=None, note="", start=False)

    def draw(done: int, total: int | None, note: str) -> None:
        if not bars.tasks[task].started:
            bars.reset(task, total=total, completed=done)
        bars.update(task, completed=done, total=total, note=note)

    return draw


def _lines(title: str, unit: str, *, ends: bool) -> _Draw:
    """Begin lines under a title; `ends` says whether one is printed when all is done."""
    line = _Line()
    return lambda done, total, note: line(_words(title, unit, done, total, note), last=ends and done == total)


def _words(title: str, unit: str, done: int, total: int | None, note: str) -> str:
    """Return what a bar shows in words."""
    of = "" if total is None else f" of {total}"
    return f"{title}: {done}{of} {unit}" + (f", {note}" if note else "")


class _NotebookBars:
    """Bars of HTML, one piece of output that is replaced as they grow.

    It needs no widgets, and stays in the saved notebook.
    """

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.output: Any = None
        self.drawn = 0.0

    def begin(self, title: str, unit: str) -> _Draw:
        """Begin a bar."""
        number = len(self.lines)
        self.lines.append(("<progress></progress>", title))

        def draw(done: int, total: int | None, note: str) -> None:
            size = "" if total is None else f' value="{done}" max="{max(total, 1)}"'
            self.lines[number] = f"<progress{size}></progress>", _words(title, unit, done, total, note)
            if time.monotonic() - self.drawn > _SECONDS_BETWEEN_DRAWINGS:
                self.draw()

        return draw

    def draw(self) -> None:
        """Replace what was shown before."""
        self.drawn = time.monotonic()
        page = "".join(f"<div>{bar} {escape(words)}</div>" for bar, words in self.lines)
        content = {"text/html": page, "text/plain": "\n".join(words for _, words in self.lines)}
        if self.output is None:
            self.output = import_module("IPython.display").display(content, raw=True, display_id=True)
        else:
            self.output.update(content, raw=True)
