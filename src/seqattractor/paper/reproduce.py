"""The paper again in one folder: files of every target, and a report that shows them together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from seqattractor._files import atomic_write
from seqattractor.experiments._run import choose_executor
from seqattractor.paper.run import Bar, run_targets
from seqattractor.paper.settings import LEARNING
from seqattractor.paper.target import Request, Result, Target
from seqattractor.report.page import Section
from seqattractor.report.reproduce_page import reproduce_page, write_section


def reproduce(
    names: Sequence[str],
    request: Request,
    folder: Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    bar: Bar | None = None,
    command: str = "",
) -> list[Section]:
    """Compute targets into a folder: for each a .json, .csv, .png and .pdf, and report.html on all that are finished.

    Parameters
    ----------
    names : sequence of str
        Of targets, in the order of the report.
    request : Request
    folder : Path
        Made if it does not exist; trials.db in it holds every finished trial.
    jobs : int
        Processes; 1 for this one.
    dask : str, optional
        The address of a Dask scheduler, or "local".
    bar : callable, optional
        Shows the progress of each target.
    command : str
        The command line that gives this report again.

    Returns
    -------
    list of Section
        What the report shows on each target.
    """
    started = time.perf_counter()
    sections: dict[str, Section] = {}

    def finish(target: Target, result: Result, seconds: float) -> None:
        section = Section(
            target.name,
            target.title,
            target.about,
            target.verdict(result),
            tables=target.tables(result),
            animations=target.animations(result),
            seconds=seconds,
        )
        sections[target.name] = write_section(
            folder, section, data=result.data, rows=target.csv_rows(result), draw=lambda: target.figure(result)
        )

    try:
        run_targets(names, request, folder / "trials.db", finish, executor=choose_executor(jobs, dask), bar=bar)
    finally:
        finished = [sections[name] for name in names if name in sections]
        if finished:
            missing = [name for name in names if name not in sections]
            page = reproduce_page(
                finished,
                command=command,
                facts=_facts(request),
                seconds=time.perf_counter() - started,
                missing=missing,
                quick=request.quick,
            )
            with atomic_write(folder / "report.html") as file:
                file.write(page.encode())
    return finished


def _facts(request: Request) -> dict[str, str]:
    """What was asked for, in words."""
    learning = ", ".join(f"{name} = {value}" for name, value in LEARNING.items())
    return {
        "Settings": f"{learning} (standard deviation of the initial weights: init_scale)",
        "Trials": str(request.trials),
        "Seed": str(request.seed),
        "Gait": str(request.gait_dir or "the drawn walker of this package"),
        "Digits": str(request.mnist_file or "scikit-learn's digits, moved by this package"),
    }
