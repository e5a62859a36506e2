"""`seqattractor sweep`: grids of trials that survive interruptions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.cli import SuggestingGroup
from seqattractor.cli.loading import FILE, parse_list, parse_setting

if TYPE_CHECKING:
    from seqattractor.study.grid import Grid
    from seqattractor.study.study import Study

# Settings of a trial that have an option of their own; all others go with --set.
_OPTIONS = {
    "network": "Networks, such as attractor,sparse.",
    "n": "N, numbers of visible neurons, such as 50,100.",
    "m": "M, numbers of hidden neurons.",
    "t": "T, lengths of the sequences.",
    "sequences": "Numbers of sequences.",
    "flips": "Numbers of units flipped in the cue.",
}


EXAMPLES = """\b
Examples:
  seqattractor sweep run --network attractor --n 50 --m 100,200 --t 20,40,60 -o study.db
  seqattractor sweep status study.db
  seqattractor sweep export study.db -o study.csv
  seqattractor sweep plot study.db -o study.png"""


def jobs_options(function: Any) -> Any:
    """Add --jobs and --dask to a command."""
    dask = click.option(
        "--dask",
        metavar="ADDRESS",
        help="Use a Dask cluster: the address of its scheduler, or local.",
    )
    cores = os.cpu_count() or 1
    jobs = click.option(
        "--jobs", type=click.IntRange(min=1), default=cores, help="Processes; all cores by default."
    )
    return jobs(dask(function))


@contextmanager
def stopped(study: Path | None) -> Iterator[None]:
    """On Ctrl-C print in one sentence what is saved, and end."""
    try:
        yield
    except KeyboardInterrupt:
        saved = (
            f"Every finished trial is saved in {study}; the same command resumes."
            if study
            else "Nothing is saved."
        )
        click.echo(f"Stopped. {saved}", err=True)
        sys.exit(130)


def _example(*lines: str) -> str:
    """Return the examples at the end of the help of a command of `sweep`."""
    return "\n".join(["\b", "Examples:", *(f"  seqattractor sweep {line}" for line in lines)])


def _grid_options(function: Any) -> Any:
    """Add an option for each common setting to a command."""
    for name, text in reversed(_OPTIONS.items()):
        function = click.option(f"--{name}", metavar="LIST", help=text)(function)
    return function


@click.group(name="sweep", cls=SuggestingGroup, epilog=EXAMPLES)
def command() -> None:
    """Run grids of trials into a study file, look at it and export it.

    A study is a SQLite file with one row for each trial, written as it finishes. Whatever happens,
    the same command continues where it stopped, and gives the same table in the end.
    """


@command.command(
    name="run",
    epilog=_example("run --n 50 --m 100,200 --t 20,40,60 -o study.db", "run --resume -o study.db"),
)
@click.argument("grid", required=False, type=FILE)
@click.option("-o", "--out", type=FILE, required=True, help="The study; made if it does not exist.")
@_grid_options
@click.option(
    "--set",
    "further",
    multiple=True,
    metavar="KEY=LIST",
    help="Any other key of a grid, such as eta=0.001,0.01.",
)
@click.option("--trials", type=click.IntRange(min=1), help="Trials at each point; 20 by default.")
@click.option(
    "--seed", type=click.IntRange(min=0), help="The same seed gives the same trials; 0 by default."
)
@jobs_options
@click.option(
    "--resume", is_flag=True, help="Continue a study; without a GRID, all grids that it has."
)
@click.option("--retry-failed", is_flag=True, help="Repeat trials that ended with an error.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def run(
    grid: Path | None,
    out: Path,
    further: tuple[str, ...],
    resume: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Do the trials of GRID that the study does not have yet.

    GRID is a TOML file with a table [grid]: lists of network, n, m, t, sequences, flips,
    recall_noise, correlation, pattern_bias, periods, measure_basin and of parameters of the
    networks; and the numbers trials and seed. Options override the file, or make a grid without
    one.
    """
    from seqattractor._progress import trial_progress
    from seqattractor.study.run import run_sweep

    given = {name: parse_list(text) for name in _OPTIONS if (text := options.pop(name)) is not None}
    for key, value in map(parse_setting, further):
        given[key] = (
            parse_list(value)
            if isinstance(value, str)
            else value
            if isinstance(value, list)
            else [value]
        )
    numbers = {
        name: number for name in ("trials", "seed") if (number := options.pop(name)) is not None
    }
    grids = _wanted_grids(grid, given, numbers, out, resume)
    with stopped(out), trial_progress("sweep", quiet=as_json) as progress:
        report = run_sweep(grids, out, progress=progress, **options)
    if as_json:
        click.echo(json.dumps({"study": str(out), **vars(report)}, indent=1))
    else:
        click.echo(
            f"{out}: {report.describe()}" + (" `sweep status` shows why." if report.failed else "")
        )
    sys.exit(int(0 < report.added == report.failed))  # nothing worked


@command.command(name="status", epilog=_example("status study.db"))
@click.argument("study", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status(study: Path, as_json: bool) -> None:
    """Show how far a STUDY is, and the success at each point. Every row is checked."""
    from seqattractor.study.study import COUNTS, read_study

    contents = read_study(study)
    rows = contents.rows()
    if as_json:
        click.echo(json.dumps(contents.summary | {"points": rows}, indent=1))
        return
    click.echo(contents.describe())
    if not rows:
        return
    names = [*contents.varying(), *COUNTS]
    lines = [[_cell(row[name]) for name in names] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *lines, strict=True)]
    for line in [names, *lines]:
        click.echo("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


@command.command(
    name="export",
    epilog=_example("export study.db -o study.csv", "export study.db --points -o points.csv"),
)
@click.argument("study", type=FILE)
@click.option("-o", "--out", type=FILE, required=True, help="A .csv, .parquet or .db file.")
@click.option(
    "--timing",
    is_flag=True,
    help="Add seconds, host and version of the code, which differ from run to run.",
)
@click.option(
    "--points",
    is_flag=True,
    help="A row for each point, with success and its interval, not for each trial.",
)
def export_study(study: Path, out: Path, timing: bool, points: bool) -> None:
    """Write a STUDY as a table, its rows in a fixed order: the same study gives the same bytes.

    With an --out that ends in .db, write a new study of all rows that are not damaged.
    """
    from seqattractor.study.store import Store
    from seqattractor.study.study import study_in, trial_rows
    from seqattractor.study.table import export

    if points and timing:
        raise click.UsageError("--timing is for trials; leave it out with --points.")
    with Store(study, readonly=True) as store, store.at_one_moment():
        contents = study_in(store)
        if out.suffix == ".db":
            click.echo(f"{out}: a study of {store.copy_to(out)} trials.")
            return
        if not contents.points:
            raise ValueError(f"{study} has no finished trials yet; there is nothing to export.")
        number = export(
            contents.rows() if points else trial_rows(store, contents, timing=timing), out
        )
    count = (
        "1 trial of its grids is"
        if contents.missing == 1
        else f"{contents.missing} trials of its grids are"
    )
    missing = f" {count} missing." if contents.missing else ""
    click.echo(f"{out}: {number} rows.{missing}")
    _warn(contents)


@command.command(
    name="plot", epilog=_example("plot study.db -o study.png", "plot study.db --x m -o by-m.pdf")
)
@click.argument("study", type=FILE)
@click.option("-o", "--out", type=FILE, required=True, help="A .png, .pdf or .svg file.")
@click.option(
    "--x",
    "axis",
    help="The setting along the axis; by default t if it varies, else the first that does.",
)
@click.option(
    "--hue",
    help=(
        "The setting that colours show; by default the network if it varies, else that with the "
        "most values."
    ),
)
@click.option("--no-legend", is_flag=True, help="Leave out the legend of the colours.")
def plot(study: Path, out: Path, axis: str | None, hue: str | None, no_legend: bool) -> None:
    """Draw success against one setting of a STUDY, a colour for each value of another, and panels
    for all others that vary.
    """
    from seqattractor.report.figures import save
    from seqattractor.study.study import read_study

    contents = read_study(study)
    save(lambda: contents.plot(axis=axis, hue=hue, legend=not no_legend).figure, out)
    click.echo(str(out))
    _warn(contents)


def _warn(study: Study) -> None:
    """Print the caveats of a study."""
    for caveat in study.caveats():
        click.echo(f"warning: {caveat}", err=True)


def _wanted_grids(
    path: Path | None, given: dict[str, list[Any]], numbers: dict[str, int], out: Path, resume: bool
) -> list[Grid]:
    """Return the grid of the file and the options, or all grids of the study that is resumed."""
    from seqattractor.study.grid import Grid, read_grid
    from seqattractor.study.store import Store

    if path is None and not given:
        if not resume:
            raise click.UsageError(
                "give a GRID file, options such as --t 10,20, or --resume to continue a study."
            )
        with Store(out, readonly=True) as store:
            grids = [Grid.from_json(text) for text in store.grids()]
        if not grids:
            raise ValueError(
                f"{out} has no grid to resume; give a GRID file, or options such as --t 10,20."
            )
        return grids
    start = read_grid(path) if path is not None else Grid({})
    return [
        Grid(
            start.settings | given,
            only=start.only,
            **{"trials": start.trials, "seed": start.seed} | numbers,
        )
    ]


def _cell(value: Any) -> str:
    """Format a value in a table."""
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
