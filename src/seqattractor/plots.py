"""Pictures: each function draws into the matplotlib Axes that it is given and returns them.

Colours are safe for colour-blind readers and show on light and dark ground; wrap drawing in `style` for text to match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike, NDArray

from seqattractor.analysis.retrieval import wilson_interval

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "ORANGE",
    "RED",
    "compared_bars",
    "error_curves",
    "filmstrip",
    "raster",
    "style",
    "success_curve",
]

BLUE, ORANGE, GREEN, RED, GREY = "#3a8fc7", "#e69f00", "#009e73", "#d55e00", "#8a8a8a"


@contextmanager
def style(*, dark: bool = False) -> Iterator[None]:
    """Draw with the house style inside this context: on a light or a dark page.

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


def compared_bars(
    ax: Axes, labels: Sequence[Any], successes: Sequence[int], trials: Sequence[int], paper: Sequence[int], *, color: str = BLUE
) -> Axes:
    """Draw success in percent, ours beside the paper's, with counts on the bars and 95 % Wilson intervals on ours.

    Parameters
    ----------
    ax : Axes
    labels : sequence, length n
        Below the bars.
    successes, trials : sequence of int, length n
    paper : sequence of int, length n
        The paper's successes of 100.
    color : str

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = compared_bars(plt.figure().add_subplot(), [70, 80], [9, 4], [10, 10], [88, 52])
    >>> [text.get_text() for text in ax.texts]
    ['9', '88', '4', '52']
    """
    width = 0.4
    for k, (count, n, theirs) in enumerate(zip(successes, trials, paper, strict=True)):
        low, high = (100 * end for end in wilson_interval(count, n))
        rate = 100 * count / n
        first = k == 0
        ax.bar(k - width / 2, rate, width, color=color, label=f"here (of {n})" if first else None)
        ax.bar(
            k + width / 2,
            theirs,
            width,
            facecolor="none",
            edgecolor=GREY,
            hatch="////",
            label="paper (of 100)" if first else None,
        )
        ax.plot([k - width / 2] * 2, [low, high], color=mpl.rcParams["text.color"], linewidth=1.0)
        ax.text(k - width / 2, max(rate, high) + 1.5, str(count), ha="center", va="bottom", fontsize=8)
        ax.text(k + width / 2, theirs + 1.5, str(theirs), ha="center", va="bottom", fontsize=8, color=GREY)
    ax.set_xticks(range(len(labels)), [str(label) for label in labels])
    ax.set_xlim(-0.6, len(labels) - 0.4)
    ax.set_ylim(0, 116)
    ax.set_yticks(range(0, 101, 25))
    ax.set_ylabel("success, %")
    ax.grid(axis="y")
    return ax


def success_curve(
    ax: Axes, x: ArrayLike, successes: Sequence[int], trials: Sequence[int], *, shift: float = 0.0, **line: Any
) -> Axes:
    """Draw success in percent over `x` with 95 % Wilson intervals.

    Parameters
    ----------
    ax : Axes
    x : array of shape (n,)
    successes, trials : sequence of int, length n
    shift : float
        Added to `x`, so that intervals of several curves do not cover each other.
    **line
        For ``ax.errorbar``, such as ``label`` and ``color``.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = success_curve(plt.figure().add_subplot(), [70, 80], [9, 4], [10, 10], label="here")
    >>> ax.get_ylabel()
    'success, %'
    """
    rate = np.array([100 * s / n for s, n in zip(successes, trials, strict=True)])
    ends = np.array([wilson_interval(s, n) for s, n in zip(successes, trials, strict=True)]) * 100
    spread = np.abs(ends.T - rate)
    options: dict[str, Any] = {"marker": "o", "markersize": 4, "linewidth": 1.4, "elinewidth": 1.0, "capsize": 2} | line
    ax.errorbar(np.asarray(x, dtype=float) + shift, rate, yerr=spread, **options)
    ax.set_ylim(-4, 104)
    ax.set_ylabel("success, %")
    ax.grid(visible=True)
    return ax


def error_curves(ax: Axes, hidden: ArrayLike, visible: ArrayLike) -> Axes:
    """Draw the average errors of an epoch over epochs: (1/M) sum mu and (1/N) sum nu.

    Parameters
    ----------
    ax : Axes
    hidden, visible : array of shape (epochs,)
        Already divided by the number of neurons.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = error_curves(plt.figure().add_subplot(), [3.0, 1.0, 0.0], [5.0, 2.0, 0.0])
    >>> ax.get_xlabel()
    'epoch'
    """
    for errors, color, dash, label in (
        (hidden, ORANGE, "--", r"hidden neurons, $\Sigma\mu\,/\,M$"),
        (visible, BLUE, "-", r"visible neurons, $\Sigma\nu\,/\,N$"),
    ):
        values: NDArray[np.float64] = np.asarray(errors, dtype=float)
        ax.plot(np.arange(1, len(values) + 1), values, dash, color=color, label=label, linewidth=1.6)
    ax.set_xlabel("epoch")
    ax.set_ylabel("errors per neuron")
    ax.set_ylim(bottom=0)
    ax.grid(visible=True)
    ax.legend()
    return ax


def filmstrip(ax: Axes, frames: ArrayLike, *, label: str = "", numbers: Sequence[int] | None = None) -> Axes:
    """Draw frames of +-1 side by side, +1 white and -1 black.

    Parameters
    ----------
    ax : Axes
    frames : array of shape (T, height, width)
    label : str
        To the left of the strip.
    numbers : sequence of int, optional
        Times to write above the frames.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = filmstrip(plt.figure().add_subplot(), np.ones((3, 8, 6)), label="x(t)")
    >>> ax.images[0].get_array().shape
    (8, 22)
    """
    pictures = np.asarray(frames)
    n, height, width = pictures.shape
    gap = max(1, width // 30)
    strip = np.full((height, n * width + (n - 1) * 2 * gap), np.nan)
    for k, picture in enumerate(pictures):
        left = k * (width + 2 * gap)
        strip[:, left : left + width] = picture
        if numbers is not None:
            ax.text(left + width / 2, -0.03 * height, f"{numbers[k]}", ha="center", va="bottom", fontsize=8)
    _black_and_white(ax, strip)
    ax.set_ylabel(label, rotation=0, ha="right", va="center")
    return ax


def raster(ax: Axes, X: ArrayLike, *, title: str = "", wrong: ArrayLike | None = None) -> Axes:
    """Draw a sequence as the paper's figures 1 and 4 do: a column for each time, +1 white and -1 black.

    Parameters
    ----------
    ax : Axes
    X : array of +-1, shape (T, N)
    title : str
    wrong : array of bool, shape (T, N), optional
        Units to mark with a dot.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = raster(plt.figure().add_subplot(), np.ones((7, 10)))
    >>> ax.images[0].get_array().shape
    (10, 7)
    """
    patterns = np.asarray(X)
    _black_and_white(ax, patterns.T.astype(float))
    T, N = patterns.shape
    for t in np.arange(T - 1) + 0.5:
        ax.axvline(t, color=GREY, linewidth=0.5)
    for j in np.arange(N - 1) + 0.5:
        ax.axhline(j, color=GREY, linewidth=0.5)
    if wrong is not None:
        times, units = np.nonzero(np.asarray(wrong))
        ax.plot(times, units, "o", color=RED, markersize=4)
    ax.set_title(title)
    return ax


def _black_and_white(ax: Axes, picture: NDArray[np.float64]) -> None:
    """Show +1 white, -1 black and NaN not at all, without ticks but with a frame."""
    ax.imshow(picture, cmap=ListedColormap(["black", "white"]), vmin=-1, vmax=1, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(bool(np.isfinite(picture).all()))
        spine.set_color(GREY)
