"""Success with its intervals, and errors over epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.plots._house import BLUE, GREY, ORANGE

__all__ = ["compared_bars", "error_curves", "success_curve"]


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
    ax.set(xlim=(-0.6, len(labels) - 0.4), ylim=(0, 116), yticks=range(0, 101, 25), ylabel="success, %")
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
    ax.set(ylim=(-4, 104), ylabel="success, %")
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
    ax.set(xlabel="epoch", ylabel="errors per neuron", ylim=(0, None))
    ax.grid(visible=True)
    ax.legend()
    return ax
