"""`seqattractor compare`: all networks on one test, with the same sequences and cues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.cli.sweep import jobs_options, stopped
from seqattractor.experiments._comparison_tests import TESTS

if TYPE_CHECKING:
    from seqattractor.experiments._comparison import Comparison
    from seqattractor.report.page import Table

_FOLDER = click.Path(file_okay=False, path_type=Path)
EXAMPLES = """\b
Examples:
  seqattractor compare
  seqattractor compare --networks attractor,sparse,hebbian --values 20,50,80 --trials 10
  seqattractor compare --protocol noise --networks paper,rival -o comparison"""


@click.command(name="compare", epilog=EXAMPLES)
@click.option("--networks", metavar="LIST", help="Comma-separated names, families (paper, ours, rival, yardstick) or all.")
@click.option("--protocol", type=click.Choice(list(TESTS)), default="random", show_default=True, help="The test.")
@click.option("--values", metavar="LIST", help="Along the axis of the test, such as 20,50,80 for random or 5x10,10x10 for multi.")
@click.option("--trials", type=click.IntRange(min=1), help="At each value; by default 20, or 3 for digits and walker.")
@click.option("--hidden", "n_hidden", type=click.IntRange(min=1), help="Hidden neurons; by default as many as in the paper.")
@click.option("--use", "files", multiple=True, metavar="FILE.py", help="A Python file with a network of your own, to join in.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same results.")
@jobs_options
@click.option(
    "--study",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep trials in this file; the same command then continues where it stopped.",
)
@click.option("--timing", is_flag=True, help="Put seconds into the JSON, CSV and HTML, too; they differ from run to run.")
@click.option("-o", "--out", type=_FOLDER, help="Write JSON, CSV, PNG, HTML and trials.db into this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON instead of tables.")
def command(
    protocol: str,
    networks: str | None,
    values: str | None,
    study: Path | None,
    timing: bool,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare sequence memories on one test, each with the same sequences and the same corrupted cues.

    The tests: random (success against the length T), noise (against flips of the cue), recall-noise (flips before every step),
    correlated (successive patterns alike), multi (number x length of sequences in one network), context (patterns that occur
    twice, with different successors), digits (moving digits), walker (a walking figure).

    Where --networks is not given, the classical and quick networks take part, and those of --use. `--networks all` takes every
    network there is, of which some (innate, bcpnn, rnn) take half a minute and more for a trial; `--networks rival` takes those
    of other authors.

    Success is exact: a loop must appear whole and in order, in any phase (section 6.2), and recall of an open sequence must lock
    on at its first step: every frame after the cue right and in phase. Beside it stand the wrong units after one step, epochs
    until learning made no error, its parameters, whether it keeps the patterns themselves, whether it learns online and locally,
    in how many trials the loop was in phase with its cue, and seconds.

    Every trial is kept as it finishes, in OUT/trials.db or in the file of --study: the same command continues where it stopped.
    """
    from seqattractor.cli.progress import trial_progress
    from seqattractor.report.comparison_view import write_comparison
    from seqattractor.tasks.compare import compare

    if out is not None and study is None:
        out.mkdir(parents=True, exist_ok=True)
        study = out / "trials.db"
    chosen = None if networks is None else [name.strip() for name in networks.split(",") if name.strip()]
    along = None if values is None else [TESTS[protocol].parse(text.strip()) for text in values.split(",")]
    with stopped(study), trial_progress(f"compare {protocol}", quiet=as_json) as progress:
        comparison = compare(protocol, chosen, values=along, study=study, progress=progress, **options)
    written = write_comparison(comparison, out, timing=timing) if out is not None else []
    if as_json:
        click.echo(comparison.to_json(timing=timing), nl=False)
        return
    _show(comparison)
    for path in written:
        click.echo(str(path))


def _show(comparison: Comparison) -> None:
    """Print the tables and the conclusion."""
    from rich.console import Console

    from seqattractor.report.comparison_view import comparison_tables

    console = Console()
    if not console.is_terminal:
        console = Console(width=20 + 14 * max(9, len(comparison.settings["values"])))
    for table in comparison_tables(comparison, timing=True):
        console.print(_rich(table))
        console.print()
    console.print(comparison.describe(), highlight=False)


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
