"""Patterns as pictures: strips of frames, and a column for each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike, NDArray

from seqattractor.plots._house import GREY, RED, new_axes


def filmstrip(frames: ArrayLike, *, label: str = "", numbers: Sequence[int] | None = None, ax: Axes | None = None) -> Axes:
    """Draw frames of +-1 side by side, +1 white and -1 black.

    Parameters
    ----------
    frames : array of shape (T, height, width)
    label : str
        To the left of the strip.
    numbers : sequence of int, optional
        Times to write above the frames.
    ax : Axes, optional
        By default new ones.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = filmstrip(np.ones((3, 8, 6)), label="x(t)")
    >>> ax.images[0].get_array().shape
    (8, 22)
    """
    ax = ax or new_axes()
    pictures = np.asarray(frames)
    height, width = pictures.shape[1:]
    gap = max(1, width // 30)
    _black_and_white(ax, tiles(pictures, 2 * gap))
    for k, number in enumerate(numbers if numbers is not None else ()):
        ax.text(k * (width + 2 * gap) + width / 2, -0.03 * height, f"{number}", ha="center", va="bottom", fontsize=8)
    ax.set_ylabel(label, rotation=0, ha="right", va="center")
    return ax


def raster(X: ArrayLike, *, title: str = "", wrong: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw a sequence as the paper's figures 1 and 4 do: a column for each time, +1 white and -1 black.

    Parameters
    ----------
    X : array of +-1, shape (T, N)
    title : str
    wrong : array of bool, shape (T, N), optional
        Units to mark with a dot.
    ax : Axes, optional
        By default new ones.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = raster(np.ones((7, 10)))
    >>> ax.images[0].get_array().shape
    (10, 7)
    """
    ax = ax or new_axes()
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


def tiles(frames: NDArray[Any], gap: int) -> NDArray[np.float64]:
    """Put frames (T, height, width) side by side with `gap` empty columns, NaN, between: (height, columns)."""
    padded = np.pad(frames.astype(np.float64), ((0, 0), (0, 0), (0, gap)), constant_values=np.nan)
    row = np.concatenate(list(padded), axis=1)
    return row[:, : row.shape[1] - gap]


def _black_and_white(ax: Axes, picture: NDArray[np.float64]) -> None:
    """Show +1 white, -1 black and NaN not at all, without ticks but with a frame."""
    ax.imshow(picture, cmap=ListedColormap(["black", "white"]), vmin=-1, vmax=1, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(bool(np.isfinite(picture).all()))
    ax.spines[:].set_color(GREY)
