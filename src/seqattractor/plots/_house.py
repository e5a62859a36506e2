"""The house style: colours that are safe for colour-blind readers and show on light and dark
ground.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.colors import is_color_like

from seqattractor._checks import check_flag, check_kind, say

Draw = TypeVar("Draw", bound=Callable[..., Axes])

BLUE, ORANGE, GREEN, RED, GREY = "#3a8fc7", "#e69f00", "#009e73", "#d55e00", "#8a8a8a"


@contextmanager
def style(*, dark: bool = False, paper: bool = False) -> Iterator[None]:
    """Draw with the house style inside this context.

    Parameters
    ----------
    dark : bool
        For a dark page instead of a light one.
    paper : bool
        For one column of a paper, 85 mm wide: small type and thin lines, and text that stays text
        in PDF and SVG.

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
    wanted = {"house": True, "dark": check_flag(dark, "dark"), "paper": check_flag(paper, "paper")}
    with matplotlib.style.context(
        [f"seqattractor.plots.{sheet}" for sheet, used in wanted.items() if used]
    ):
        yield


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        check_kind(ax, Axes, "ax", "matplotlib's Axes, or None for new ones")
        return ax
    from matplotlib import pyplot as plt

    return plt.figure(layout="constrained").add_subplot()


_SHARED = """\
ax : Axes, optional
    By default those of a new figure.

Returns
-------
Axes

Examples
--------
"""


def draws(function: Draw) -> Draw:
    """Complete the docstring of a drawing function: the parameter `ax` and the axes that it
    returns.
    """
    if function.__doc__ is not None:  # without docstrings under python -OO
        head, tail = inspect.cleandoc(function.__doc__).split("\n\nExamples\n--------\n")
        function.__doc__ = f"{head}\n{_SHARED}{tail}\n"
    return function


def check_color(color: Any) -> None:
    """Reject a colour that matplotlib does not have."""
    if not is_color_like(color):
        raise ValueError(
            "color must be a colour of matplotlib's, such as 'C0' or '#3a8fc7', but it is "
            f"{say(color)}."
        )


def unframed(ax: Axes) -> None:
    """Take away the frame and the marks of ticks, but not their labels."""
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
