"""Files to take away: the model, the sequence, an animation and a figure as bytes, and the Python
code of it all.
"""

from __future__ import annotations

import copy
import io
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seqattractor.lab.choices import Chosen
from seqattractor.lab.jobs import Job
from seqattractor.lab.materials import Material
from seqattractor.lab.neurons import Inside
from seqattractor.lab.recall import Cue, Shown, cue_rows
from seqattractor.networks.base import SequenceMemory
from seqattractor.sequences import Patterns, close_loops
from seqattractor.tasks.recall import Recall

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATE = 8.0  # frames per second of what has no rate of its own
# of the second network, as on the page, where green stands for a recall that locked on
_VIOLET = "#7a52c7"
COLORS = {
    False: ("#f1eee7", "#23272d"),
    True: ("#262a31", "#ece9e2"),
}  # of units that are off and on, as on the page; dark: True
_DRAWING = threading.Lock()  # matplotlib's settings belong to the whole process


def model(net: SequenceMemory, material: Material) -> bytes:
    """Return the network with its sequences as a model file, for `sa.load` and `seqattractor
    recall`.
    """
    from seqattractor.io._attached import attach

    twin = copy.copy(net)
    data = close_loops(material.data, order=net.order_)
    attach(twin, replace(data, rate=data.rate or RATE), patterns=not hasattr(net, "patterns_"))
    return _written("model.npz", twin.save)


def sequence(material: Material) -> bytes:
    """Return the patterns X (T, N), their lengths and the shape of a frame, as an npz file."""
    buffer = io.BytesIO()
    data = material.data
    np.savez_compressed(
        buffer, X=data.patterns, lengths=data.lengths, frame_shape=np.array(data.frame_shape)
    )
    return buffer.getvalue()


def animation(run: Recall, shown: Shown, material: Material) -> bytes:
    """Return truth as on the page, cue and recall side by side as a GIF that runs for ever."""
    from seqattractor.io._compose import Recalled
    from seqattractor.io._write import write_recall

    # The font of pictures has no minus sign.
    caught = (
        None if shown.since is None else (shown.since, shown.label.replace("\N{MINUS SIGN}", "-"))
    )
    rows = Recalled(
        run.states[: len(shown.truth)],
        shown.truth,
        run.cue_rows,
        material.data.frame_shape,
        rate=RATE,
        caught=caught,
        code=material.data.code,
    )
    return _written("recall.gif", lambda path: write_recall(path, rows))


def _written(name: str, write: Callable[[Path], object]) -> bytes:
    """Return the bytes of a file that is written under a name."""
    with tempfile.TemporaryDirectory(prefix="seqattractor-lab-") as folder:
        path = Path(folder, name)
        write(path)
        return path.read_bytes()


def figure(job: Job, runs: list[Recall], shown: list[Shown], *, dark: bool) -> bytes:
    """Return errors of learning, overlaps with the shown truth, and frames, as a PNG in the page's
    colours.
    """
    with _DRAWING:
        from seqattractor import plots

        with plots.style(dark=dark):
            buffer = io.BytesIO()
            drawn(job, runs, shown, COLORS[dark]).savefig(buffer, format="png")
    return buffer.getvalue()


def drawn(job: Job, runs: list[Recall], shown: list[Shown], colors: tuple[str, str]) -> Figure:
    """Draw the figure; `colors` are those of units that are off and on."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure

    strips = _strips(runs, shown)
    drawing = Figure(figsize=(9.0, 3.8 + 1.4 * len(strips)), dpi=150)
    FigureCanvasAgg(drawing)
    rows = drawing.add_gridspec(1 + len(strips), 2, height_ratios=[2.2, *[1.0] * len(strips)])
    _draw_errors(drawing.add_subplot(rows[0, 0]), job)
    _draw_overlaps(drawing.add_subplot(rows[0, 1]), runs, shown)
    axes = [drawing.add_subplot(rows[1 + k, :]) for k in range(len(strips))]
    _draw_strips(axes, job.material, strips, runs[0].cue_rows)
    for ax in (
        axes if job.material.code is None else ()
    ):  # as on the page: white on black would be the negative of it
        ax.images[0].set_cmap(ListedColormap(colors))
    return drawing


def _marks(networks: list[Any]) -> list[str]:
    """Return what is added to a name, to distinguish two networks."""
    return [""] if len(networks) == 1 else [" A", " B"]


def _strips(runs: list[Recall], shown: list[Shown]) -> list[tuple[str, Patterns]]:
    """Return the rows of patterns below the curves: the truth, once where it is the same for all,
    and each recall.
    """
    same = all(np.array_equal(one.truth, shown[0].truth) for one in shown)
    strips: list[tuple[str, Patterns]] = []
    for mark, run, one in zip(_marks(runs), runs, shown, strict=True):
        if not strips or not same:
            caught = (
                "" if one.since is None else f"\n{one.label}\nfrom step {run.step_of(one.since)}"
            )
            strips.append((f"truth{'' if same else mark}{caught}", one.truth))
        strips.append((f"recall{mark}", run.states))
    return strips


def _draw_errors(ax: Axes, job: Job) -> None:
    """Draw the errors of each epoch, for each network."""
    from seqattractor import plots

    for k, mark in enumerate(_marks(job.outcome.visible)):
        epochs = np.arange(1, len(job.outcome.visible[k]) + 1)
        if not epochs.size:  # learned in one go
            continue
        ax.plot(
            epochs, job.outcome.visible[k], label=f"visible{mark}", color=(plots.BLUE, _VIOLET)[k]
        )
        if any(job.outcome.hidden[k]):
            ax.plot(
                epochs,
                job.outcome.hidden[k],
                "--",
                label=f"hidden{mark}",
                color=(plots.ORANGE, plots.RED)[k],
            )
    if not ax.lines:
        ax.set_title("Learned in one go")
        ax.set_axis_off()
        return
    ax.set(xlabel="epoch", ylabel="updates", title="Learning", yscale="symlog")
    ax.grid(visible=True)
    ax.legend(loc="upper right")


def _draw_overlaps(ax: Axes, runs: list[Recall], shown: list[Shown]) -> None:
    """Draw the overlap of each recall with the shown truth at each step; the end of the cue is step
    0.
    """
    from seqattractor import plots

    lowest = 0.0
    for k, (mark, run, one) in enumerate(zip(_marks(runs), runs, shown, strict=True)):
        overlaps = one.overlaps(run.states)
        color, steps = (plots.BLUE, _VIOLET)[k], np.arange(len(overlaps)) - run.cue_rows + 1
        ax.plot(steps, overlaps, ("-", "--")[k], label=f"recall{mark}", color=color)
        lowest = min(lowest, overlaps.min(initial=0.0))
    ax.set(
        xlabel="step",
        ylabel="overlap with the truth below",
        title="Recall",
        ylim=(lowest - 0.05, 1.05),
    )
    ax.grid(visible=True)
    ax.legend(loc="lower right")


def _draw_strips(
    axes: list[Axes], material: Material, strips: list[tuple[str, Patterns]], cue_rows: int
) -> None:
    """Draw truth and recall one below the other: a few frames from the end of the cue on, or a
    raster, units upwards.
    """
    from seqattractor import plots

    K, first = min(len(states) for _, states in strips), cue_rows - 1
    if material.kind == "pictures":
        times = np.unique(np.linspace(first, min(K, first + 24) - 1, 12).round().astype(int))
        for k, (ax, (name, states)) in enumerate(zip(axes, strips, strict=True)):
            numbers = (times - first).tolist() if k == 0 else None
            frames, code = states[times].reshape(-1, *material.data.frame_shape), material.data.code
            if code is None:
                plots.filmstrip(frames, label=name, numbers=numbers, ax=ax)
            else:
                plots.filmstrip(
                    code.decode(frames),
                    label=name,
                    numbers=numbers,
                    value_range=(code.low, code.high),
                    ax=ax,
                )
        return
    for ax, (name, states) in zip(axes, strips, strict=True):
        plots.raster(states[: min(K, 60), ::-1], title=name.replace("\n", " "), ax=ax)
        ax.set_aspect("auto")
    columns = np.arange(first, min(K, 60), 10)
    axes[-1].set_xticks(columns, [f"{step}" for step in columns - first])
    axes[-1].set_xlabel("step")


def python_code(
    material: Material,
    chosen: list[Chosen],
    orders: list[int],
    cue: Cue,
    steps: int,
    inside: Inside,
) -> str:
    """Return a script that learns the material with each network, of these orders, changes one of
    them as the visitor did, and recalls the material from the cue.
    """
    deep, corruption = max(orders), cue.corruption
    rows = cue_rows(material, cue.start, deep)
    taken = f"{rows[0]}:{rows[0] + deep}" if rows[-1] - rows[0] == deep - 1 else str(rows)
    made = ["import seqattractor as sa", "", material.python]
    lines = [
        *made,
        "",
        f"cue = X[{taken}]"
        + ("" if deep == 1 else "  # the patterns that the network sees at first"),
    ]
    if corruption.occlusion:
        shape = material.data.frame_shape
        axes = ", axes=2" if len(shape) > 2 else ""  # the units of a pixel are covered together
        lines.append(
            f"cue = sa.noise.occlude(cue, {shape}, fraction={corruption.occlusion!r}, "
            f"rng={cue.seed}{axes})"
        )
    lines.append(f"cue = sa.noise.flip(cue, {corruption.flips}, rng={cue.seed})")
    if corruption.painted:
        lines.append(f"cue[-1, {list(corruption.painted)}] *= -1  # painted by hand")
    # A seed stands for another stream in each function; one generator for all would tie the noise
    # to the flips.
    noise = f", noise={cue.noise}, rng={cue.seed}" if cue.noise else ""
    for k, (choice, order) in enumerate(zip(chosen, orders, strict=True)):
        mark = f"_{'ab'[k]}" if len(chosen) > 1 else ""
        start = "cue[-1]" if order == 1 else f"cue[-{order}:]"
        # A loop must reach as far round as the network looks back.
        data = (
            "X"
            if order == 1 or not any(material.data.loops)
            else f"sa.close_loops(X, order={order})"
        )
        until, changes = "", list[str]()
        if inside.network == k:
            until, changes = inside.code(f"net{mark}", one_hot=choice.name == "one-hot")
        lines += [
            "",
            f"net{mark} = {choice.code(material.data)}",
            *([f"net{mark}.fit({data}{until})"] if choice.learns else []),
            *changes,
            f"trajectory{mark} = net{mark}.recall({start}, steps={steps}{noise})",
        ]
        if material.data.loops == (True,):
            lines.append(
                f"print(sa.retrieved(trajectory{mark}, X))  # the criterion of section 6.2"
            )
        else:
            lines.append(
                f"print(net{mark}.score({data}))  # the fraction of transitions that are right"
            )
    return "\n".join(lines) + "\n"
