"""`seqattractor recall`: let a stored sequence come back from a corrupted cue."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from seqattractor._suggest import did_you_mean
from seqattractor.cli.loading import PATH, check_not_read, read_like

if TYPE_CHECKING:
    from seqattractor.io._attached import Attached
    from seqattractor.io._compose import Recalled
    from seqattractor.networks.base import SequenceMemory
    from seqattractor.sequences import Patterns
    from seqattractor.tasks.recall import Corruption, Recall, RecallTrials
    from seqattractor.tasks.stored import Stored

NOT_STORED = 1  # exit code: not even the clean cue of a stored sequence brings it back
SHOWN_UNITS = 20
SHOWN = 12  # steps at the beginning that are always printed
STEPS_WITHOUT_TRUTH = 50
ENDINGS = "gif, webp, mp4, png, pdf, svg, npz, mid, csv, txt"
EXAMPLES = """\b
Examples:
  seqattractor recall cat.npz --flips 500 -o cat.gif
  seqattractor recall tune.npz --cue 0:4 -o tune.mid
  seqattractor recall walk.npz --cue half.png --steps 60 -o walk.gif"""


class _Start(NamedTuple):
    """Where recall starts."""

    cue: Patterns  # clean, shape (order, N)
    place: tuple[int, int]  # sequence and frame at which it begins, where sequences are known
    steps: int  # to the end of the sequence, or one round of a loop
    words: str
    is_stored: bool  # whether the cue is a stored pattern, and not one from a file


@click.command(name="recall", epilog=EXAMPLES)
@click.argument("model", type=PATH)
@click.option(
    "--cue",
    default="0:0",
    show_default=True,
    metavar="FILE|SEQ:FRAME",
    help="A file to read, or a stored frame, from 0.",
)
@click.option("--key", help="The array of an npz file given as the cue.")
@click.option(
    "--flips", type=click.IntRange(min=0), default=0, help="Flip this many units of the cue."
)
@click.option(
    "--occlude",
    metavar="FRACTION|BLOCK",
    help="Cover a part of the cue: 0.25, or rows and columns as 10:60,0:88.",
)
@click.option(
    "--noise", type=click.IntRange(min=0), default=0, help="Flip this many units before every step."
)
@click.option(
    "--steps",
    type=click.IntRange(min=1, max=100_000),
    help="How many patterns to recall. [to the end of the sequence; one round of a loop]",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1, max=10_000),
    help="Also count how often recall succeeds, with fresh noise each time.",
)
@click.option(
    "-o",
    "--out",
    "outs",
    multiple=True,
    type=PATH,
    help=f"{ENDINGS}, or a folder; may be repeated.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The same seed gives the same noise.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the recall as JSON.")
def command(
    model: Path,
    cue: str,
    key: str | None,
    flips: int,
    occlude: str | None,
    noise: int,
    steps: int | None,
    trials: int | None,
    outs: tuple[Path, ...],
    seed: int,
    as_json: bool,
) -> None:
    """Recall a sequence from a cue that you may corrupt, and write it as pictures, music or
    numbers.
    """
    import numpy as np

    from seqattractor.io._attached import attached
    from seqattractor.io._compose import Recalled
    from seqattractor.io._write import check_writable, write_recall
    from seqattractor.networks import load
    from seqattractor.tasks.recall import recall, recall_often
    from seqattractor.tasks.stored import Stored

    for path in outs:
        check_not_read(path, (model, Path(cue)))
    net = load(model)
    known = attached(net)
    stored = None if known.sequences is None else Stored.of(known.sequences)
    start = _start(net, known, stored, cue, key, steps)
    corruption = _corruption(flips, occlude)
    corrupted = corruption(start.cue, known.frame_shape, seed)
    options: dict[str, Any] = {"stored": stored, "place": start.place, "noise": noise, "rng": seed}
    outcome = recall(net, corrupted, steps or start.steps, look_on=True, **options)
    about = (known.frame_shape, known.rate, known.units, known.step, known.kind)
    shown = Recalled(outcome.states, outcome.truth, net.order_, *about, code=known.code)
    for path in outs:
        check_writable(path, shown)
    far = (
        0 if outcome.truth is None else len(outcome.truth) - net.order_
    )  # steps for which the truth is known
    summary, often = _summary(outcome, start, known, shown), None
    if trials:
        if far <= 0:
            raise ValueError(
                "there is nothing stored to compare with, so trials cannot be counted."
            )
        options |= {"trials": trials, "frame_shape": known.frame_shape}
        often = recall_often(net, start.cue, corruption, far, **options)
        summary |= {
            "trials": trials,
            "successes": often.rate.successes,
            "interval": list(often.rate.interval),
        }
        summary["each_trial"] = often.rows()
    written = []
    for path in outs:
        film = path.suffix.lower() in (".gif", ".webp", ".mp4")
        written += [path, path.with_name(f"{path.name}-strip.png")] if film else [path]
    for path in written:
        write_recall(path, shown)
    summary["written"] = [*map(str, written)]
    click.echo(json.dumps(summary, indent=1) if as_json else _sentences(outcome, often, summary))
    clean = np.array_equal(corrupted, start.cue) and not noise
    if start.is_stored and clean and outcome.locked_on is None and far > 0:
        raise SystemExit(NOT_STORED)


def _corruption(flips: int, occlude: str | None) -> Corruption:
    """Read --flips and --occlude."""
    from seqattractor.tasks.recall import Corruption

    if occlude is None:
        return Corruption(flips)
    if ranges := re.findall(r"(\d+):(\d+)", occlude):
        return Corruption(flips, tuple((int(a), int(b)) for a, b in ranges))
    try:
        return Corruption(flips, float(occlude))
    except ValueError:
        raise ValueError(
            "--occlude takes a fraction such as 0.25 or a block such as 10:60,0:88, not "
            f"{occlude!r}."
        ) from None


def _start(
    net: SequenceMemory,
    known: Attached,
    stored: Stored | None,
    cue: str,
    key: str | None,
    steps: int | None,
) -> _Start:
    """Read the cue: a file if there is one of this name, else a place in the stored sequences."""
    if Path(cue).exists():
        return _from_file(net, known, stored, cue, key)
    match = re.fullmatch(r"(?:(.+):)?(\d+)", cue)
    if match is None:
        raise ValueError(
            f"the cue {cue!r} is neither a file nor a place such as 0:12 (sequence:frame)."
        )
    if stored is None:
        raise ValueError(
            "the model file does not hold its sequences; give a cue from a file with --cue FILE."
        )
    name, frame, order = match[1] or "0", int(match[2]), net.order_
    places = [str(s) for s in range(len(stored.names))]
    if name not in (*places, *stored.names):
        meant = (
            did_you_mean(name, stored.names)
            or f"stored are {', '.join(stored.names)}, counted from 0."
        )
        raise ValueError(f"there is no file {cue!r}, and no stored sequence {name!r}; {meant}")
    s = places.index(name) if name in places else stored.names.index(name)
    if frame >= (length := len(stored.sequences[s])):
        raise ValueError(f"sequence {s} has no frame {frame}: it has {length}, counted from 0.")
    needed = order + (steps is None)
    following = stored.following(s, frame, needed, order)
    if len(following) < needed:
        raise ValueError(
            f"frame {frame} of sequence {s} has too few frames after it: a cue takes {order}, one "
            f"more must follow unless --steps is given, and the sequence has {length}."
        )
    return _Start(
        following[:order],
        (s, frame),
        stored.steps(s, frame, order),
        f"frame {frame} of {stored.names[s]}",
        True,
    )


def _from_file(
    net: SequenceMemory, known: Attached, stored: Stored | None, cue: str, key: str | None
) -> _Start:
    """Read a cue as the stored sequences were read, and look for the stored place that is nearest
    to it.
    """
    from seqattractor.io._load import align_units

    of_whole_sequences = ("loop", "drop_repeats", "drop_near", "frames", "key")
    part = read_like(known, [cue], {"key": key}, without=of_whole_sequences, several=False)
    if known.units is not None:
        part = align_units(part, known.units)
    order = net.order_
    if part.shape[1] != net.n_features_in_:
        raise ValueError(
            f"{cue} has {part.shape[1]} units, but the network has {net.n_features_in_}."
        )
    if len(part) < order:
        raise ValueError(
            f"{cue} has {len(part)} frame{'s' if len(part) != 1 else ''}, but this network needs "
            f"{order} for a cue."
        )
    clean = part.patterns[:order]
    if stored is None:
        return _Start(clean, (0, 0), STEPS_WITHOUT_TRUTH, cue, False)
    s, frame, overlap = stored.nearest(clean)
    words = f"{cue}, nearest to frame {frame} of {stored.names[s]} (overlap {overlap:.3f})"
    return _Start(clean, (s, frame), stored.steps(s, frame, order), words, False)


def _summary(outcome: Recall, start: _Start, known: Attached, shown: Recalled) -> dict[str, Any]:
    """Return the outcome as values for JSON."""
    from seqattractor.sequences._transitions import LOCKED_ON

    order = outcome.cue_rows
    summary: dict[str, Any] = {
        "cue": start.words,
        "order": order,
        "n_units": outcome.states.shape[1],
        "wrong_in_cue": int((outcome.states[:order] != start.cue).sum()),
        "steps": outcome.steps,
        "nearest": outcome.nearest,
    }
    if outcome.wrong is not None and outcome.overlaps is not None:
        summary |= {
            "overlap": [round(float(v), 6) for v in outcome.overlaps],
            "wrong": outcome.wrong.tolist(),
        }
        summary |= {
            "criterion": LOCKED_ON,
            "final_overlap": float(outcome.overlaps[-1]),
            **outcome.summary(),
        }
    if known.kind == "spikes" and outcome.spikes is not None:
        units = known.units or [str(unit) for unit in range(outcome.states.shape[1])]
        rows = [
            {"unit": name, **row} for name, row in zip(units, outcome.spikes.rows(), strict=True)
        ]
        summary["spikes"] = {"summary": outcome.spikes.describe(), "units": rows}
    if shown.value_errors is not None:
        summary["value_error"] = [round(float(v), 6) for v in shown.value_errors]
    return summary


def _sentences(outcome: Recall, often: RecallTrials | None, summary: dict[str, Any]) -> str:
    """Return the outcome in words, step by step."""
    order = outcome.cue_rows
    lines = [
        f"cue: {summary['cue']}, {summary['wrong_in_cue']} of {order * summary['n_units']} units "
        "wrong"
    ]
    if outcome.truth is not None:
        steps = [_step(**row) for row in outcome.rows()]
        first, rest = steps[: SHOWN + 1], steps[SHOWN + 1 :]
        lines += [
            "step  overlap  wrong  nearest stored",
            *first,
            *(["..."] if len(rest) > 2 else []),
            *rest[-2:],
        ]
        if len(outcome.truth) <= order:
            lines.append("nothing is stored that follows the cue")
        else:
            lines.append(outcome.describe())
            if errors := summary.get("value_error"):
                cue, worst, end = errors[order - 1], max(errors[order:]), errors[-1]
                lines.append(
                    f"mean error of the values: {cue:.3g} in the cue, {worst:.3g} at most after "
                    f"it, {end:.3g} at the end"
                )
            if "spikes" in summary:
                lines += [summary["spikes"]["summary"], *_units(summary["spikes"]["units"])]
    if often is not None:
        lines.append(often.describe())
    return "\n".join([*lines, *(f"wrote {path}" for path in summary["written"])])


def _units(rows: list[dict[str, Any]]) -> list[str]:
    """Return a table of the spikes of each unit; of many units, of those with most spikes."""
    shown = sorted(rows, key=lambda row: -(row["recalled"] + row["missed"] + row["false"]))[
        :SHOWN_UNITS
    ]
    table = [
        f"{row['unit'][:12]:>12}  {row['recalled']:8d}  {row['missed']:6d}  {row['false']:5d}"
        for row in shown
    ]
    more = [f"  ({len(rows) - len(shown)} more units in --json)"] if len(shown) < len(rows) else []
    return ["        unit  recalled  missed  false", *table, *more]


def _step(step: int, overlap: float | None, wrong: int | None, nearest: str | None) -> str:
    """Return one step in a line."""
    numbers = f"{'-':>7}  {'-':>5}" if overlap is None else f"{overlap:7.3f}  {wrong:5d}"
    return f"{step:4d}  {numbers}  {nearest or ''}"
