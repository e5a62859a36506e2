"""`seqattractor inspect`: what a model stores, what it guarantees, and where it ends up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.cli.loading import (
    FILE,
    PATH,
    as_options,
    check_folder,
    loading_options,
    read_like,
)

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory
    from seqattractor.tasks.inspect import Inspection

NOT_STORED = (
    1  # exit code: the model does not make all transitions of the sequences that it has learned
)
EXAMPLES = """\b
Examples:
  seqattractor inspect cat.npz
  seqattractor inspect cat.npz --html cat.html
  seqattractor inspect model.npz --data sequences.npy --exact --json"""


@click.command(name="inspect", epilog=EXAMPLES)
@click.argument("model", type=PATH)
@click.option(
    "--data",
    "files",
    multiple=True,
    type=PATH,
    help="The stored sequences, where the model does not hold them; may be repeated.",
)
@click.option(
    "--flips",
    type=click.IntRange(min=0),
    help="Units flipped in starts from stored patterns. [a tenth of them]",
)
@click.option(
    "--starts",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Runs in the search for attractors, at most.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Close gaps in the certificate by mixed-integer programming (small networks).",
)
@click.option(
    "--effort",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="How much work to do: 2 allows twice as much before a part is cut down or left out.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The same seed gives the same starts.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--html", type=FILE, help="Also write a page with figures, in one file.")
@loading_options
def command(
    model: Path,
    files: tuple[Path, ...],
    flips: int | None,
    starts: int,
    exact: bool,
    effort: float,
    seed: int,
    as_json: bool,
    html: Path | None,
    **loading: Any,
) -> None:
    """Show what a MODEL stores and what it guarantees: margins, certificate, attractors, hidden
    codes.

    The sequences come from --data, or from the model file if it holds them. Without either, the
    cycles that random starts lead to stand for them: a stored loop is itself such a cycle.
    """
    from seqattractor._progress import part_progress
    from seqattractor.networks import load
    from seqattractor.tasks.inspect import inspect_network

    if html is not None:
        check_folder(html)
    net = load(model)
    X, lengths, source = _sequences(net, files, as_options(loading))
    if flips is not None and flips > net.n_features_in_:
        raise ValueError(
            f"--flips is {flips}, but the network has only {net.n_features_in_} units."
        )
    choices: dict[str, Any] = {
        "flips": flips,
        "starts": starts,
        "effort": effort,
        "exact": exact,
        "rng": seed,
    }
    with part_progress(quiet=as_json) as on_part:
        inspection = inspect_network(net, X, lengths, source=source, on_part=on_part, **choices)
    values = {"model": str(model), **inspection.to_dict()}
    if html is not None:
        from seqattractor._files import atomic_write
        from seqattractor.report.inspect_page import inspection_page

        page = inspection_page(inspection, model.name)
        with atomic_write(html) as file:
            file.write(page.encode())
        values["html"] = str(html)
    if as_json:
        click.echo(json.dumps(values, indent=1))
    else:
        _print(inspection, model, html)
    if inspection.source == "model" and inspection.score is not None and inspection.score < 1:
        raise SystemExit(NOT_STORED)


def _sequences(
    net: SequenceMemory, files: tuple[Path, ...], options: dict[str, Any]
) -> tuple[Any, Any, Any]:
    """Return the sequences to look at, if any, and where they come from; files are read as the
    stored sequences were.
    """
    from seqattractor.io._attached import attached
    from seqattractor.io._load import align_units
    from seqattractor.sequences import check_patterns, check_sequences

    known = attached(net)
    if not files:
        stored = known.sequences
        return (
            (None, None, "data") if stored is None else (stored.patterns, stored.lengths, "model")
        )
    data = read_like(known, files, options)
    if known.units is not None and data.units is not None:
        data = align_units(data, known.units)
    X, lengths = check_sequences(data, order=net.order_)
    check_patterns(X[:1], "the data", n_features=net.n_features_in_)
    return X, lengths, "data"


def _print(inspection: Inspection, model: Path, html: Path | None) -> None:
    """Print the summary."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print(f"{model.name}: {inspection.heading()}", markup=False, soft_wrap=True)
    for title, sentence in inspection.paragraphs().items():
        console.print(f"\n[bold]{title}[/bold]", soft_wrap=True)
        console.print(sentence, markup=False)
    if html is not None:
        console.print(f"\nThe page with figures is {html}.", markup=False, soft_wrap=True)
