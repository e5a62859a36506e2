"""`seqattractor replay`: test whether candidate events of a recording replay its laps."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.cli.loading import PATH, check_folder, check_not_read, read_files

if TYPE_CHECKING:
    from seqattractor.sequences import Sequences
    from seqattractor.tasks.replay import ReplayAnalysis

ENDINGS = (".html", ".csv", ".nwb")
NULLS = ("order", "cells", "circular", "poisson")
SECONDS: dict[str, Any] = {"type": click.FloatRange(0, min_open=True), "metavar": "SECONDS"}
COUNT = click.IntRange(min=1)
_option = partial(click.option, show_default=True)
EXAMPLES = """\b
Examples:
  seqattractor replay session.nwb --learn laps --events ripples -o report.html
  seqattractor replay session.nwb --learn laps --events ripples -o tested.nwb -o table.csv
  seqattractor replay session.nwb --learn laps --maps arm --events ripples -o report.html
  seqattractor replay spikes.csv --learn laps.csv --events events.csv -o report.html"""


@click.command(name="replay", epilog=EXAMPLES)
@click.argument("session", type=PATH)
@_option(
    "--learn",
    required=True,
    metavar="TABLE",
    help="The laps to learn: a table of intervals in an NWB file, or for other files a CSV file.",
)
@_option("--events", required=True, metavar="TABLE", help="The candidate events, likewise.")
@click.option(
    "--maps",
    metavar="COLUMN",
    help="The column of the table of laps that names the map of each, such as the environment or "
    "the arm of a maze. Each map is learned as a sequence of its own.",
)
@_option("--bin", "wide", default=0.1, help="Width of bins in laps.", **SECONDS)
@_option("--event-bin", "narrow", default=0.02, help="Width of bins in events.", **SECONDS)
@_option(
    "--null",
    type=click.Choice(NULLS),
    default="order",
    help="What is shuffled: the order of bins, the names of cells, each cell in time (circular), "
    "or the spikes, of which each cell and each bin keeps its number (poisson).",
)
@_option("--shuffles", type=COUNT, default=500, help="Of each event.")
@_option("--max-speed", type=COUNT, default=7, help="Highest speed, in patterns per bin.")
@_option("--hidden", type=COUNT, default=400, help="Hidden neurons.")
@_option("--ensemble", type=COUNT, default=8, help="Networks, whose predictions are averaged.")
@_option("--seed", type=click.IntRange(0), default=0, help="The same seed, the same results.")
@click.option("--jobs", type=COUNT, default=os.cpu_count() or 1, help="Processes. [all cores]")
@_option("--key", help="Which units, in an NWB, npz or mat file.")
@_option(
    "-o",
    "--out",
    "outs",
    multiple=True,
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a report (.html), a table of the events (.csv), or a copy of the session with such "
    "a table (.nwb). May be repeated.",
)
@_option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(
    session: Path,
    learn: str,
    events: str,
    maps: str | None,
    wide: float,
    narrow: float,
    null: str,
    shuffles: int,
    max_speed: int,
    hidden: int,
    ensemble: int,
    seed: int,
    jobs: int,
    key: str | None,
    outs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Test whether candidate events of a SESSION replay its laps, without positions.

    SESSION is an NWB file with spikes, or spike times as `learn --bin` reads them. First, each lap
    is predicted by a network that learned the others: is there a sequence in the laps at all? Then
    networks learn what the laps have in common, and each event is compared with shuffles of it.
    """
    from seqattractor._progress import count_progress
    from seqattractor.tasks.replay import analyse_replay, read_session

    _check_outputs(outs, session)

    def read(path: Path, options: dict[str, Any]) -> Sequences:
        """Read a file in a subprocess with limits."""
        chosen = {} if key is None else {"key": key}
        return read_files([path], options | chosen, several=False)

    recorded = read_session(session, (learn, events), (wide, narrow), read, maps)
    analysis = analyse_replay(
        recorded,
        n_hidden=hidden,
        n_networks=ensemble,
        null=null,
        n_shuffles=shuffles,
        max_speed=max_speed,
        seed=seed,
        n_jobs=jobs,
        bar=partial(count_progress, quiet=as_json),
        say=(lambda words: None) if as_json else click.echo,
    )
    for out in outs:
        _write(analysis, out)
    if as_json:
        click.echo(json.dumps(analysis.to_dict(), indent=1))
        return
    for out in outs:
        click.echo(f"saved as {out}")


def _check_outputs(outs: tuple[Path, ...], session: Path) -> None:
    """Reject what cannot be written before anything is computed."""
    if not session.exists():
        raise ValueError(f"there is no file {session}.")
    for out in outs:
        ending = out.suffix.lower()
        if ending not in ENDINGS:
            raise ValueError(f"{out} must end in .html (a report), .csv or .nwb.")
        if ending == ".nwb" and session.suffix.lower() != ".nwb":
            raise ValueError(f"{out} would be a copy of an NWB file, and {session} is none.")
        check_folder(out)
    for out in outs:
        check_not_read(out, [session])


def _write(analysis: ReplayAnalysis, out: Path) -> None:
    """Write the result as the ending of the file says."""
    if out.suffix.lower() == ".nwb":
        from seqattractor.io import write_intervals

        recorded = analysis.recorded
        write_intervals(out, recorded.session, recorded.intervals, analysis.events.columns())
        return
    from seqattractor._files import atomic_write
    from seqattractor.report.replay_page import replay_page, replay_table

    is_table = out.suffix.lower() == ".csv"
    content = replay_table(analysis) if is_table else replay_page(analysis)
    with atomic_write(out) as file:
        file.write(content.encode())
