"""`seqattractor compare`: all networks on one test, with the same sequences and cues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.cli.loading import (
    FILE,
    PATH,
    as_options,
    check_folder,
    loading_options,
    parse_list,
    parse_value,
)
from seqattractor.cli.sweep import jobs_options, stopped
from seqattractor.study.comparison_trial import TESTS

if TYPE_CHECKING:
    from seqattractor.report.page import Table
    from seqattractor.sequences import Sequences
    from seqattractor.study.comparison import Comparison

EXAMPLES = """\b
Examples:
  seqattractor compare --networks attractor,hebbian,dense --n 200 --t 20,40,80 --flips 10% \
-o length.pdf
  seqattractor compare --networks attractor,sparse --t 70 --m 100,200,400 -o hidden.svg \
-o hidden.csv
  seqattractor compare --data film.gif --size 32 --flips 0,5%,10%,20% -o film.pdf -o film.png
  seqattractor compare --use mine.py --networks attractor --study trials.db
  seqattractor compare --protocol continual --networks sparse,one-hot --m 200 --t 11 \
--values 1,5,10,20 -o forgetting.pdf"""


@click.command(name="compare", epilog=EXAMPLES)
@click.option(
    "--networks",
    metavar="LIST",
    help="Comma-separated names, families (paper, ours, rival, yardstick) or all.",
)
@click.option("--protocol", type=click.Choice(list(TESTS)), help="The test; random by default.")
@click.option(
    "--data",
    "inputs",
    multiple=True,
    metavar="FILE",
    type=PATH,
    help="Compare on your own sequences; may be repeated.",
)
@click.option("--n", metavar="LIST", help="N, visible neurons of random patterns; 100 by default.")
@click.option(
    "--m",
    "--hidden",
    "m",
    metavar="LIST",
    help="M, hidden neurons; by default as tuned, or as many as in the paper.",
)
@click.option("--t", metavar="LIST", help="T, the length of random sequences.")
@click.option(
    "--flips",
    metavar="LIST",
    help="Flipped units of the cue, as numbers or percentages of N: 0,5,10%.",
)
@click.option(
    "--values",
    metavar="LIST",
    help="Along the axis of the test, such as 20,50,80 for random or 5x10,10x10 for multi.",
)
@click.option(
    "--rehearse",
    metavar="LIST",
    help="With continual: none, self, cues, patterns; by default the first three.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    help="At each value; by default 20, 10 with --data, 3 for digits, walker and continual.",
)
@click.option(
    "--use",
    "files",
    multiple=True,
    metavar="FILE.py",
    help="A Python file with a network of your own, to join in.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The same seed gives the same results.",
)
@jobs_options
@click.option(
    "--study",
    type=FILE,
    help="Save trials in this file; the same command then resumes where it stopped.",
)
@click.option(
    "--timing",
    is_flag=True,
    help="Put seconds into the JSON, CSV and HTML, too; they differ from run to run.",
)
@click.option(
    "-o",
    "--out",
    "outs",
    multiple=True,
    metavar="FILE|FOLDER",
    type=PATH,
    help="A figure (.pdf, .svg, .png), the results (.csv, .json), or a page (.html), by its "
    "ending; without one, a folder with JSON, CSV, PNG, HTML and trials.db. May be repeated.",
)
@click.option(
    "--width",
    type=click.FloatRange(40, 400),
    default=85.0,
    show_default=True,
    metavar="MM",
    help="Of the figure, in millimetres.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the results as JSON instead of tables."
)
@loading_options
def command(
    protocol: str | None,
    networks: str | None,
    inputs: tuple[Path, ...],
    values: str | None,
    rehearse: str | None,
    study: Path | None,
    timing: bool,
    outs: tuple[Path, ...],
    width: float,
    as_json: bool,
    **loading: Any,
) -> None:
    """Compare sequence memories on one test, each with the same sequences and the same corrupted
    cues.

    The tests: random (success against the length T), noise (against flips of the cue), recall-noise
    (flips before every step), correlated (successive patterns alike), multi (number x length of
    sequences in one network), context (patterns that occur twice, with different successors),
    digits (moving digits), walker (a walking figure), continual (sequences one after another: after
    each, all so far are tested; networks that can rehearse take part once for each --rehearse).

    Ask your own question with --n, --m, --t and --flips: numbers, of which one may be a list, which
    then varies along the axis. With --data the sequences are yours, read as `learn` does (the
    options from --format on set how), and the same in all trials: chance decides on the first
    weights of networks and on the cues.

    Where --networks is not given, the classical and quick networks take part, and those of --use.
    `--networks all` takes every network there is, of which some (innate, bcpnn, rnn) take half a
    minute and more for a trial; `--networks rival` takes those of other authors.

    Success is exact: a loop must appear whole and in order, in any phase (section 6.2), and recall
    of an open sequence must lock on at its first step: every frame after the cue right and in
    phase. Beside it stand the wrong units after one step, epochs until learning made no error, its
    parameters, whether it stores the patterns themselves, whether it learns online and locally, in
    how many trials the loop was in phase with its cue, and seconds.

    Every trial is saved as it finishes, in OUT/trials.db or in the file of --study: the same
    command resumes where it stopped.
    """
    folder, written = _outputs(outs)
    sizes: dict[str, Any] = {
        name: None if (text := loading.pop(name)) is None else parse_list(text)
        for name in ("n", "m", "t", "flips")
    }
    options = {name: loading.pop(name) for name in ("trials", "files", "seed", "jobs", "dask")}
    chosen = (
        None if networks is None else [name.strip() for name in networks.split(",") if name.strip()]
    )
    data = _read_data(inputs, as_options(loading), protocol)
    parse = parse_value if inputs else TESTS[protocol or "random"].parse
    along = None if values is None else [parse(text.strip()) for text in values.split(",")]
    from seqattractor._progress import trial_progress
    from seqattractor.report.comparison_view import write_comparison, write_results
    from seqattractor.study.compare import compare

    if folder is not None and study is None:
        folder.mkdir(parents=True, exist_ok=True)
        study = folder / "trials.db"
    title = f"compare {protocol or ('data' if inputs else 'random')}"
    with stopped(study), trial_progress(title, quiet=as_json) as progress:
        comparison = compare(
            protocol,
            chosen,
            data=data,
            values=along,
            rehearse=None if rehearse is None else rehearse.replace(" ", "").split(","),
            study=study,
            progress=progress,
            **sizes,
            **options,
        )
    paths = write_comparison(comparison, folder, timing=timing) if folder is not None else []
    paths += write_results(comparison, written, timing=timing, width=width)
    if as_json:
        click.echo(comparison.to_json(timing=timing), nl=False)
        return
    _show(comparison)
    for path in paths:
        click.echo(str(path))


def _outputs(outs: tuple[Path, ...]) -> tuple[Path | None, list[Path]]:
    """Return the folder and the files to write, checked before anything is computed."""
    from seqattractor.report.comparison_view import check_ending

    folders = [out for out in outs if out.is_dir() or not out.suffix]
    files = [out for out in outs if out not in folders]
    if len(folders) > 1:
        raise ValueError(f"give one folder, not {len(folders)}: {', '.join(map(str, folders))}.")
    for out in files:
        check_ending(out)
        check_folder(out)
    return (folders[0] if folders else None), files


def _read_data(
    inputs: tuple[Path, ...], options: dict[str, Any], protocol: str | None
) -> Sequences | None:
    """Return the user's sequences, read as `learn` reads them."""
    from seqattractor.cli.learn import read_to_learn

    options = {name: value for name, value in options.items() if (name, value) != ("drop_near", 0)}
    if not inputs:
        for name in options:
            raise click.UsageError(
                f"--{name.replace('_', '-')} is for files; give them with --data."
            )
        return None
    if protocol is not None:
        raise click.UsageError(f"give --data or --protocol {protocol}, not both.")
    return read_to_learn(inputs, options, False, lambda note: click.echo(f"note: {note}", err=True))


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
    """Return a table for the terminal."""
    from rich import box
    from rich.table import Table as RichTable

    shown = RichTable(title=table.caption, title_justify="left", box=box.SIMPLE_HEAD)
    for k, column in enumerate(table.columns):
        shown.add_column(column, justify="left" if k == 0 else "right", no_wrap=k == 0)
    for row in table.rows:
        shown.add_row(*row)
    return shown
