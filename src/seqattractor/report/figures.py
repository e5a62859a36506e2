"""Figures as bytes and as files, in the house style."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqattractor._files import atomic_write
from seqattractor.report.view import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 160
_PAGE_DPI = 100  # an inch of the figure is so many pixels of the page
# Without the date and the version of matplotlib, so that the same figure is the same file.
_METADATA: dict[str, dict[str, Any]] = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}


def drawn(draw: Callable[[], Figure], *kinds: str, dark: bool = False) -> list[bytes]:
    """Draw a figure once and give it in each of the formats ("png", "pdf", "svg"), for a light page or a dark one."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from seqattractor import plots

    saved = []
    with plots.style(dark=dark):
        figure = draw()
        for kind in kinds:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=DPI, bbox_inches="tight", metadata=_METADATA[kind])
            saved.append(buffer.getvalue())
        plt.close(figure)
    return saved


def picture(draw: Callable[[], Figure], words: str) -> Picture:
    """Draw a figure for light and for dark pages; `words` stand for it where it cannot be seen."""
    return as_picture(drawn(draw, "png")[0], drawn(draw, "png", dark=True)[0], words)


def as_picture(light: bytes, dark: bytes, words: str) -> Picture:
    """Give two PNGs of one figure with its size on the page, which stands in the PNG."""
    width, height = (int(int.from_bytes(light[start : start + 4]) * _PAGE_DPI / DPI) for start in (16, 20))
    return Picture(light, dark, words, width, height)


def save(draw: Callable[[], Figure], path: Path) -> None:
    """Draw a figure and write it, whole or not at all, as .png, .pdf or .svg."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _METADATA:
        raise ValueError(f"a figure is written as .png, .pdf or .svg, but the file is to be named {path.name}.")
    [content] = drawn(draw, kind)
    with atomic_write(path) as file:
        file.write(content)
