"""`seqattractor capacity`: how long a sequence a network stores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from seqattractor.cli.loading import FILE, parse_list, parse_setting
from seqattractor.cli.sweep import jobs_options, stopped

EXAMPLES = """\b
Examples:
  seqattractor capacity --n 50 --m 200
  seqattractor capacity --network attractor,sparse --n 100 --m 250,500 --study capacity.db
  seqattractor capacity --n 50,100 --m 100,200 --study map.db -o map.csv --figure map.png"""


@click.command(name="capacity", epilog=EXAMPLES)
@click.option(
    "--network",
    default="attractor",
    show_default=True,
    metavar="LIST",
    help="Networks, such as attractor,sparse.",
)
@click.option(
    "--n", default="100", show_default=True, metavar="LIST", help="N, numbers of visible neurons."
)
@click.option("--m", metavar="LIST", help="M, numbers of hidden neurons; by default 500.")
@click.option(
    "--sequences",
    default="1",
    show_default=True,
    metavar="LIST",
    help="Numbers of sequences, all of length T.",
)
@click.option(
    "--flips",
    default="10%",
    show_default=True,
    metavar="LIST",
    help="Flipped units in the cue: 10% of N, or 10.",
)
@click.option(
    "--use",
    "files",
    multiple=True,
    metavar="FILE.py",
    help="A Python file with a network of your own, to join in.",
)
@click.option(
    "--set",
    "further",
    multiple=True,
    metavar="KEY=VALUE",
    help="Any other key of a grid, such as max_epochs=200.",
)
@click.option(
    "--success",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
)
@click.option(
    "--precision",
    type=click.FloatRange(0, min_open=True),
    default=0.1,
    show_default=True,
    help="Of the interval.",
)
@click.option(
    "--max-trials",
    type=click.IntRange(min=4),
    default=200,
    show_default=True,
    help="For each combination.",
)
@click.option(
    "--t-max",
    type=click.IntRange(min=3),
    default=2000,
    show_default=True,
    help="The longest sequence to try.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The same seed gives the same numbers.",
)
@jobs_options
@click.option(
    "--study",
    type=FILE,
    help="Save trials in this file; the same command then resumes where it stopped.",
)
@click.option("-o", "--out", type=FILE, help="Write a table, .csv or .parquet.")
@click.option("--figure", type=FILE, help="Draw a figure, .png, .pdf or .svg.")
@click.option("--json", "as_json", is_flag=True, help="Print the capacities as JSON.")
def command(
    further: tuple[str, ...],
    study: Path | None,
    out: Path | None,
    figure: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the longest sequence T that a network retrieves at a given rate of success, with a 95 %
    interval.

    A trial succeeds by the paper's criterion (section 6.2): the whole loop is seen in order, in any
    phase.

    Lists give a map: every combination is searched, and a law of N and M is fitted. Trials go where
    they are most informative; a search ends when the ends of the interval differ by the fraction
    PRECISION.
    """
    from seqattractor._progress import trial_progress
    from seqattractor.study.capacity import measure_capacity
    from seqattractor.study.table import export

    given = {name: options.pop(name) for name in ("network", "n", "m", "sequences", "flips")}
    lists: dict[str, Any] = {
        name: parse_list(text) for name, text in given.items() if text is not None
    }
    with stopped(study), trial_progress("capacity", quiet=as_json) as progress:
        capacities = measure_capacity(
            **lists, **options, study=study, progress=progress, **dict(map(parse_setting, further))
        )
    if out is not None:
        export(capacities.rows(), out)
    if figure is not None:
        from seqattractor.report.figures import capacity_figure, save

        save(lambda: capacity_figure(capacities), figure)
    if as_json:
        rows = [row for group in capacities.groups for each in group for row in each.rows()]
        click.echo(
            json.dumps(
                {"capacities": rows, "laws": [law and vars(law) for law in capacities.laws]},
                indent=1,
            )
        )
    else:
        click.echo(capacities.describe())
