"""Figures as bytes and as files; those of comparisons and capacities, and the animation of a
recall.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from seqattractor import plots
from seqattractor._files import atomic_write
from seqattractor.plots._capacity import capacity_groups, capacity_label
from seqattractor.plots._continual import draw_continual
from seqattractor.plots._curves import as_line, entries, looks_of
from seqattractor.report.page import Picture

if TYPE_CHECKING:
    from seqattractor.study.capacity import CapacityMap
    from seqattractor.study.comparison import Comparison

DPI = 160
_PAGE_DPI = 100  # an inch of the figure is this many pixels of the page
_MOST_CURVES = 12  # that can be distinguished in one panel
_GAP = 6  # columns between the stored and the recalled frames of an animation
_GIF_HEIGHT = 256  # pixels, roughly
_FRAME_MS = 90  # of an animation
FIGURES = ("png", "pdf", "svg")  # formats of figures, by the endings of files
COLUMN = 85.0  # millimetres: the width of a column in most journals
# Without the date and the version of matplotlib, so that the same figure is the same file.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
}


def drawn(
    draw: Callable[[], Figure], *kinds: str, dark: bool = False, paper: bool = False
) -> list[bytes]:
    """Draw a figure once and return it in each of the formats ("png", "pdf", "svg").

    For a light or a `dark` page its edges are trimmed; for a `paper` it has its own width, and text
    as text.
    """
    mpl.use("Agg")
    options: dict[str, Any] = {} if paper else {"dpi": DPI, "bbox_inches": "tight"}
    saved = []
    with plots.style(dark=dark, paper=paper):
        figure = draw()
        for kind in kinds:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=_METADATA[kind], **options)
            saved.append(buffer.getvalue())
        plt.close(figure)
    return saved


def picture(draw: Callable[[], Figure], words: str) -> Picture:
    """Draw a figure for light and for dark pages, with an alternative text."""
    return as_picture(drawn(draw, "png")[0], drawn(draw, "png", dark=True)[0], words)


def as_picture(light: bytes, dark: bytes, words: str) -> Picture:
    """Return two PNGs of one figure with its size on the page, which is read from the PNG."""
    width, height = (
        int(int.from_bytes(light[start : start + 4]) * _PAGE_DPI / DPI) for start in (16, 20)
    )
    return Picture(light, dark, words, width, height)


def save(draw: Callable[[], Figure], path: Path) -> None:
    """Draw a figure and write it atomically as .png, .pdf or .svg."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FIGURES:
        raise ValueError(
            f"a figure is written as .png, .pdf or .svg, but the file is to be named {path.name}."
        )
    [content] = drawn(draw, kind)
    with atomic_write(path) as file:
        file.write(content)


def paper_figure(comparison: Comparison, *, width: float = COLUMN) -> Figure:
    """Draw a comparison in one panel as wide as a column of a paper, `width` in millimetres, with
    the current style.
    """
    if _over_learned(comparison):
        return _continual_figure(comparison, width=width / 25.4)
    inches = width / 25.4
    figure = plt.figure(figsize=(inches, min(0.62 * inches, 3.2)), layout="constrained")
    ax = plots.comparison_curves(comparison, legend=None, theory=False, ax=figure.add_subplot())
    ax.set_title("")
    for columns in range(len(comparison.networks), 0, -1):  # as many as there is room for
        legend = figure.legend(*entries(ax), loc="outside upper left", ncols=columns)
        size = legend.get_window_extent()
        if size.width <= figure.bbox.width or columns == 1:
            break
        legend.remove()
    figure.set_size_inches(inches, figure.get_figheight() + size.height / figure.dpi)
    return figure


def comparison_figure(comparison: Comparison) -> Figure:
    """Draw success with intervals, networks that learn beside those that store patterns unless
    there are few.
    """
    if _over_learned(comparison):
        return _continual_figure(comparison, width=12.5)
    panels = {"": comparison.networks}
    if len(comparison.networks) > _MOST_CURVES:
        kinds = {"weights learned": False, "patterns stored": True}
        panels = {
            words: [n for n in comparison.networks if bool(n["stores_patterns"]) is kind]
            for words, kind in kinds.items()
        }
    figsize = (7.0 if len(panels) == 1 else 12.5, 3.9)
    figure, axes = plt.subplots(
        1, len(panels), figsize=figsize, squeeze=False, sharey=True, layout="constrained"
    )
    title = comparison.settings["title"]
    for ax, (words, networks) in zip(axes[0], panels.items(), strict=True):
        plots.comparison_curves(comparison, networks=[n["network"] for n in networks], ax=ax)
        ax.set_title(f"{title}: {words}" if words else title)
    for ax in axes[0, 1:]:
        ax.set_ylabel("")
    labels = [label for ax in axes[0] for label in entries(ax)[1]]
    if len(labels) > len(
        comparison.networks
    ):  # names of theories are longer than those of networks
        figure.set_figwidth(figsize[0] + 2.8 * len(panels))
    return figure


def _over_learned(comparison: Comparison) -> bool:
    """Return whether networks learn more and more sequences along the axis."""
    return comparison.in_turn and comparison.settings["varies"] == "number"


def _continual_figure(comparison: Comparison, *, width: float) -> Figure:
    """Draw what is stored, what is left of the first sequence and what is saved beside the weights;
    `width` in inches.
    """
    wide = width > 7  # inches: panels stand beside each other
    names = comparison.taking_part()
    found = {
        name: [
            {"learned": value} | {key: row[key] for key in ("stored", "first", "bits_saved")}
            for value in comparison.settings["values"]
            if (row := comparison.row(name, value))["stored"] is not None
        ]
        for name in names
    }
    figure, axes = plt.subplots(
        *((1, 3) if wide else (3, 1)),
        figsize=(width, 3.9 if wide else 1.8 * width),
        layout="constrained",
    )
    draw_continual(axes, found, {name: as_line(look) for name, look in looks_of(names).items()})
    lines = axes[0].get_legend_handles_labels()
    legend = figure.legend(*lines, loc="outside upper left", ncols=6 if wide else 2)
    above = legend.get_window_extent().height / figure.dpi
    figure.set_size_inches(width, figure.get_figheight() + above)
    return figure


def capacity_figure(capacities: CapacityMap) -> Figure:
    """Draw capacities with their laws, and the curves of success against T behind them."""
    axis, groups = capacity_groups(capacities)
    first = int(axis is not None)
    known = any(each.limits for pairs in groups.values() for each, _ in pairs)
    width = 4.6 * first + 3.4 * len(groups) + 3.2 * known  # for the names of theories
    figure, axes = plt.subplots(1, first + len(groups), figsize=(width, 3.9), squeeze=False)
    if axis is not None:
        plots.capacity_map(capacities, ax=axes[0, 0])
    for ax, (title, pairs) in zip(axes[0, first:], groups.items(), strict=True):
        lengths = [t for each, _ in pairs for t in each.tried]
        for k, (each, _) in enumerate(pairs):
            color = mpl.colormaps["viridis"](0.85 * k / max(len(pairs) - 1, 1))
            label = None if axis is None else capacity_label(each, axis)
            plots.capacity_curve(
                each,
                ax=ax,
                color=color,
                label=label,
                ends=(min(lengths), max(lengths)),
                theory=axis is None,
            )
        ax.set_title(title or "success against length")
        if axis is not None:
            ax.legend(fontsize=7, loc="lower left")
    return figure


def recall_gif(truth: NDArray[np.int8], recalled: NDArray[np.int8]) -> bytes:
    """Return a GIF of a sequence, (T, height, width): stored on the left, recalled on the right;
    the first frame stays longer.
    """
    gap = np.zeros((*truth.shape[:2], _GAP), dtype=np.int8)  # grey, between black and white
    sheets = np.concatenate([truth, gap, recalled], axis=2)
    scale = max(1, _GIF_HEIGHT // sheets.shape[1])
    shades = (127 * (sheets + 1)).astype(np.uint8).repeat(scale, axis=1).repeat(scale, axis=2)
    frames = [Image.fromarray(sheet) for sheet in shades]
    buffer = io.BytesIO()
    durations = [8 * _FRAME_MS] + [_FRAME_MS] * (len(frames) - 1)
    frames[0].save(
        buffer,
        "GIF",
        save_all=True,
        append_images=frames[1:],
        duration=durations,
        loop=0,
        optimize=False,
    )
    return buffer.getvalue()
