"""`seqattractor reproduce`: the paper's tables and figures beside ours, and a report."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seqattractor.paper.registry import PAST_THE_PAPER, TARGETS, get_target
from seqattractor.paper.settings import LEARNING, QUICK_TRIALS, Request

if TYPE_CHECKING:
    from seqattractor.paper.runner import Progress
    from seqattractor.report.view import Section

__all__ = ["command"]


@click.command(
    name="reproduce",
    epilog=f"Targets: {', '.join(name for name in TARGETS if name not in PAST_THE_PAPER)}; past the paper and only by name: "
    f"{', '.join(PAST_THE_PAPER)}.",
)
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--trials", type=click.IntRange(min=1), help=f"Trials of each cell; 100 by default, {QUICK_TRIALS} with --quick.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; all cores by default.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same numbers.")
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder for all files.",
)
@click.option("--quick", is_flag=True, help="Few trials: everything in about a minute.")
@click.option("--gait-dir", type=click.Path(path_type=Path), help="Your copy of the OU-ISIR silhouettes, or a folder of frames.")
@click.option("--mnist-file", type=click.Path(path_type=Path), help="Your mnist_test_seq.npy, or MNIST as idx, npy or npz.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    targets: tuple[str, ...],
    trials: int | None,
    jobs: int | None,
    seed: int,
    out: Path,
    quick: bool,
    gait_dir: Path | None,
    mnist_file: Path | None,
    as_json: bool,
) -> None:
    """Compute the paper's tables and figures and set them beside its own numbers.

    TARGETs are any of the names below, or all (the default). For each, OUT gets a .json, .csv, .png and .pdf, and
    OUT/report.html shows them together. Finished trials are kept in OUT/.cache: after Ctrl-C the same command continues where
    it stopped.
    """
    names = _chosen(targets)
    request = Request(
        trials=trials or (QUICK_TRIALS if quick else 100), seed=seed, quick=quick, gait_dir=gait_dir, mnist_file=mnist_file
    )
    finished: list[Section] = []
    try:
        with _progress_bars(quiet=as_json) as progress:
            _run(names, request, out, jobs or os.cpu_count() or 1, progress, finished)
    except KeyboardInterrupt:
        _write_report(finished, names, request, out)
        click.echo(f"Stopped. What is finished is kept in {out}; the same command continues.", err=True)
        sys.exit(130)
    report = _write_report(finished, names, request, out)
    if as_json:
        found = {section.name: vars(section.verdict) for section in finished}
        click.echo(json.dumps({"report": str(report), "targets": found}, indent=1))
        return
    for section in finished:
        click.echo(f"{section.title}: {section.verdict.sentence if section.verdict else ''}")
    click.echo(f"Report: {report}")


def _chosen(targets: tuple[str, ...]) -> list[str]:
    """The names of the wanted targets, each once, in the order of the paper."""
    for name in targets:
        if name not in TARGETS and name != "all":
            raise click.UsageError(f"there is no target {name!r}; choose from {', '.join(TARGETS)}, all.")
    everything = not targets or "all" in targets
    return [name for name in TARGETS if name in targets or (everything and name not in PAST_THE_PAPER)]


def _run(names: list[str], request: Request, out: Path, jobs: int, progress: Progress, finished: list[Section]) -> None:
    """Run all targets; write the files of each as soon as it is done and append it to `finished`."""
    from seqattractor.paper.runner import run_targets
    from seqattractor.report.files import write_section
    from seqattractor.report.view import Section

    started = time.perf_counter()
    for name, result in run_targets(names, request, out / ".cache", jobs=jobs, progress=progress):
        target = get_target(name)
        section = Section(name, target.title, target.about, target.verdict(result))
        section = replace(section, tables=target.tables(result), animations=target.animations(result))
        rows, draw = target.csv_rows(result), partial(target.figure, result)
        section = write_section(out, section, data=result.data, rows=rows, draw=draw)
        now = time.perf_counter()
        finished.append(replace(section, seconds=now - started))
        started = now


def _write_report(finished: list[Section], names: list[str], request: Request, out: Path) -> Path:
    """Write the report on what is finished."""
    from seqattractor._files import atomic_write
    from seqattractor.report.reproduce_page import reproduce_page

    done = {section.name for section in finished}
    path = out / "report.html"
    if finished:
        page = reproduce_page(
            finished,
            command=shlex.join(["seqattractor", *sys.argv[1:]]),
            facts=_facts(request),
            missing=[name for name in names if name not in done],
            quick=request.quick,
        )
        with atomic_write(path) as file:
            file.write(page.encode())
    return path


def _facts(request: Request) -> dict[str, str]:
    """What was asked for, for the end of the report."""
    learning = ", ".join(f"{name} = {value}" for name, value in LEARNING.items())
    return {
        "Settings": f"{learning} (standard deviation of the initial weights: init_scale)",
        "Trials": str(request.trials),
        "Seed": str(request.seed),
        "Gait": str(request.gait_dir or "the drawn walker of this package"),
        "Digits": str(request.mnist_file or "scikit-learn's digits, moved by this package"),
    }


@contextmanager
def _progress_bars(*, quiet: bool) -> Iterator[Progress]:
    """A bar with the time left for every target, on a terminal; elsewhere a line when one is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True, quiet=quiet)
    tasks: dict[str, TaskID] = {}
    columns = TextColumn("{task.description:<15}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Bars(*columns, console=console, disable=not console.is_terminal) as bars:

        def progress(name: str, done: int, total: int) -> None:
            if not console.is_terminal:
                if done == total:
                    console.print(f"{name}: {total} trial{'s' if total != 1 else ''}")
                return
            if name not in tasks:
                # Trials from an earlier run count as done, but not for the speed.
                tasks[name] = bars.add_task(name, total=total, completed=done)
            bars.update(tasks[name], completed=done)

        yield progress
