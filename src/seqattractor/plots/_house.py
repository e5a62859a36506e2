"""The house style: colours that are safe for colour-blind readers and show on light and dark ground."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes

__all__ = ["BLUE", "GREEN", "GREY", "ORANGE", "RED", "bare", "new_axes", "style"]

BLUE, ORANGE, GREEN, RED, GREY = "#3a8fc7", "#e69f00", "#009e73", "#d55e00", "#8a8a8a"


@contextmanager
def style(*, dark: bool = False) -> Iterator[None]:
    """Draw with the house style inside this context.

    Parameters
    ----------
    dark : bool
        For a dark page instead of a light one.

    Yields
    ------
    None

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> with style(dark=True):
    ...     text = plt.rcParams["text.color"]
    >>> text
    '#e6e6e6'
    """
    ink, ground, grid = ("#e6e6e6", "#16181c", "#3a3d44") if dark else ("#1c1e21", "#ffffff", "#dcdcdc")
    settings: Any = {
        "figure.facecolor": ground,
        "axes.facecolor": ground,
        "savefig.facecolor": ground,
        "legend.frameon": False,
        "grid.color": grid,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "font.size": 10.0,
        "axes.titlesize": 10.5,
        "axes.titlelocation": "left",
        "hatch.linewidth": 0.6,
        "figure.constrained_layout.use": True,
        "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, RED, "#cc79a7", GREY]),
    }
    for part in ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"):
        settings[part] = ink
    with mpl.rc_context(settings):
        yield


def bare(ax: Axes) -> None:
    """Take ticks and frame away, where a picture speaks for itself."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def new_axes() -> Axes:
    """Give the axes of a new figure."""
    from matplotlib import pyplot as plt

    return plt.subplots(layout="constrained")[1]
