"""What a visitor can take away: the model, the sequence, an animation and a figure, each as the bytes of a file."""

from __future__ import annotations

import copy
import io
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seqattractor.lab.jobs import Job
from seqattractor.lab.materials import Material
from seqattractor.lab.recall import Run
from seqattractor.networks._base import SequenceMemory
from seqattractor.sequences import Patterns, Sequences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["animation", "figure", "model", "sequence"]

_DRAWING = threading.Lock()  # matplotlib's settings belong to the whole process


def model(net: SequenceMemory, material: Material) -> bytes:
    """The network as a model file, with the shape of its frames, as `sa.load` and `seqattractor recall` read it."""
    from seqattractor.datasets._tune import PITCHES
    from seqattractor.io._attached import attach
    from seqattractor.io._units import note_name

    twin = copy.copy(net)
    data = Sequences(
        material.X,
        material.lengths,
        material.frame_shape,
        names=[f"sequence {s + 1}" for s in range(len(material.lengths))],
        units=[note_name(p) for p in PITCHES] if material.kind == "music" else None,
        rate=8.0,
        step=0.5 if material.kind == "music" else None,
        kind={"units": "array"}.get(material.kind, material.kind),
        closed=int(all(material.loop)),
    )
    attach(twin, data, patterns=not hasattr(net, "patterns_"))
    with tempfile.TemporaryDirectory(prefix="seqattractor-lab-") as folder:
        path = Path(folder, "model.npz")
        twin.save(path)
        return path.read_bytes()


def sequence(material: Material) -> bytes:
    """The patterns X (T, N), their lengths and the shape of a frame, as an npz file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=material.X, lengths=material.lengths, frame_shape=np.array(material.frame_shape))
    return buffer.getvalue()


def animation(run: Run, truth: Patterns, material: Material, cue_rows: int) -> bytes:
    """Truth, cue and recall side by side as a GIF that runs for ever."""
    from seqattractor.io._compose import Recalled
    from seqattractor.io._write import write_recall

    known = int(np.sum(~np.isnan(run.overlaps)))
    recalled = Recalled(run.trajectory[:known], truth[:known], cue_rows, material.frame_shape, rate=8.0)
    with tempfile.TemporaryDirectory(prefix="seqattractor-lab-") as folder:
        path = Path(folder, "recall.gif")
        write_recall(path, recalled)
        return path.read_bytes()


def figure(job: Job, runs: list[Run], truth: Patterns, *, dark: bool) -> bytes:
    """Errors while learning, frames of truth and recall, and the overlap, as a PNG."""
    with _DRAWING:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from seqattractor import plots

        with plots.style(dark=dark):
            drawing = Figure(figsize=(9.0, 5.2 + 1.4 * len(runs)), dpi=150)
            FigureCanvasAgg(drawing)
            _draw(drawing, job, runs, truth)
            buffer = io.BytesIO()
            drawing.savefig(buffer, format="png")
    return buffer.getvalue()


def _draw(drawing: Figure, job: Job, runs: list[Run], truth: Patterns) -> None:
    """Put the parts of the figure in place."""
    from seqattractor import plots

    material = job.material
    marks = [""] if len(runs) == 1 else [" A", " B"]
    rows = drawing.add_gridspec(2 + len(runs), 2, height_ratios=[2.2, *[1.0] * (1 + len(runs))])
    curves, overlap = drawing.add_subplot(rows[0, 0]), drawing.add_subplot(rows[0, 1])
    for k, mark in enumerate(marks):
        epochs = np.arange(1, len(job.visible[k]) + 1)
        curves.plot(epochs, job.visible[k], label=f"visible{mark}", color=(plots.BLUE, plots.GREEN)[k])
        if any(job.hidden[k]):
            curves.plot(epochs, job.hidden[k], "--", label=f"hidden{mark}", color=(plots.ORANGE, plots.RED)[k])
        overlap.plot(runs[k].overlaps, ("-", "--")[k], label=f"recall{mark}", color=(plots.BLUE, plots.GREEN)[k])
    curves.set(xlabel="epoch", ylabel="updates", title="Learning", yscale="symlog")
    overlap.set(
        xlabel="step",
        ylabel="overlap",
        title="Recall",
        ylim=(min(-0.05, *(np.nanmin(run.overlaps) - 0.05 for run in runs)), 1.05),
    )
    for ax in (curves, overlap):
        ax.grid(visible=True)
        if ax.lines:
            ax.legend()
    K = len(truth)
    pictures = material.kind == "pictures"
    times = np.unique(np.linspace(0, min(K, 24) - 1, 12).round().astype(int)) if pictures else np.arange(min(K, 60))
    named = [("stored", truth), *[(f"recall{mark}", run.trajectory) for mark, run in zip(marks, runs, strict=True)]]
    for k, (name, states) in enumerate(named):
        ax = drawing.add_subplot(rows[1 + k, :])
        if pictures:
            numbers = times.tolist() if k == 0 else None
            plots.filmstrip(ax, states[times].reshape(-1, *material.shape), label=name, numbers=numbers)
        else:
            plots.raster(ax, states[times], title=name)
            ax.set_aspect("auto")
