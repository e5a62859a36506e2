"""`seqattractor learn`: store your own sequences in a network."""

from __future__ import annotations

import inspect
import json
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.cli.loading import as_options, count_or_auto, loading_options, refuse_to_overwrite

if TYPE_CHECKING:
    from seqattractor.networks._base import SequenceMemory
    from seqattractor.sequences import Sequences

__all__ = ["command"]


MOST_TO_CERTIFY = 10**9  # patterns x weights: some seconds
EXAMPLES = """\b
Examples:
  seqattractor learn cat.gif -o cat.npz
  seqattractor learn tune.mid --order auto -o tune.npz
  seqattractor learn spikes.csv --bin 0.05 --hidden 800 -o spikes.npz"""


@click.command(name="learn", epilog=EXAMPLES)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The model file to write (npz)."
)
@click.option(
    "--network", default="attractor", show_default=True, help="attractor, sparse, visible, one-hot, dense, predictive, ..."
)
@click.option("--hidden", callback=count_or_auto, metavar="NUMBER|auto", help="Hidden neurons; auto tries more and more. [auto]")
@click.option(
    "--order",
    callback=count_or_auto,
    metavar="NUMBER|auto",
    default="1",
    show_default=True,
    help="Past patterns seen; auto: as few as resolve all.",
)
@click.option("--epochs", type=click.IntRange(min=1), help="Presentations of the sequences at most. [500]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same network.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any other parameter of the network, such as kappa=2."
)
@click.option(
    "--no-patterns", is_flag=True, help="Do not keep the sequences in the model file (recall then has no truth to show)."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was learned as JSON.")
@loading_options
def command(
    inputs: tuple[Path, ...],
    out: Path,
    network: str,
    hidden: int | str | None,
    order: int | str,
    epochs: int | None,
    seed: int,
    settings: tuple[str, ...],
    no_patterns: bool,
    as_json: bool,
    **loading: Any,
) -> None:
    """Learn sequences from your files; several INPUTs become several sequences in one network.

    An INPUT is a GIF, WebP or animated PNG, a folder of pictures, a video, an npy or npz array, text art, a CSV or TSV table, a
    MIDI file, or (with --bin) spike times.
    """
    from seqattractor.io._attached import attach
    from seqattractor.networks._registry import make_network

    if not out.parent.is_dir():
        raise ValueError(f"the folder {out.parent} does not exist; make it first.")
    refuse_to_overwrite(out, inputs)
    parameters = _parameters(network, hidden, order, epochs, seed) | _settings(settings)
    net = make_network(network, **parameters)
    data = _load(inputs, as_options(loading), order)
    started = time.perf_counter()
    net, tries = _fit(net, data, auto="n_hidden" not in parameters, quiet=as_json)
    seconds = time.perf_counter() - started
    score = net.score(data)
    radius = _guaranteed(net, data)
    complaints = _complaints(net, data, score, radius)
    attach(net, data, patterns=not no_patterns)
    net.save(out)
    summary = _summary(net, data, score, radius, seconds, tries, complaints, out)
    click.echo(json.dumps(summary, indent=1) if as_json else _sentences(summary))
    if not as_json:
        for complaint in complaints:
            click.echo(f"warning: {complaint}", err=True)


def _parameters(network: str, hidden: int | str | None, order: int | str, epochs: int | None, seed: int) -> dict[str, Any]:
    """The parameters that this command has options for; those without a choice only as far as the network has them."""
    from seqattractor.networks._registry import parameters_of

    known = parameters_of(network)
    wanted: dict[str, Any] = {}
    if "order" in known or order != 1:
        wanted["order"] = order
    if "random_state" in known:
        wanted["random_state"] = seed
    if isinstance(hidden, int):
        wanted["n_hidden"] = hidden
    if epochs is not None:
        wanted["max_epochs"] = epochs
    return wanted


def _settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """Read NAME=VALUE settings; a value is JSON where it can be, else a word."""
    chosen: dict[str, Any] = {}
    for setting in settings:
        name, sign, value = (part.strip() for part in setting.partition("="))
        if not sign:
            raise ValueError(f"a setting has the form NAME=VALUE, but {setting!r} has not.")
        try:
            chosen[name] = json.loads(value)
        except json.JSONDecodeError:
            chosen[name] = value
    return chosen


def _load(inputs: tuple[Path, ...], options: dict[str, Any], order: int | str) -> Sequences:
    """Read the inputs; loops are closed with as many patterns as the context needs, and a conflict is told with its remedy."""
    from seqattractor.io._load import load_all
    from seqattractor.sequences._loops import close_loops
    from seqattractor.sequences._successors import conflicts

    data = load_all(inputs, **options)
    for name, length in zip(data.names, data.lengths, strict=True):
        if length < 2:
            raise ValueError(f"{name} has only one pattern, but a sequence needs at least two: a pattern and its successor.")
    found = conflicts(data)
    context = found.context
    if data.closed:
        wanted = context if order == "auto" else int(order)
        while wanted is not None and wanted > data.closed:
            data = close_loops(data, order=wanted)
            context = conflicts(data).context
            wanted = context if order == "auto" else wanted
    if context is None or (order != "auto" and context > int(order)):
        raise ValueError(_remedy(data, found.describe(), context))
    return data


def _remedy(data: Sequences, sentence: str, context: int | None) -> str:
    """Name the sequences of a conflict, and say what the command line can do about it."""
    names = ", ".join(f"{s} is {name}" for s, name in enumerate(data.names[:4]))
    repeats = bool((data[1:] == data[:-1]).all(axis=1).any())
    detail = "--stride or --size" if len(data.frame_shape) == 2 else "--stride"
    remedies = [f"--order {context}" if context is not None else "", "--drop-repeats" if repeats else "", detail]
    hint = " or ".join(remedy for remedy in remedies if remedy)
    return f"{sentence} (Sequence {names}{', ...' if len(data.names) > 4 else ''}. On the command line: {hint}.)"


def _fit(net: SequenceMemory, data: Sequences, *, auto: bool, quiet: bool) -> tuple[SequenceMemory, list[Any]]:
    """Learn, with one size or with several; what is left over is told later."""
    from sklearn.exceptions import ConvergenceWarning

    from seqattractor.tasks.hidden_size import choose_hidden

    with _progress(net, quiet) as (fit_options, say), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if auto and "n_hidden" in net.get_params(deep=False):
            return choose_hidden(net, data, tell=say, **fit_options)
        return net.fit(data, **fit_options), []


@contextmanager
def _progress(net: SequenceMemory, quiet: bool) -> Iterator[tuple[dict[str, Any], Any]]:
    """A bar of epochs on the terminal, with the time left at most, and a way to say a line."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[errors]}"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("learning", total=getattr(net, "max_epochs", None), errors="")

        def advance(epoch: int, hidden: int, visible: int) -> None:
            progress.update(task, completed=epoch, errors=f"{hidden} hidden, {visible} visible errors")

        def say(attempt: Any) -> None:
            if not quiet:
                recall = f"{attempt.recalled} of {attempt.cues} noisy cues recalled" if attempt.score == 1 else "not stored"
                click.echo(f"  {attempt.n_hidden} hidden neurons: {attempt.score:.1%} of the transitions, {recall}", err=True)

        takes_callback = "callback" in inspect.signature(net.fit).parameters
        yield ({"callback": advance} if takes_callback else {}), say


def _guaranteed(net: SequenceMemory, data: Sequences) -> int | None:
    """How many flips every stored transition surely withstands; None for networks without such a proof, and very large ones."""
    from seqattractor.analysis._certificate import certify

    if len(data) * net.n_features_in_ * net.get_params(deep=False).get("n_hidden", 1) > MOST_TO_CERTIFY:
        return None
    try:
        return int(certify(net, data, method="count", attack=False).radius.min())
    except TypeError:
        return None


def _complaints(net: SequenceMemory, data: Sequences, score: float, radius: int | None) -> list[str]:
    """The warnings that matter."""
    found = []
    grows = "n_hidden" in net.get_params(deep=False)
    if (data == data[0]).all():
        found.append("all patterns are equal, so there is nothing to recall; look at the input, or choose another --threshold.")
    if not getattr(net, "converged_", True):
        hidden, visible = (int(getattr(net, name, [0])[-1]) for name in ("hidden_errors_", "visible_errors_"))
        found.append(
            f"learning stopped after {getattr(net, 'n_iter_', '?')} epochs with errors left ({hidden} hidden, {visible} visible "
            f"in the last), so recall may be fragile; allow more --epochs{' or use more --hidden neurons' if grows else ''}."
        )
    if score < 1.0:
        other = "--network sparse, " if type(net).__name__ == "SequenceAttractor" else ""
        found.append(
            f"only {score:.1%} of the transitions are stored without a wrong unit; "
            f"try {'more --hidden neurons, ' if grows else ''}{other}a larger --order, or less to store."
        )
    elif radius is not None and radius <= 0:
        found.append(
            "no number of wrong units is surely withstood (certified radius 0 by a quick look; `seqattractor inspect` looks "
            "closer); recall from noise may fail, so try it."
        )
    return found


def _summary(
    net: SequenceMemory,
    data: Sequences,
    score: float,
    radius: int | None,
    seconds: float,
    tries: list[Any],
    complaints: list[str],
    out: Path,
) -> dict[str, Any]:
    """All that was learned, for JSON and for sentences."""
    return {
        "model": str(out),
        "bytes": out.stat().st_size,
        "network": type(net).__name__,
        "n_hidden": net.get_params(deep=False).get("n_hidden"),
        "order": net.order_,
        "sequences": [{"name": n, "length": int(t)} for n, t in zip(data.names, data.lengths, strict=True)],
        "n_units": net.n_features_in_,
        "frame_shape": list(data.frame_shape),
        "kind": data.kind,
        "on": float((data > 0).mean()),
        "epochs": getattr(net, "n_iter_", None),
        "converged": getattr(net, "converged_", None),
        "transitions_exact": score,
        "certified_radius": radius,
        "tries": [vars(attempt) for attempt in tries],
        "seconds": round(seconds, 3),
        "warnings": complaints,
    }


def _size(count: int) -> str:
    """The size of a file for people."""
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"


def _sentences(summary: dict[str, Any]) -> str:
    """Say what was learned."""
    lengths = [s["length"] for s in summary["sequences"]]
    names = ", ".join(s["name"] for s in summary["sequences"][:5]) + (", ..." if len(lengths) > 5 else "")
    shape = summary["frame_shape"]
    frame = f"{shape[1]} x {shape[0]} = {summary['n_units']}" if len(shape) == 2 else f"{summary['n_units']}"
    lines = [
        f"{len(lengths)} sequence{'s' if len(lengths) > 1 else ''} ({names}), {sum(lengths)} patterns of {frame} units, "
        f"{summary['on']:.1%} on"
    ]
    hidden = f" with {summary['n_hidden']} hidden neurons" if summary["n_hidden"] else ""
    order = f" and a context of {summary['order']} patterns" if summary["order"] > 1 else ""
    epochs = f" in {summary['epochs']} epoch{'s' if summary['epochs'] > 1 else ''}" if summary["epochs"] else ""
    lines.append(f"{summary['network']}{hidden}{order} learned them{epochs}, {summary['seconds']:.1f} s")
    stored = "every transition is stored exactly" if summary["transitions_exact"] == 1 else "not everything is stored"
    if (flips := summary["certified_radius"] or 0) > 0:
        stored += f", and surely withstands any {flips} wrong unit{'s' if flips > 1 else ''}"
        stored += " (`seqattractor inspect` looks closer and may prove more)"
    lines.append(f"{stored}; saved as {summary['model']} ({_size(summary['bytes'])})")
    return "\n".join(lines)
