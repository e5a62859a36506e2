"""The house style: colours that are safe for colour-blind readers and show on light and dark ground."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib.style
from matplotlib.axes import Axes

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
    sheets = ["seqattractor.plots.house", "seqattractor.plots.dark"]
    with matplotlib.style.context(sheets if dark else sheets[:1]):
        yield


def new_axes() -> Axes:
    """Axes of a new figure, for functions that are given none."""
    from matplotlib import pyplot as plt

    return plt.figure(layout="constrained").add_subplot()


def unframed(ax: Axes) -> None:
    """Take away the frame and the marks of ticks, but not their labels."""
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
