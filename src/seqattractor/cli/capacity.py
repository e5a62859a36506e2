"""`seqattractor capacity`: how long a sequence a network stores."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.cli.sweep import jobs_options, parse_list, parse_setting

if TYPE_CHECKING:
    from seqattractor.experiments._capacity import Capacity
    from seqattractor.experiments._laws import Law

__all__ = ["command"]

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(name="capacity")
@click.option("--network", default="attractor", show_default=True, metavar="LIST", help="Networks, such as attractor,sparse.")
@click.option("--n", default="100", show_default=True, metavar="LIST", help="N, numbers of visible neurons.")
@click.option("--m", default="500", show_default=True, metavar="LIST", help="M, numbers of hidden neurons.")
@click.option("--sequences", default="1", show_default=True, metavar="LIST", help="Numbers of sequences, all of length T.")
@click.option("--flips", default="10", show_default=True, metavar="LIST", help="Flipped units in the cue: 10, or 10% of N.")
@click.option("--set", "further", multiple=True, metavar="KEY=VALUE", help="Any other key of a grid, such as max_epochs=200.")
@click.option("--success", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True)
@click.option("--precision", type=click.FloatRange(0, min_open=True), default=0.1, show_default=True, help="Of the interval.")
@click.option("--max-trials", type=click.IntRange(min=4), default=200, show_default=True, help="For each combination.")
@click.option("--t-max", type=click.IntRange(min=3), default=2000, show_default=True, help="The longest sequence to try.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same numbers.")
@jobs_options
@click.option("--study", type=_FILE, help="Keep trials in this file; the same command then goes on where it stopped.")
@click.option("-o", "--out", type=_FILE, help="Write a table, .csv or .parquet.")
@click.option("--figure", type=_FILE, help="Draw a figure, .png, .pdf or .svg.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    network: str,
    n: str,
    m: str,
    sequences: str,
    flips: str,
    further: tuple[str, ...],
    success: float,
    precision: float,
    max_trials: int,
    t_max: int,
    seed: int,
    jobs: int | None,
    dask: str | None,
    study: Path | None,
    out: Path | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Find the longest sequence T that a network retrieves at a given rate of success, with a 95 % interval.

    Lists give a map: every combination is searched, and a law of N and M is fitted. Trials go to lengths where they tell most; a
    search ends when the ends of the interval differ by the fraction PRECISION.
    """
    from seqattractor.cli.progress import trial_progress
    from seqattractor.experiments._capacity import Search, capacities
    from seqattractor.experiments._laws import fit_law
    from seqattractor.experiments._run import choose_executor
    from seqattractor.experiments._store import Store

    options = {key: _single(key, values) for key, values in map(parse_setting, further)}
    lists = [parse_list(text) for text in (network, n, m, sequences, flips)]
    searches: dict[str, Search] = {}
    wanted: dict[tuple[str, Any], list[str]] = {}  # searches to which one law may apply: of one network, at one level of flips
    for combination in itertools.product(*lists):
        search = Search(
            _settings(*combination) | options, success=success, seed=seed, precision=precision, max_trials=max_trials, t_max=t_max
        )
        if search.point.key not in searches:
            searches[search.point.key] = search
            wanted.setdefault((combination[0], combination[-1]), []).append(search.point.key)
    executor = choose_executor(min(jobs or os.cpu_count() or 1, 4 * len(searches)), dask)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        store = stack.enter_context(Store(study if study is not None else Path(folder) / "trials.db"))
        progress = stack.enter_context(trial_progress("capacity", quiet=as_json))
        found = dict(zip(searches, capacities(list(searches.values()), store, executor, progress=progress), strict=True))
    groups = [[found[key] for key in keys] for keys in wanted.values()]
    laws = [fit_law(group) for group in groups]
    _write(groups, laws, out, figure)
    if as_json:
        rows = [row for group in groups for row in _rows(group)]
        click.echo(json.dumps({"capacities": rows, "laws": [None if law is None else vars(law) for law in laws]}, indent=1))
        return
    for group, law in zip(groups, laws, strict=True):
        for each in group:
            click.echo(_sentence(each))
        if law is not None:
            click.echo(f"Law: {law}.")


def _single(key: str, values: list[Any]) -> Any:
    """The one value of a setting that is the same in all searches."""
    if len(values) != 1:
        raise click.UsageError(f"--set {key} takes one value here; a search for each value is a command for each.")
    return values[0]


def _settings(network: str, n: Any, m: Any, sequences: Any, flips: Any) -> dict[str, Any]:
    """The settings of one search; flips may be a percentage of N."""
    if isinstance(flips, str) and flips.endswith("%"):
        try:
            flips = round(float(flips[:-1]) / 100 * n)
        except (ValueError, TypeError):
            raise click.UsageError(f"--flips is a number, or a percentage such as 10%, but it is {flips!r}.") from None
    return {"network": network, "n": n, "m": m, "sequences": sequences, "flips": flips}


def _rows(group: Sequence[Capacity]) -> list[dict[str, Any]]:
    """A row for each capacity."""
    names = ("success", "t", "low", "high", "at_least", "trials")
    return [each.settings | {name: getattr(each, name) for name in names} for each in group]


def _write(groups: list[list[Capacity]], laws: list[Law | None], out: Path | None, figure: Path | None) -> None:
    """Write the files that are wanted."""
    if out is not None:
        from seqattractor.experiments._table import export

        pairs = [(row, law) for group, law in zip(groups, laws, strict=True) for row in _rows(group)]
        keys = list(dict.fromkeys(key for row, _ in pairs for key in row))
        export([{key: row.get(key) for key in keys} | {"law": law and round(law(row), 1)} for row, law in pairs], out)
    if figure is not None:
        from seqattractor.report.capacity_figure import capacity_figure
        from seqattractor.report.figures import save

        save(lambda: capacity_figure(groups, laws), figure)


def _sentence(found: Capacity) -> str:
    """One capacity in words."""
    s = found.settings
    hidden = f", M = {s['m']}" if s["m"] is not None else ""
    several = f", {s['sequences']} sequences" if s["sequences"] > 1 else ""
    length = f"at least {found.t}" if found.at_least else f"{found.t} ({found.low} to {found.high})"
    none = " (no length reaches this rate)" if found.t < 2 else ""
    return f"{s['network']}, N = {s['n']}{hidden}{several}, {s['flips']} flips: T = {length}{none}, {found.trials} trials."
