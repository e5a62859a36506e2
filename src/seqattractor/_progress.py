"""The one progress display: bars on a terminal and in a notebook, now and then a line elsewhere, nothing for a program."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from seqattractor._checks import check_flag

if TYPE_CHECKING:
    from rich.progress import Progress as RichBars
    from rich.progress import TaskID

    from seqattractor.study.run import Progress

_SECONDS_BEFORE_LINES = 2.0  # of a fit: a short one is over before
_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BEFORE_SPEED = 1.0
_SECONDS_BETWEEN_DRAWINGS = 0.1  # of a notebook, where each one is a message to the browser


class _Bars(Protocol):
    """Something with a bar for each title."""

    draws: bool
    """Whether bars can be seen; if not, lines are printed now and then."""

    def add(self, title: str, total: int | None) -> int:
        """Begin a bar, and give its number; without a total nobody knows how long it will take."""

    def set(self, bar: int, done: int, total: int | None, note: str) -> None:
        """Say how far it is."""


@contextmanager
def trial_bars(*, quiet: bool = False) -> Iterator[Callable[[str], Callable[[Progress], None]]]:
    """Give a function that makes a bar for trials under a title: done, failed, trials per second, time left.

    Where bars cannot be drawn, a line comes every 10 s and one at the end of each title.
    """
    with _bars(quiet=quiet) as bars:

        def bar(title: str) -> Callable[[Progress], None]:
            last_line, pace = time.monotonic(), _Pace()
            number = bars.add(title, None)

            def show(progress: Progress) -> None:
                nonlocal last_line
                now = time.monotonic()
                speed, over = pace(progress.done, now), progress.done == progress.total
                parts = [f"{speed:.3g} trials/s"] if speed else []
                parts += ["starting"] if pace.since is None and not over else []
                parts += [f"{progress.failed} failed"] if progress.failed else []
                bars.set(number, progress.done, progress.total, ", ".join(parts))
                if not quiet and not bars.draws and (over or now - last_line > _SECONDS_BETWEEN_LINES):
                    last_line = now
                    parts += [f"about {(progress.total - progress.done) / speed:.0f} s left"] if speed else []
                    say_line(", ".join([f"{title}: {progress.done} of {progress.total} trials", *([] if over else parts)]))

            return show

        yield bar


class _Pace:
    """Trials per second, counted from the end of the first one: before it there is the start of workers.

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
def also_shown(
    title: str, progress: Callable[[Progress], None] | None, verbose: bool
) -> Iterator[Callable[[Progress], None] | None]:
    """Give a function that calls the user's own and, if it is wanted (`verbose`), shows a bar; None if there is nothing to do."""
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
    """Give a callback for `fit` that shows epochs and errors while a network learns; in the end the bar disappears or `stays`.

    Where bars cannot be drawn, a line comes after 2 s, then every 10 s, and at the end if it `stays`.
    """
    with _bars(quiet=quiet, transient=not stays) as bars:
        number, line = bars.add("learning, epoch", most), _Lines(quiet or bars.draws)

        def show(epoch: int, hidden: int, visible: int) -> None:
            note = f"{hidden} hidden, {visible} visible errors"
            bars.set(number, epoch, most if hidden or visible else epoch, note)  # without errors there is nothing left to do
            line(f"learning: epoch {epoch}, {note}")

        yield show
        if stays:
            line.end()


@contextmanager
def part_progress(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Give a function that shows which part of a long job is being done; on a terminal it disappears at the end.

    Where there is no terminal, a part is named if it begins more than 2 s after the start and 10 s after the last line.
    """
    from rich.console import Console

    console = Console(stderr=True, quiet=quiet)
    line = _Lines(quiet or console.is_terminal)
    with console.status("") as status:

        def show(part: str) -> None:
            status.update(f"{part} ...")
            line(f"{part} ...")

        yield show


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, whose output is a page."""
    ipython = sys.modules.get("IPython")  # without it there is no notebook, and it takes a while to import
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


def say_line(words: str) -> None:
    """Print a line about progress: to standard error, which a notebook would show as if something had gone wrong."""
    print(words, file=sys.stdout if in_notebook() else sys.stderr)


class _Lines:
    """Lines where no bar can be drawn: one after 2 s, then at most one every 10 s."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.due = quiet, time.monotonic() + _SECONDS_BEFORE_LINES
        self.words = self.printed = ""

    def __call__(self, words: str) -> None:
        """Print a line, if it is time for one."""
        self.words = words
        if time.monotonic() > self.due:
            self.due = time.monotonic() + _SECONDS_BETWEEN_LINES
            self.end()

    def end(self) -> None:
        """Print the last line, unless it is printed already."""
        if not self.quiet and self.words != self.printed:
            self.printed = self.words
            say_line(self.words)


@contextmanager
def _bars(*, quiet: bool, transient: bool = False) -> Iterator[_Bars]:
    """Bars in a notebook or on standard error, drawn only where they can be seen."""
    if in_notebook() and not quiet:
        shown = _NotebookBars()
        try:
            yield shown
        finally:
            shown.draw()
        return
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
        yield _TerminalBars(bars, draws=not hidden)


class _TerminalBars:
    """Bars of rich."""

    def __init__(self, bars: RichBars, *, draws: bool) -> None:
        self._bars, self.draws = bars, draws
        self._numbers: list[TaskID] = []
        self._begun: set[int] = set()

    def add(self, title: str, total: int | None) -> int:
        """Begin a bar."""
        self._numbers.append(self._bars.add_task(title, total=total, note=""))
        return len(self._numbers) - 1

    def set(self, bar: int, done: int, total: int | None, note: str) -> None:
        """Say how far it is; what was done before the first time does not count for the time left."""
        if bar not in self._begun:
            self._begun.add(bar)
            self._bars.reset(self._numbers[bar], total=total, completed=done)
        self._bars.update(self._numbers[bar], completed=done, total=total, note=note)


class _NotebookBars:
    """Bars of HTML, one piece of output that is replaced as they grow: it needs no widgets, and stays in the saved notebook."""

    draws = True

    def __init__(self) -> None:
        self._bars: list[_NotebookBar] = []
        self._output: Any = None
        self._drawn = 0.0

    def add(self, title: str, total: int | None) -> int:
        """Begin a bar."""
        self._bars.append(_NotebookBar(title, total))
        return len(self._bars) - 1

    def set(self, bar: int, done: int, total: int | None, note: str) -> None:
        """Say how far it is."""
        self._bars[bar].set(done, total, note)
        if time.monotonic() - self._drawn > _SECONDS_BETWEEN_DRAWINGS:
            self.draw()

    def draw(self) -> None:
        """Replace what was shown before."""
        display: Any = import_module("IPython.display").display  # there, or this were no notebook

        self._drawn = time.monotonic()
        content = {
            "text/html": "".join(bar.as_html() for bar in self._bars),
            "text/plain": "\n".join(f"{bar.title} {bar.words()}" for bar in self._bars),
        }
        if self._output is None:
            self._output = display(content, raw=True, display_id=True)
        else:
            self._output.update(content, raw=True)


@dataclass
class _NotebookBar:
    """One bar of a notebook."""

    title: str
    total: int | None
    done: int = 0
    note: str = ""
    begun: tuple[float, int] | None = None
    """When it was first told how far it is, and how far that was."""

    def set(self, done: int, total: int | None, note: str) -> None:
        """Take in how far it is."""
        self.done, self.total, self.note = done, total, note
        if self.begun is None:
            self.begun = time.monotonic(), done

    def words(self) -> str:
        """How far it is, and how long it may take."""
        count = f"{self.done}" if self.total is None else f"{self.done} of {self.total}"
        return ", ".join(part for part in (count, self.note, self._left()) if part)

    def _left(self) -> str:
        """The time left at the speed so far, where that can be told."""
        if self.begun is None or self.total is None or not self.begun[1] < self.done < self.total:
            return ""
        since, first = self.begun
        seconds = (time.monotonic() - since) * (self.total - self.done) / (self.done - first)
        return f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left"

    def as_html(self) -> str:
        """The bar, in the colours of the page."""
        size = "" if self.total is None else f' value="{self.done}" max="{max(self.total, 1)}"'
        bar = f'<progress{size} style="width: 16em; vertical-align: middle"></progress>'
        return f"<div>{escape(self.title)} {bar} {escape(self.words())}</div>"
