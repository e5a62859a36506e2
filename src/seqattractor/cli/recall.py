"""`seqattractor recall`: let a stored sequence come back from a corrupted cue."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seqattractor.io._attached import Attached
    from seqattractor.io._compose import Recalled
    from seqattractor.networks._base import SequenceMemory
    from seqattractor.sequences import Sequences

from seqattractor.cli.loading import load_like, refuse_to_overwrite

__all__ = ["command"]

SHOWN = 12  # steps at the beginning that are always printed
MOST_STEPS = 1000  # of a closed sequence that is compared round by round
STEPS_WITHOUT_TRUTH = 50
MOST_VALUES = 2**30
MOST_AT_ONCE = 2**26  # values of trials that are recalled side by side
EXAMPLES = """\b
Examples:
  seqattractor recall cat.npz --flips 500 -o cat.gif
  seqattractor recall tune.npz --cue 0:4 -o tune.mid
  seqattractor recall walk.npz --cue half.png --steps 60 -o walk.gif"""


class _Start(NamedTuple):
    """Where recall starts: the clean cue (order, N), and what should follow from its first pattern on, (L, N), where known."""

    cue: NDArray[np.int8]
    truth: NDArray[np.int8] | None
    steps: int
    """To the end of the sequence, or once round."""
    words: str


@click.command(name="recall", epilog=EXAMPLES)
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--cue", default="0:0", show_default=True, metavar="FILE|SEQ:FRAME", help="A file to read, or a stored frame, from 0."
)
@click.option("--key", help="The array of an npz file given as the cue.")
@click.option("--flips", type=click.IntRange(min=0), default=0, help="Flip so many units of the cue.")
@click.option("--occlude", metavar="FRACTION|BLOCK", help="Cover a part of the cue: 0.25, or rows and columns as 10:60,0:88.")
@click.option("--noise", type=click.IntRange(min=0), default=0, help="Flip so many units again before every step.")
@click.option(
    "--steps", type=click.IntRange(min=1, max=100_000), help="How many patterns to recall. [to the end of the sequence]"
)
@click.option("--trials", type=click.IntRange(min=1, max=10_000), help="Also count how often recall succeeds with other noise.")
@click.option(
    "-o",
    "--out",
    "outs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="gif, webp, mp4, png, npz, mid, csv, txt, or a folder; may be repeated.",
)
@click.option("--no-strip", is_flag=True, help="Do not write a strip of frames beside a gif, webp or mp4.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same noise.")
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
    no_strip: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Recall a sequence from a cue that you may corrupt, and write it as pictures, music or numbers."""
    from seqattractor.io._attached import attached
    from seqattractor.io._compose import Recalled
    from seqattractor.io._write import check_writable, write_recall
    from seqattractor.networks import load
    from seqattractor.noise import as_generator

    for path in outs:
        refuse_to_overwrite(path, (model, Path(cue)))
    net = load(model)
    known = attached(net)
    start = _start(net, known, cue, key, steps)
    n_steps = steps or start.steps
    if n_steps * net.n_features_in_ > MOST_VALUES:
        raise ValueError(f"{n_steps} steps of {net.n_features_in_} units are too many to keep; ask for fewer steps.")
    rng = as_generator(seed)
    corrupt = _Corruption(flips, occlude, known.frame_shape)
    trajectory = _run(net, corrupt(start.cue, rng), n_steps, noise, rng)
    truth = None if start.truth is None else start.truth[: len(trajectory)]
    recalled = Recalled(trajectory, truth, net.order_, known.frame_shape, known.rate, known.units, known.step, known.kind)
    for path in outs:
        check_writable(path, recalled)
    summary = _summary(recalled, start, known.sequences)
    if trials:
        if truth is None or len(truth) <= net.order_:
            raise ValueError("there is nothing stored to compare with, so trials cannot be counted.")
        summary |= _count(net, start, len(truth), noise, corrupt, trials, rng)
    written = []
    for path in outs:
        write_recall(path, recalled)
        written.append(str(path))
        if path.suffix.lower() in (".gif", ".webp", ".mp4") and not no_strip:
            strip = path.with_name(f"{path.stem}-strip.png")
            write_recall(strip, recalled)
            written.append(str(strip))
    summary["written"] = written
    click.echo(json.dumps(summary, indent=1) if as_json else _sentences(summary))


class _Corruption:
    """Covers and flips units of every pattern of a cue."""

    def __init__(self, flips: int, occlude: str | None, frame_shape: tuple[int, ...]) -> None:
        self.flips, self.shape = flips, frame_shape
        self.fraction: float | None = None
        self.block: tuple[tuple[int, int], ...] | None = None
        if occlude is None:
            return
        if ranges := re.findall(r"(\d+):(\d+)", occlude):
            self.block = tuple((int(a), int(b)) for a, b in ranges)
        else:
            try:
                self.fraction = float(occlude)
            except ValueError:
                raise ValueError(
                    f"--occlude takes a fraction such as 0.25 or a block such as 10:60,0:88, not {occlude!r}."
                ) from None

    def __call__(self, cue: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int8]:
        """Give the corrupted cue, shape (order, N)."""
        from seqattractor import noise

        if self.block is not None:
            cue = noise.occlude(cue, self.shape, self.block)
        elif self.fraction is not None:
            cue = noise.occlude(cue, self.shape, fraction=self.fraction, rng=rng)
        return noise.flip(cue, self.flips, rng)


def _run(net: SequenceMemory, cue: NDArray[np.int8], steps: int, noise: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Recall from a cue of shape (order, N)."""
    return net.recall(cue[0] if net.order_ == 1 else cue, steps, noise=noise, rng=rng)


def _start(net: SequenceMemory, known: Attached, cue: str, key: str | None, steps: int | None) -> _Start:
    """Find the cue: a file if there is one of this name, else a place in the stored sequences."""
    if Path(cue).exists():
        return _from_file(net, known, cue, key)
    match = re.fullmatch(r"(?:(.+):)?(\d+)", cue)
    if match is None:
        raise ValueError(f"the cue {cue!r} is neither a file nor a place such as 0:12 (sequence:frame).")
    data = known.sequences
    if data is None:
        raise ValueError("the model file does not hold its sequences; give a cue from a file with --cue FILE.")
    name, frame = match[1] or "0", int(match[2])
    if not name.isdigit() and name not in data.names:
        raise ValueError(f"there is no file {cue!r}, and no stored sequence {name!r}; stored are {', '.join(data.names)}.")
    s = int(name) if name.isdigit() else data.names.index(name)
    if s >= len(data.lengths):
        raise ValueError(f"there is no sequence {s}: {len(data.lengths)} are stored, counted from 0.")
    if frame >= data.lengths[s]:
        raise ValueError(f"sequence {s} has no frame {frame}: it has {data.lengths[s]}, counted from 0.")
    truth, to_the_end = _following(data, net.order_, s, frame)
    if len(truth) < net.order_ + (steps is None):
        raise ValueError(
            f"frame {frame} of sequence {s} has too few frames after it: a cue takes {net.order_}, one more must follow "
            f"unless --steps says how far to go, and the sequence has {data.lengths[s]}."
        )
    return _Start(truth[: net.order_], truth, to_the_end, f"frame {frame} of {data.names[s]}")


def _from_file(net: SequenceMemory, known: Attached, cue: str, key: str | None) -> _Start:
    """Read a cue as the stored sequences were read, and find the stored place that is nearest to it."""
    from seqattractor.io._load import load
    from seqattractor.io._units import align_units

    options = {k: v for k, v in known.options.items() if k not in ("loop", "drop_repeats", "frames", "key")}
    part = load_like(known.frame_shape, partial(load, cue), options, {"key": key})
    if known.units is not None:
        part = align_units(part, known.units)
    order = net.order_
    if part.shape[1] != net.n_features_in_:
        raise ValueError(f"{cue} has {part.shape[1]} units, but the network has {net.n_features_in_}.")
    if len(part) < order:
        raise ValueError(f"{cue} has {len(part)} frame{'s' if len(part) != 1 else ''}, but this network needs {order} for a cue.")
    clean = part[:order]
    data = known.sequences
    if data is None:
        return _Start(clean, None, STEPS_WITHOUT_TRUTH, cue)
    s, frame, overlap = _nearest(data, clean)
    words = f"{cue}, nearest to frame {frame} of {data.names[s]} (overlap {overlap:.3f})"
    return _Start(clean, *_following(data, order, s, frame), words)


def _nearest(data: Sequences, cue: NDArray[np.int8]) -> tuple[int, int, float]:
    """The stored place most like a cue of shape (order, N): sequence, frame and overlap."""
    from seqattractor.sequences import stack_context

    flat = cue.reshape(-1).astype(np.float64)
    best = (0, 0, -2.0)
    for s, sequence in enumerate(data.split()):
        overlaps = stack_context(sequence, len(cue))[:-1].astype(np.float64) @ flat / flat.size
        if overlaps.size and overlaps.max() > best[2]:
            best = (s, int(overlaps.argmax()), float(overlaps.max()))
    return best


def _following(data: Sequences, order: int, s: int, frame: int) -> tuple[NDArray[np.int8], int]:
    """A stored sequence from a frame on, and the steps to its end; one that is closed goes on for some rounds."""
    sequence = data.split()[s]
    closed = data.closed or int(len(sequence) > 2 and np.array_equal(sequence[0], sequence[-1]))
    if closed >= order:
        period = len(sequence) - closed
        rows = max(1, MOST_STEPS // period) * period + order
        return np.resize(np.roll(sequence[:period], -(frame % period), axis=0), (rows, sequence.shape[1])), period
    return np.asarray(sequence[frame:]), max(1, len(sequence) - frame - order)


def _count(
    net: SequenceMemory, start: _Start, length: int, noise: int, corrupt: _Corruption, trials: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Recall again and again with other noise: how often is the last pattern exact?"""
    from seqattractor.analysis._retrieval import success_rate

    assert start.truth is not None
    last = start.truth[length - 1]
    at_once = max(1, MOST_AT_ONCE // (length * net.n_features_in_))
    outcomes: list[bool] = []
    while len(outcomes) < trials:
        cues = np.stack([corrupt(start.cue, rng) for _ in range(min(at_once, trials - len(outcomes)))])
        runs = net.recall(cues[:, 0] if net.order_ == 1 else cues, length - net.order_, noise=noise, rng=rng)
        outcomes += (runs[:, -1] == last).all(axis=1).tolist()
    rate = success_rate(outcomes)
    return {"trials": trials, "successes": rate.successes, "interval": list(rate.interval)}


def _summary(recalled: Recalled, start: _Start, data: Sequences | None) -> dict[str, Any]:
    """All that there is to say, for JSON and for sentences."""
    order, clean = recalled.order, start.cue
    summary: dict[str, Any] = {
        "cue": start.words,
        "order": order,
        "n_units": recalled.recall.shape[1],
        "wrong_in_cue": int((recalled.recall[:order] != clean).sum()),
        "steps": len(recalled.recall) - order,
        "nearest": _names_of_nearest(recalled, data),
    }
    if recalled.truth is not None and recalled.overlaps is not None:
        wrong = (recalled.recall[: len(recalled.truth)] != recalled.truth).sum(axis=1)
        exact = np.flatnonzero(wrong[order:] > 0)
        settled = order + (int(exact[-1]) + 1 if exact.size else 0)
        summary |= {
            "overlap": [round(float(v), 6) for v in recalled.overlaps],
            "wrong": wrong.tolist(),
            "exact_from": settled - order + 1 if settled < len(wrong) else None,
        }
    return summary


def _names_of_nearest(recalled: Recalled, data: Sequences | None) -> list[str] | None:
    """For every step the stored pattern that is most like it, as SEQ:FRAME."""
    if data is None:
        return None
    scores = recalled.recall.astype(np.float32) @ data.astype(np.float32).T
    ends = np.cumsum(data.lengths)
    places = scores.argmax(axis=1)
    sequences = np.searchsorted(ends, places, side="right")
    return [f"{s}:{p - (ends[s] - data.lengths[s])}" for s, p in zip(sequences.tolist(), places.tolist(), strict=True)]


def _sentences(summary: dict[str, Any]) -> str:
    """Say how recall went, step by step."""
    order, steps = summary["order"], summary["steps"]
    lines = [f"cue: {summary['cue']}, {summary['wrong_in_cue']} of {order * summary['n_units']} units wrong"]
    if "overlap" in summary:
        lines.append("step  overlap  wrong  nearest stored")
        for t in range(order - 1, order + steps):
            if order + SHOWN <= t < order + steps - 2:
                if t == order + SHOWN:
                    lines.append("...")
                continue
            known = t < len(summary["overlap"])
            numbers = f"{summary['overlap'][t]:7.3f}  {summary['wrong'][t]:5d}" if known else f"{'-':>7}  {'-':>5}"
            lines.append(f"{t - order + 1:4d}  {numbers}  {summary['nearest'][t] if summary['nearest'] else ''}")
        if len(summary["overlap"]) <= order:
            lines.append("nothing is stored that follows the cue")
        elif summary["exact_from"] is None:
            lines.append("the recall did not end in the stored sequence")
        else:
            lines.append(f"exact from step {summary['exact_from']} on")
    if "trials" in summary:
        low, high = summary["interval"]
        lines.append(f"{summary['successes']} of {summary['trials']} trials ended exact (95% interval {low:.2f} to {high:.2f})")
    lines += [f"wrote {path}" for path in summary["written"]]
    return "\n".join(lines)
