"""`seqattractor compare`: all networks on one test, with the same sequences and cues."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from seqattractor.experiments._compare import Progress
    from seqattractor.experiments._comparison import Comparison
    from seqattractor.report.view import Table

__all__ = ["command"]

_PROTOCOLS = ("random", "noise", "recall-noise", "correlated", "multi", "digits", "walker")


@click.command(name="compare")
@click.option("--networks", metavar="LIST", help="Names with commas between; by default all, and those of --use.")
@click.option("--protocol", type=click.Choice(_PROTOCOLS), default="random", show_default=True, help="The test.")
@click.option("--values", metavar="LIST", help="Along the axis of the test, such as 20,50,80 for random or 5x10,10x10 for multi.")
@click.option("--trials", type=click.IntRange(min=1), help="At each value; by default 20, or 3 for digits and walker.")
@click.option("--hidden", type=click.IntRange(min=1), help="Hidden neurons; by default as many as the paper takes.")
@click.option("--use", "files", multiple=True, metavar="FILE.py", help="A Python file with a network of your own, to join in.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same results.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; all cores by default.")
@click.option("--timing", is_flag=True, help="Put seconds into the JSON, CSV and HTML, too; they differ from run to run.")
@click.option(
    "-o", "--out", type=click.Path(file_okay=False, path_type=Path), help="Write JSON, CSV, PNG and HTML into this folder."
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON instead of tables.")
def command(
    networks: str | None,
    protocol: str,
    values: str | None,
    trials: int | None,
    hidden: int | None,
    files: tuple[str, ...],
    seed: int,
    jobs: int | None,
    timing: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compare all sequence memories on one test, each with the same sequences and the same corrupted cues.

    The tests: random (success against the length T), noise (against flips of the cue), recall-noise (flips before every step),
    correlated (successive patterns alike), multi (number x length of sequences in one network), digits (moving digits), walker
    (a walking figure).

    Success is exact: a loop must appear whole and in order, an open sequence must follow its cue, without a wrong unit. Beside
    it stand the wrong units after one step, epochs until learning made no error, the numbers that a network keeps, whether it
    keeps the patterns themselves, whether it learns online and locally, and seconds.
    """
    from seqattractor.experiments._compare import compare, get_protocol

    test = get_protocol(protocol)
    with _bar(protocol, quiet=as_json) as progress:
        found = compare(
            protocol,
            None if networks is None else [name.strip() for name in networks.split(",") if name.strip()],
            values=None if values is None else [test.parse(text.strip()) for text in values.split(",")],
            trials=trials,
            n_hidden=hidden,
            seed=seed,
            jobs=jobs or os.cpu_count() or 1,
            files=files,
            progress=progress,
        )
    written: list[Path] = []
    if out is not None:
        from seqattractor.report.comparison_view import write_comparison

        written = write_comparison(found, out, timing=timing)
    if as_json:
        click.echo(found.to_json(timing=timing), nl=False)
        return
    _show(found)
    for path in written:
        click.echo(str(path))


def _show(found: Comparison) -> None:
    """Print the tables and the conclusion."""
    from rich.console import Console

    from seqattractor.experiments._conclusion import conclusion
    from seqattractor.report.comparison_view import comparison_tables

    console = Console()
    if not console.is_terminal:
        console = Console(width=20 + 14 * max(9, len(found.settings["values"])))
    for table in comparison_tables(found, timing=True):
        console.print(_rich(table))
        console.print()
    console.print(conclusion(found), highlight=False)


def _rich(table: Table) -> object:
    """A table for the terminal."""
    from rich import box
    from rich.table import Table as RichTable

    shown = RichTable(title=table.caption, title_justify="left", box=box.SIMPLE_HEAD)
    for k, column in enumerate(table.columns):
        shown.add_column(column, justify="left" if k == 0 else "right", no_wrap=k == 0)
    for row in table.rows:
        shown.add_row(*row)
    return shown


@contextmanager
def _bar(title: str, *, quiet: bool) -> Iterator[Progress]:
    """A bar with the time left, on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True, quiet=quiet)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        task = bars.add_task(f"compare {title}", total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
