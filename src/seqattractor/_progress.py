"""Progress of long work: bars on a terminal and in a notebook, now and then a line elsewhere, nothing for programs."""

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

_SECONDS_BEFORE_LINES = 2.0  # of a fit: a short one is over before
_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BEFORE_SPEED = 1.0
_SECONDS_BETWEEN_DRAWINGS = 0.1  # in a notebook, where each one is a message to the browser

_Draw = Callable[[int, int | None, str, str], None]
"""Draws a bar, given how much is done, the total if it is known, a note to stand beside it, and all of that in words."""


@contextmanager
def trial_bars(*, quiet: bool = False) -> Iterator[Callable[[str], Callable[[Progress], None]]]:
    """Provide a function that makes a bar for trials under a title: done, failed, trials per second, time left.

    Where bars cannot be drawn, a line is printed every 10 s and at the end of each title.
    """
    with _bars(quiet=quiet) as begin:

        def bar(title: str) -> Callable[[Progress], None]:
            draw, line, pace = begin(title, None), _Lines(quiet or begin.draws, _SECONDS_BETWEEN_LINES), _Pace()

            def show(progress: Progress) -> None:
                now = time.monotonic()
                speed, over = pace(progress.done, now), progress.done == progress.total
                parts = [f"{speed:.3g} trials/s"] if speed else []
                parts += ["starting"] if pace.since is None and not over else []
                parts += [f"{progress.failed} failed"] if progress.failed else []
                note = ", ".join(parts)
                parts += [f"about {(progress.total - progress.done) / speed:.0f} s left"] if speed else []
                words = ", ".join([f"{title}: {progress.done} of {progress.total} trials", *([] if over else parts)])
                draw(progress.done, progress.total, note, words)
                line(words, now, last=over)

            return show

        yield bar


class _Pace:
    """Trials per second, counted from the end of the first one, so without the start of workers.

    Trials of an earlier run do not count. The speed is given only after a second: workers that start together end their first
    trials together.
    """

    def __init__(self) -> None:
        self.before: int | None = None
        self.since: tuple[int, float] | None = None

    def __call__(self, done: int, now: float) -> float | None:
        """Return the speed at a time at which so many trials are done, or None if it is not known yet."""
        if self.before is None:
            self.before = done
        if self.since is None:
            self.since = (done, now) if done > self.before else None
            return None
        seconds = now - self.since[1]
        return (done - self.since[0]) / seconds if done > self.since[0] and seconds >= _SECONDS_BEFORE_SPEED else None


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

    Where bars cannot be drawn, a line is printed after 2 s, then every 10 s, and at the end if it `stays`.
    """
    with _bars(quiet=quiet, transient=not stays) as begin:
        draw, line = begin("learning, epoch", most), _Lines(quiet or begin.draws)

        def show(epoch: int, hidden: int, visible: int) -> None:
            note = f"{hidden} hidden, {visible} visible errors"
            words = f"learning: epoch {epoch}, {note}"
            draw(epoch, most if hidden or visible else epoch, note, words)  # without errors there is nothing left to do
            line(words, time.monotonic())

        yield show
        if stays:
            line.end()


@contextmanager
def part_progress(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Provide a function that shows which part of a long job is being done; on a terminal it disappears at the end.

    Where there is no terminal, a part is named if it begins more than 2 s after the start and 10 s after the last line.
    """
    from rich.console import Console

    console = Console(stderr=True, quiet=quiet)
    line = _Lines(quiet or console.is_terminal)
    with console.status("") as status:

        def show(part: str) -> None:
            status.update(f"{part} ...")
            line(f"{part} ...", time.monotonic())

        yield show


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, whose output is a page."""
    ipython = sys.modules.get("IPython")  # without it there is no notebook, and it takes a while to import
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


def say_line(words: str) -> None:
    """Print a line about progress: to standard error, which a notebook would show as if something had gone wrong."""
    print(words, file=sys.stdout if in_notebook() else sys.stderr)


class _Lines:
    """Lines where no bar can be drawn: one after a while, then at most one every 10 s."""

    def __init__(self, quiet: bool, first: float = _SECONDS_BEFORE_LINES) -> None:
        self.quiet, self.due = quiet, time.monotonic() + first
        self.words = self.printed = ""

    def __call__(self, words: str, now: float, *, last: bool = False) -> None:
        """Print a line if one is due, or if it is the last one."""
        self.words = words
        if last or now > self.due:
            self.due = now + _SECONDS_BETWEEN_LINES
            self.end()

    def end(self) -> None:
        """Print the last line, unless it is printed already."""
        if not self.quiet and self.words != self.printed:
            self.printed = self.words
            say_line(self.words)


class _Bars:
    """Begins bars, none of which can be seen."""

    draws = False

    def __call__(self, title: str, total: int | None) -> _Draw:
        """Begin a bar; without a total nobody knows how long it will take."""
        return lambda done, total, note, words: None


@contextmanager
def _bars(*, quiet: bool, transient: bool = False) -> Iterator[_Bars]:
    """Provide bars in a notebook or on standard error, drawn only where they can be seen."""
    if quiet:
        yield _Bars()
        return
    if in_notebook():
        page = _NotebookBars()
        try:
            yield page
        finally:
            page.draw()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Bars()
        return
    note = TextColumn("{task.fields[note]}")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), note, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=transient, speed_estimate_period=300) as bars:
        yield _TerminalBars(bars)


class _TerminalBars(_Bars):
    """Bars of rich."""

    draws = True

    def __init__(self, bars: Any) -> None:
        self.bars = bars

    def __call__(self, title: str, total: int | None) -> _Draw:
        """Begin a bar; what is done when it is first drawn does not count for the time left."""
        task, begun = self.bars.add_task(title, total=total, note=""), False

        def draw(done: int, total: int | None, note: str, words: str) -> None:
            nonlocal begun
            if not begun:
                begun = True
                self.bars.reset(task, total=total, completed=done)
            self.bars.update(task, completed=done, total=total, note=note)

        return draw


class _NotebookBars(_Bars):
    """Bars of HTML, one piece of output that is replaced as they grow: it needs no widgets, and stays in the saved notebook."""

    draws = True

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.output: Any = None
        self.drawn = 0.0

    def __call__(self, title: str, total: int | None) -> _Draw:
        """Begin a bar."""
        number = len(self.lines)
        self.lines.append(("<progress></progress>", title))

        def draw(done: int, total: int | None, note: str, words: str) -> None:
            size = "" if total is None else f' value="{done}" max="{max(total, 1)}"'
            self.lines[number] = f"<progress{size}></progress>", words
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
