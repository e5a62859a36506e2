"""`seqattractor demo`: something to see within seconds, a walking figure that comes out of
noise.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from seqattractor.cli.loading import FILE, check_folder
from seqattractor.datasets._walker import FRAME_SHAPE

if TYPE_CHECKING:
    from rich.console import Console, Group

    from seqattractor.networks.attractor import SequenceAttractor
    from seqattractor.tasks.recall import Recall

EXAMPLES = """\b
Examples:
  seqattractor demo
  seqattractor demo --flips 4000 --seed 1 -o walk.gif"""
NEXT = """\
What next:
  seqattractor learn cat.gif -o cat.npz      a film, pictures, a tune, a table or spikes of your own
  seqattractor recall cat.npz -o back.gif    from a cue that you may corrupt, \
such as with --flips 500
  seqattractor lab                           learning and recall in the browser
  seqattractor reproduce --quick             the paper's tables and figures, in a report"""
FRAMES_PER_SECOND = 40
STEPS_SHOWN = 68  # two strides
N_HIDDEN = 200
_GAP = "  "


class Demo(NamedTuple):
    """A walk that was learned, and its recall from a corrupted first frame."""

    net: SequenceAttractor
    recall: Recall
    seconds: float  # duration of learning

    def describe(self) -> str:
        """Return what was learned and how well it was recalled."""
        (height, width), net = FRAME_SHAPE, self.net
        stored = (
            "every transition is stored" if net.converged_ else "not every transition is stored"
        )
        return (
            f"Learned a walk of {self.recall.steps} frames of {width} x {height} pixels, with "
            f"{net.n_hidden_} hidden neurons "
            f"in {self.seconds:.1f} s ({net.n_iter_} epochs): {stored}.\n{self.recall.verdict}"
        )


@click.command(name="demo", epilog=EXAMPLES)
@click.option(
    "--flips",
    type=click.IntRange(min=0),
    default=3000,
    show_default=True,
    help="Pixels of the cue to flip.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The same seed gives the same recall.",
)
@click.option(
    "-o", "--out", type=FILE, default=Path("demo.gif"), show_default=True, help="The GIF to write."
)
def command(flips: int, seed: int, out: Path) -> None:
    """Learn a walking figure and watch it come back from a cue of which a good part is wrong."""
    from rich.console import Console

    from seqattractor.io._compose import Recalled
    from seqattractor.io._write import write_recall

    if out.suffix.lower() != ".gif":
        raise click.UsageError(f"the demo is written as a GIF, but {out} does not end in .gif.")
    check_folder(out)
    console = Console(highlight=False)
    shown = demo(flips, seed)
    if console.is_terminal and console.color_system is not None and not console.options.ascii_only:
        watch(shown, console)
    console.print(shown.describe(), markup=False, soft_wrap=True)
    there = " over the one that was there" if out.exists() else ""
    write_recall(
        out, Recalled(shown.recall.states, shown.recall.truth, 1, FRAME_SHAPE, kind="pictures")
    )
    console.print(f"wrote {out}{there}\n\n{NEXT}", markup=False, soft_wrap=True)


def demo(flips: int, seed: int) -> Demo:
    """Let the paper's network learn a walk, flip pixels of its first frame, and recall one round
    from there.
    """
    from seqattractor.datasets._walker import walker
    from seqattractor.networks.attractor import SequenceAttractor
    from seqattractor.tasks.recall import Corruption, recall
    from seqattractor.tasks.stored import Stored

    data = walker()
    if flips > data.shape[1]:
        raise ValueError(
            f"the frames have {data.shape[1]} pixels, of which {flips} cannot be flipped."
        )
    started = time.perf_counter()
    net = SequenceAttractor(n_hidden=N_HIDDEN, random_state=seed, n_jobs=-1).fit(data)
    seconds = time.perf_counter() - started
    cue = Corruption(flips)(data.patterns[:1], data.frame_shape, seed)
    return Demo(net, recall(net, cue, len(data) - data.closed, stored=Stored.of(data)), seconds)


def watch(shown: Demo, console: Console) -> None:
    """Show the recall step by step; the last one stays."""
    from rich.live import Live

    shrink = fitting_shrink(console)
    with Live(console=console, auto_refresh=False) as live:
        due = time.monotonic()
        for t in range(STEPS_SHOWN + 1):
            live.update(moment(shown, t, shrink), refresh=True)
            due += (
                0.7 if t == 0 else 1 / FRAMES_PER_SECOND
            )  # longer at first, to see what the network is given
            time.sleep(max(0.0, due - time.monotonic()))


def fitting_shrink(console: Console) -> int:
    """Return by how much to shrink frames, so that three of them fit side by side into the
    terminal.
    """
    height, width = FRAME_SHAPE
    fits = (
        k
        for k in (1, 2, 4)
        if height // k // 2 + 3 < console.height
        and 3 * (width // k) + 2 * len(_GAP) <= console.width
    )
    return next(fits, 8)


def moment(shown: Demo, t: int, shrink: int) -> Group:
    """Draw one step: stored frame, cue and recalled frame side by side, and numbers below."""
    from rich.console import Group
    from rich.text import Text

    from seqattractor.report.blocks import coloured, legend

    recall, shape = shown.recall, FRAME_SHAPE
    truth, states = recall.truth, recall.states
    overlaps, errors = recall.overlaps, recall.wrong
    assert truth is not None  # the walk is what is stored
    assert overlaps is not None
    assert errors is not None
    wrong = truth[t] if t else None  # the cue is shown as it is
    panels = [
        coloured(x, y, shape, shrink)
        for x, y in ((truth[t], None), (states[0], None), (states[t], wrong))
    ]
    names = ("stored", f"cue, {errors[0]} wrong", "recall")
    title = Text(_GAP.join(name.ljust(shape[1] // shrink) for name in names), style="bold")
    lines = [Text(_GAP).join(line) for line in zip(*panels, strict=True)]
    numbers = f"step {t:3d} of {recall.steps}   overlap {overlaps[t]:.4f}   {errors[t]:4d} wrong   "
    return Group(title, *lines, Text(numbers) + legend())
