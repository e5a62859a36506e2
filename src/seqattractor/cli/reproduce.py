"""`seqattractor reproduce`: the paper's tables and figures beside ours, and a report."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from seqattractor._suggest import no_such
from seqattractor.cli.sweep import jobs_options, stopped
from seqattractor.paper.target import NEIGHBOURS, PAST_THE_PAPER, QUICK_TRIALS, TARGETS, Request


def _complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the targets that begin so."""
    return [name for name in (*TARGETS, "neighbours", "all") if name.startswith(incomplete)]


_FOLDER = click.Path(file_okay=False, path_type=Path)
EXAMPLES = """\b
Examples:
  seqattractor reproduce --quick
  seqattractor reproduce table1 fig4 --trials 20 -o results"""


@click.command(
    name="reproduce",
    epilog=f"{EXAMPLES}\n\nTargets: "
    f"{', '.join(name for name in TARGETS if name not in PAST_THE_PAPER)}; beyond the paper, "
    f"only by name: {', '.join(name for name in PAST_THE_PAPER if name not in NEIGHBOURS)}; other "
    f"systems: {', '.join(NEIGHBOURS)}, or neighbours for all of these.",
)
@click.argument("targets", nargs=-1, metavar="[TARGET]...", shell_complete=_complete_target)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    help=f"Trials per cell; 100 by default, {QUICK_TRIALS} with --quick.",
)
@jobs_options
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The same seed gives the same numbers.",
)
@click.option(
    "-o",
    "--out",
    type=_FOLDER,
    default=Path("results"),
    show_default=True,
    help="Folder for all files.",
)
@click.option("--quick", is_flag=True, help="Few trials: everything in about a minute.")
@click.option(
    "--full", is_flag=True, help="Neighbours at larger sizes, nearer to the published ones."
)
@click.option(
    "--gait-dir",
    type=click.Path(path_type=Path),
    help="Your copy of the OU-ISIR silhouettes, or a folder of frames.",
)
@click.option("--mnist-file", type=click.Path(path_type=Path), help="Your mnist_test_seq.npy.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def command(
    targets: tuple[str, ...],
    trials: int | None,
    jobs: int,
    dask: str | None,
    out: Path,
    as_json: bool,
    **choices: Any,
) -> None:
    """Compute the paper's tables and figures and set them beside its own numbers.

    TARGETs are any of the names below, or all (the default). For each, OUT gets a .json, .csv, .png
    and .pdf, and OUT/report.html shows them together. Finished trials are saved in OUT/trials.db:
    after Ctrl-C the same command resumes where it stopped.
    """
    from seqattractor._progress import trial_progress
    from seqattractor.paper.reproduce import reproduce

    names = _chosen(targets)
    if choices["quick"] and choices["full"]:
        raise click.UsageError("choose one of --quick and --full.")
    request = Request(trials=trials or (QUICK_TRIALS if choices["quick"] else 100), **choices)
    if not (targets or request.quick or as_json):
        click.echo(
            f"everything, {request.trials} trials each; --quick takes about a minute. Ctrl-C saves "
            "finished trials.",
            err=True,
        )
    again = shlex.join(["seqattractor", *sys.argv[1:]])
    with stopped(out / "trials.db"), trial_progress("reproduce", quiet=as_json) as progress:
        sections = reproduce(
            names, request, out, jobs=jobs, dask=dask, progress=progress, command=again
        )
    report = out / "report.html"
    if as_json:
        verdicts = {section.name: vars(section.verdict) for section in sections}
        click.echo(json.dumps({"report": str(report), "targets": verdicts}, indent=1))
        return
    for section in sections:
        if section.verdict is not None:
            click.echo(f"{section.title}: {section.verdict.sentence}")
    click.echo(f"Report: {report}")


def _chosen(targets: tuple[str, ...]) -> list[str]:
    """The names of the wanted targets, each once, in the order of the paper."""
    for name in targets:
        if name not in (*TARGETS, "neighbours", "all"):
            raise click.UsageError(no_such("target", name, TARGETS, groups=["neighbours", "all"]))
    wanted = {*targets, *(NEIGHBOURS if "neighbours" in targets else ())}
    everything = not targets or "all" in targets
    return [
        name for name in TARGETS if name in wanted or (everything and name not in PAST_THE_PAPER)
    ]
