"""`seqattractor inspect`: what a model stores, what it guarantees, and where it ends up."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.cli.loading import as_options, load_like, loading_options

if TYPE_CHECKING:
    from seqattractor.io._attached import Attached
    from seqattractor.networks._base import SequenceMemory
    from seqattractor.sequences import Sequences
    from seqattractor.tasks.inspection import Inspection

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  seqattractor inspect cat.npz
  seqattractor inspect cat.npz --html cat.html
  seqattractor inspect model.npz --data sequences.npy --exact --json"""


@click.command(name="inspect", epilog=EXAMPLES)
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--data",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="The stored sequences, where the model does not hold them; may be repeated.",
)
@click.option("--flips", type=click.IntRange(min=0), help="Noise of starts from stored patterns. [a tenth of the units]")
@click.option(
    "--starts", type=click.IntRange(min=1), default=100, show_default=True, help="Runs in the search for attractors, at most."
)
@click.option("--exact", is_flag=True, help="Close gaps in the certificate by mixed-integer programming (small networks).")
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=30.0,
    show_default=True,
    help="About how long to look; what does not fit is left out.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same starts.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Also write a page with figures, in one file.")
@loading_options
def command(
    model: Path,
    files: tuple[Path, ...],
    flips: int | None,
    starts: int,
    exact: bool,
    seconds: float,
    seed: int,
    as_json: bool,
    html: Path | None,
    **loading: Any,
) -> None:
    """Say what a MODEL stores and what it guarantees: margins, certificate, attractors, hidden codes.

    The sequences come from --data, or from the model file if it keeps them. Without either, the cycles that random starts lead to
    stand for them: a stored loop is itself such a cycle.
    """
    from seqattractor.networks import load
    from seqattractor.tasks.inspection import inspect_network

    if html is not None and not html.parent.is_dir():
        raise ValueError(f"the folder {html.parent} does not exist; make it first.")
    net = load(model)
    X, lengths, source = _sequences(net, files, as_options(loading))
    if flips is not None and flips > net.n_features_in_:
        raise ValueError(f"--flips is {flips}, but the network has only {net.n_features_in_} units.")
    found = inspect_network(net, X, lengths, source=source, flips=flips, starts=starts, budget=seconds, exact=exact, rng=seed)
    values = {"model": str(model), **found.to_dict()}
    if html is not None:
        from seqattractor._files import atomic_write
        from seqattractor.report.inspect_page import inspection_page

        page = inspection_page(found, model.name)
        with atomic_write(html) as file:
            file.write(page.encode())
        values["html"] = str(html)
    if as_json:
        click.echo(json.dumps(values, indent=1))
    else:
        _print(found, model, html)


def _sequences(net: SequenceMemory, files: tuple[Path, ...], options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The sequences to look at, if any, and where they come from."""
    from seqattractor.io._attached import attached
    from seqattractor.sequences import check_patterns, check_sequences

    known = attached(net)
    if not files:
        kept = known.sequences
        return (None, None, "data") if kept is None else (kept.patterns, kept.lengths, "model")
    data = _load(files, known, options)
    X, lengths = check_sequences(data, order=net.order_)
    check_patterns(X[:1], "the data", n_features=net.n_features_in_)
    return X, lengths, "data"


def _load(files: tuple[Path, ...], known: Attached, options: dict[str, Any]) -> Sequences:
    """Read files as the stored sequences were read, unless the options say otherwise."""
    from seqattractor.io._load import load_all
    from seqattractor.io._units import align_units

    data = load_like(known.frame_shape, partial(load_all, files), known.options, options)
    return align_units(data, known.units) if known.units is not None and data.units is not None else data


def _print(found: Inspection, model: Path, html: Path | None) -> None:
    """Write the summary for people."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(f"[bold]{model.name}[/bold]: {heading(found)}", soft_wrap=True)
    for title, sentence in sections(found):
        console.print(f"\n[bold]{title}[/bold]", soft_wrap=True)
        console.print(sentence, markup=False)
        if title == "Attractors" and found.from_random is not None and len(found.from_random):
            table = Table("attractor", "period", "starts", box=None, padding=(0, 2, 0, 0))
            for k, a in enumerate(found.from_random.attractors[:8]):
                table.add_row(f"{k}: {a.name}", str(a.period), f"{a.starts} of {len(found.from_random.which)}")
            console.print(table)
    if html is not None:
        console.print(f"\nThe page with figures is {html}.", markup=False, soft_wrap=True)


def heading(found: Inspection) -> str:
    """One line: what kind of network, how large, how it was learned."""
    net = found.net
    hidden = f" and {found.n_hidden} hidden" if found.n_hidden is not None else ""
    context = f", a context of {net.order_} patterns" if net.order_ > 1 else ""
    text = f"{type(net).__name__} with {net.n_features_in_} visible{hidden} neurons{context}"
    if hasattr(net, "converged_"):
        epochs = int(getattr(net, "n_iter_", 0))
        end = "without an error left" if net.converged_ else "with errors left"
        text += f", learned in {epochs} epoch{'s' if epochs != 1 else ''} {end}"
    return text + "."


def sections(found: Inspection) -> list[tuple[str, str]]:
    """The titles and sentences of the summary, also of the page."""
    parts = [("Sequences", _about_sequences(found))]
    if found.certificate is not None:
        some = f" ({len(found.certificate.radius)} of the transitions were looked at.)" if found.sampled else ""
        parts.append(("Guarantee", found.certificate.describe() + some))
    if found.robustness is not None:
        curve = found.robustness
        half = f"falls to a half at {curve.half} random flips" if curve.half is not None else "stays above a half"
        text = f"One step from a corrupted pattern {half} ({curve.trials} trials at each number)."
        if found.basin is not None:
            text += f" From {found.flips} flips, {found.basin:.1%} of all starts are on the sequence and in phase in the end."
        parts.append(("Measured robustness", text))
    if found.from_random is not None:
        text = f"From random starts: {found.from_random.describe()}"
        if found.from_stored is not None:
            text += f" From stored patterns with {found.flips} flips: {found.from_stored.describe()}"
        parts.append(("Attractors", text))
    if found.hidden is not None:
        parts.append(("Hidden neurons", found.hidden.describe()))
    if found.separability is not None:
        parts.append(("Without hidden neurons", found.separability.describe()))
    if found.left_out:
        parts.append(("Left out", " ".join(f"{name.capitalize()}: {reason}" for name, reason in found.left_out.items())))
    return parts


def _about_sequences(found: Inspection) -> str:
    """What is stored, and how it is known."""
    where = {"model": "kept in the model file", "data": "from --data", "cycles": "found as cycles from random starts"}[
        found.source
    ]
    if not found.sequences:
        return "None are known: the model file does not keep them, and random starts led to no cycle. Give --data FILE."
    lengths = [len(x) for x in found.sequences]
    size = f"{lengths[0]} patterns" if len(set(lengths)) == 1 else f"{min(lengths)} to {max(lengths)} patterns"
    many = "1 sequence" if len(lengths) == 1 else f"{len(lengths)} sequences"
    return f"{many} of {size}, {where}; {found.score:.1%} of the transitions are made without a wrong unit."
