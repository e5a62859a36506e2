"""`seqattractor learn`: store your own sequences in a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.cli.loading import FILE, PATH, as_options, count_or_auto, loading_options, read_files, refuse_to_overwrite

if TYPE_CHECKING:
    from seqattractor.sequences import Sequences
    from seqattractor.tasks.choose import Attempt

NOT_STORED = 1  # exit code
EXAMPLES = """\b
Examples:
  seqattractor learn cat.gif -o cat.npz
  seqattractor learn tune.mid --order auto -o tune.npz
  seqattractor learn spikes.csv --bin 0.05 --hidden 800 -o spikes.npz"""


@click.command(name="learn", epilog=EXAMPLES)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=PATH)
@click.option("-o", "--out", type=FILE, required=True, help="The model file to write (npz).")
@click.option(
    "--network",
    default="attractor",
    show_default=True,
    help="attractor, sparse, perceptron, hebbian, one-hot, dense, ...; a wrong name lists them all.",
)
@click.option(
    "--hidden", callback=count_or_auto, metavar="NUMBER|auto", help="Hidden neurons; auto tries larger and larger numbers. [auto]"
)
@click.option(
    "--order",
    callback=count_or_auto,
    metavar="NUMBER|auto",
    help="How many past patterns the network sees; auto: as few as resolve all conflicts. [1, or 2 if 1 cannot store them]",
)
@click.option("--epochs", type=click.IntRange(min=1), help="Stop after this many presentations of the sequences. [500]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same network.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any other parameter of the network, such as kappa=2."
)
@click.option(
    "--no-patterns", is_flag=True, help="Do not store the sequences in the model file (recall then has nothing to compare with)."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was learned as JSON.")
@loading_options
def command(
    inputs: tuple[Path, ...],
    out: Path,
    network: str,
    hidden: int | str | None,
    order: int | str | None,
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
    from seqattractor.cli.progress import epoch_progress
    from seqattractor.io._attached import attach
    from seqattractor.networks._registry import make_network
    from seqattractor.tasks.learn import ConflictError, learn, prepare

    if not out.parent.is_dir():
        raise ValueError(f"the folder {out.parent} does not exist; make it first.")
    refuse_to_overwrite(out, inputs)
    parameters = _parameters(network, hidden, order, epochs, seed) | _settings(settings)
    most = getattr(make_network(network, **parameters), "max_epochs", None)  # wrong names are refused before files are read
    data = read_files(inputs, **as_options(loading))
    try:
        data = prepare(data, order or 1)  # type: ignore[arg-type]  # count_or_auto lets no other word pass
    except ConflictError as error:
        raise ValueError(_remedy(data, str(error), error.context)) from None
    with epoch_progress(most, quiet=as_json) as progress:
        learned = learn(
            data, network, parameters, widen=not isinstance(order, int), progress=progress, tell=None if as_json else _tell
        )
    attach(learned.net, learned.data, patterns=not no_patterns)
    learned.net.save(out)
    size = out.stat().st_size
    if as_json:
        click.echo(json.dumps({"model": str(out), "bytes": size, **learned.to_dict()}, indent=1))
    else:
        click.echo(f"{learned.describe()}; saved as {out} ({_size(size)})")
        for warning in learned.warnings:
            click.echo(f"warning: {warning}", err=True)
    if learned.score < 1:
        raise SystemExit(NOT_STORED)


def _parameters(network: str, hidden: int | str | None, order: int | str | None, epochs: int | None, seed: int) -> dict[str, Any]:
    """The parameters that this command has options for; those without a choice only as far as the network has them."""
    from seqattractor.networks._registry import parameters_of

    known = parameters_of(network)
    wanted = {
        "order": order if "order" in known or order not in (None, 1) else None,
        "random_state": seed if "random_state" in known else None,
        "n_hidden": None if hidden == "auto" else hidden,
        "max_epochs": epochs,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """Read NAME=VALUE settings; a value is JSON where it can be, else a word."""
    chosen: dict[str, Any] = {}
    for setting in settings:
        name, sign, value = (part.strip() for part in setting.partition("="))
        if not sign:
            raise ValueError(f"a setting has the form NAME=VALUE, but {setting!r} does not.")
        try:
            chosen[name] = json.loads(value)
        except json.JSONDecodeError:
            chosen[name] = value
    return chosen


def _remedy(data: Sequences, sentence: str, context: int | None) -> str:
    """Name the sequences of a conflict, and say what the command line can do about it."""
    names = ", ".join(f"{s} is {name}" for s, name in enumerate(data.names[:4]))
    repeats = bool((data[1:] == data[:-1]).all(axis=1).any())
    detail = "--stride or --size" if len(data.frame_shape) == 2 else "--stride"
    remedies = [f"--order {context}" if context is not None else "", "--drop-repeats" if repeats else "", detail]
    hint = " or ".join(remedy for remedy in remedies if remedy)
    return f"{sentence} (Sequence {names}{', ...' if len(data.names) > 4 else ''}. On the command line: {hint}.)"


def _tell(attempt: Attempt) -> None:
    """Say how learning went with one number of hidden neurons."""
    recall = f"{attempt.recalled} of {attempt.cues} noisy cues recalled" if attempt.score == 1 else "not stored"
    context = f", a context of {attempt.order} patterns" if attempt.order > 1 else ""
    tried = f"{attempt.n_hidden} hidden neurons, {attempt.epochs} epochs{context}"
    click.echo(f"  {tried}: {attempt.score:.1%} of the transitions, {recall}", err=True)


def _size(count: int) -> str:
    """The size of a file for people."""
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"
