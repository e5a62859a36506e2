"""`seqattractor learn`: store your own sequences in a network."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.cli.loading import (
    FILE,
    PATH,
    as_options,
    check_folder,
    check_not_read,
    count_or_auto,
    loading_options,
    parse_setting,
    read_files,
)

if TYPE_CHECKING:
    from seqattractor.sequences import Sequences

NOT_STORED = 1  # exit code
_NOT_MODELS = {
    ".gif",
    ".webp",
    ".png",
    ".pdf",
    ".svg",
    ".mp4",
    ".mid",
    ".csv",
    ".txt",
}  # what a recall is written as
EXAMPLES = """\b
Examples:
  seqattractor learn cat.gif -o cat.npz
  seqattractor learn tune.mid --order auto -o tune.npz
  seqattractor learn spikes.csv --bin 0.05 --hidden 800 -o spikes.npz
  seqattractor learn session.nwb --bin 0.025 --epochs laps -o laps.npz"""


def _complete_network(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the networks whose short names begin so."""
    from seqattractor.networks.registry import REGISTRY

    return [name for name in REGISTRY if name.startswith(incomplete)]


@click.command(name="learn", epilog=EXAMPLES)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=PATH)
@click.option("-o", "--out", type=FILE, required=True, help="The model file to write (npz).")
@click.option(
    "--network",
    shell_complete=_complete_network,
    help="attractor, sparse, perceptron, hebbian, one-hot, dense, ...; a wrong name lists them "
    "all. [attractor, or sparse if that cannot store them]",
)
@click.option(
    "--hidden",
    callback=count_or_auto,
    metavar="NUMBER|auto",
    help="Hidden neurons; auto tries larger and larger numbers. [auto]",
)
@click.option(
    "--order",
    callback=count_or_auto,
    metavar="NUMBER|auto",
    help="How many past patterns the network sees; auto: as few as resolve all conflicts. "
    "[auto, or one more if that cannot store them]",
)
@click.option(
    "--keep-repeats",
    is_flag=True,
    help=(
        "Keep frames that equal the one before, also where the network then has to see many past "
        "frames."
    ),
)
@click.option(
    "--max-epochs",
    callback=count_or_auto,
    metavar="NUMBER|auto",
    help="Stop after this many presentations of the sequences. [500, or 5000 if needed]",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The same seed gives the same network.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any other parameter of the network, such as kappa=2.",
)
@click.option(
    "--no-patterns",
    is_flag=True,
    help="Do not store the sequences in the model file (recall then has nothing to compare with).",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was learned as JSON.")
@loading_options
def command(
    inputs: tuple[Path, ...],
    out: Path,
    network: str | None,
    hidden: int | str | None,
    order: int | str | None,
    keep_repeats: bool,
    max_epochs: int | str | None,
    seed: int,
    settings: tuple[str, ...],
    no_patterns: bool,
    as_json: bool,
    **loading: Any,
) -> None:
    """Learn sequences from your files; several INPUTs become several sequences in one network.

    An INPUT is a GIF, WebP or animated PNG, a folder of pictures, a video, an npy, npz or mat
    array, text art, a CSV or TSV table, a MIDI file, (with --bin) spike times, or an NWB file with
    spikes, calcium traces or behaviour.
    """
    from seqattractor._progress import epoch_progress
    from seqattractor.io._attached import attach
    from seqattractor.networks.registry import make_network
    from seqattractor.sequences._transitions import ConflictError, prepare
    from seqattractor.tasks.learn import learn

    for path in inputs:
        if not os.path.exists(path):
            raise ValueError(
                f"there is no file or folder {path}; for a first try without one: seqattractor demo"
            )
    check_folder(out)
    if out.suffix.lower() in _NOT_MODELS:
        raise ValueError(
            f"a model file is npz; name it {out.stem}.npz, and let `seqattractor recall` write "
            f"{out.name}."
        )
    check_not_read(out, inputs)
    parameters = _parameters(network or "attractor", hidden, order, max_epochs, seed) | dict(
        map(parse_setting, settings)
    )
    net = make_network(
        network or "attractor", **parameters
    )  # wrong names are rejected before files are read
    net.check_parameters()
    notes: list[str] = []

    def say(note: str) -> None:
        notes.append(note)
        if not as_json:
            click.echo(f"note: {note}", err=True)

    data = read_to_learn(inputs, as_options(loading), keep_repeats or order is not None, say)
    if data.kind == "spikes":
        say("any laps can be stored; `seqattractor replay` tests whether they predict each other.")
    try:
        prepared = prepare(data, parameters.get("order", 1))
    except ConflictError as error:
        raise ValueError(_remedy(data, str(error), error.context)) from None
    if order is None:
        _note_context(data, say)
    given = getattr(net, "max_epochs", None)  # auto has no number to count up to
    with epoch_progress(given if isinstance(given, int) else None, quiet=as_json) as progress:
        on_attempt = (
            None if as_json else lambda attempt: click.echo(f"  {attempt.describe()}", err=True)
        )
        learned = learn(
            prepared,
            network,
            parameters,
            widen=not isinstance(order, int),
            progress=progress,
            on_attempt=on_attempt,
        )
    attach(learned.net, learned.data, patterns=not no_patterns)
    learned.net.save(out)
    size = out.stat().st_size
    if as_json:
        click.echo(
            json.dumps(
                {"model": str(out), "bytes": size, **learned.to_dict(), "notes": notes}, indent=1
            )
        )
    else:
        click.echo(f"{learned.describe()}\nsaved as {out} ({_size(size)})")
        for warning in learned.warnings:
            click.echo(f"warning: {warning}", err=True)
    if learned.score < 1:
        raise SystemExit(NOT_STORED)


def _parameters(
    network: str,
    hidden: int | str | None,
    order: int | str | None,
    max_epochs: int | str | None,
    seed: int,
) -> dict[str, Any]:
    """Return the parameters that this command has options for; those without a choice only if the
    network has them.
    """
    from seqattractor.networks.registry import parameters_of

    known = parameters_of(network)
    wanted = {
        "order": (order or "auto") if "order" in known else (None if order in (None, 1) else order),
        "random_state": seed if "random_state" in known else None,
        "n_hidden": hidden,
        "max_epochs": max_epochs,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _remedy(data: Sequences, sentence: str, context: int | None) -> str:
    """Return the message of a conflict with the options that resolve it."""
    repeats = ["--drop-repeats"] if (data[1:] == data[:-1]).all(axis=1).any() else []
    remedies = [*([f"--order {context}"] if context else []), *repeats, "--stride"]
    return f"{sentence} (On the command line: {' or '.join(remedies)}.)"


def read_to_learn(
    inputs: tuple[Path, ...],
    options: dict[str, Any],
    keep_repeats: bool,
    say: Callable[[str], None],
) -> Sequences:
    """Read the files, leave out repeats as wanted, and note that, and which frames are nearly
    repeated.
    """
    from seqattractor.tasks.repeats import leave_out_repeats, near_repeats, repeats_that_hinder

    most, drop = options.pop("drop_near", 0), options.pop("drop_repeats", False)
    data = read_files(inputs, options)
    if (
        data.kind in ("array", "table")
        and "time_axis" not in options
        and data.shape[1] >= 4 * data.lengths.max()
    ):
        read = (
            f"{data.names[0]} was read as {data.lengths[0]} time steps (rows) of {data.shape[1]} "
            "units (columns)"
        )
        say(f"{read}; if its rows are units, give --time-axis 1.")
    count = len(data) - data.closed * len(
        data.lengths
    )  # a frame that closes a loop is not one of its own
    before = len(data)
    if most or drop:
        data = leave_out_repeats(data, most)
        what = (
            f"differ in at most {most} units from the last one taken"
            if most
            else "equal the one before"
        )
        say(f"{before - len(data)} of {count} frames {what} and were left out.")
    elif not keep_repeats and (hinder := repeats_that_hinder(data)):
        data = leave_out_repeats(data)
        say(
            f"{hinder} of {count} frames equal the one before and were left out: a network would "
            "have to count them. --keep-repeats keeps them."
        )
    if len(near := near_repeats(data)):
        say(
            f"{len(near)} of {len(data)} frames are nearly the same as the one before; --drop-near "
            f"{near.max()} leaves them out."
        )
    return data


def _note_context(data: Sequences, say: Callable[[str], None]) -> None:
    """Note why the network looks at more than one pattern."""
    from seqattractor.sequences._transitions import find_conflicts

    ambiguous = find_conflicts(data)
    if ambiguous:
        (s, t), (other, later) = ambiguous[0].first, ambiguous[0].second
        where = f"frame {t} of {data.names[s]} occurs again as frame {later} of {data.names[other]}"
        more = f" (and {len(ambiguous) - 1} more do)" if len(ambiguous) > 1 else ""
        say(
            f"{where} with a different successor{more}, so the network looks at the last "
            f"{ambiguous.context} frames (--order)."
        )


def _size(count: int) -> str:
    """Return the size of a file in words."""
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"
