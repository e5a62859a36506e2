"""Success with its intervals, and errors over epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.plots._house import BLUE, GREY, ORANGE, new_axes


def compared_bars(
    labels: Sequence[Any],
    successes: Sequence[int],
    trials: Sequence[int],
    paper: Sequence[int],
    *,
    color: str = BLUE,
    ax: Axes | None = None,
) -> Axes:
    """Draw success in percent, ours beside the paper's, with counts on the bars and 95 % Wilson intervals on ours.

    Parameters
    ----------
    labels : sequence, length n
        Below the bars.
    successes, trials : sequence of int, length n
    paper : sequence of int, length n
        The paper's successes of 100.
    color : str
    ax : Axes, optional
        By default new ones.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = compared_bars([70, 80], [9, 4], [10, 10], [88, 52])
    >>> [text.get_text() for text in ax.texts]
    ['9', '88', '4', '52']
    """
    ax = ax or new_axes()
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
    x: ArrayLike, successes: Sequence[int], trials: Sequence[int], *, shift: float = 0.0, ax: Axes | None = None, **line: Any
) -> Axes:
    """Draw success in percent over `x` with 95 % Wilson intervals.

    Parameters
    ----------
    x : array of shape (n,)
    successes, trials : sequence of int, length n
    shift : float
        Added to `x`, so that intervals of several curves do not cover each other.
    ax : Axes, optional
        By default new ones.
    **line
        For ``ax.errorbar``, such as ``label`` and ``color``.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = success_curve([70, 80], [9, 4], [10, 10], label="here")
    >>> ax.get_ylabel()
    'success, %'
    """
    ax = ax or new_axes()
    rate = np.array([100 * s / n for s, n in zip(successes, trials, strict=True)])
    ends = np.array([wilson_interval(s, n) for s, n in zip(successes, trials, strict=True)]) * 100
    spread = np.abs(ends.T - rate)
    options: dict[str, Any] = {"marker": "o", "markersize": 4, "linewidth": 1.4, "elinewidth": 1.0, "capsize": 2} | line
    ax.errorbar(np.asarray(x, dtype=float) + shift, rate, yerr=spread, **options)
    ax.set(ylim=(-4, 104), ylabel="success, %")
    ax.grid(visible=True)
    return ax


def error_curves(hidden: ArrayLike, visible: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the average errors of an epoch over epochs: (1/M) sum mu and (1/N) sum nu.

    Parameters
    ----------
    hidden, visible : array of shape (epochs,)
        Already divided by the number of neurons.
    ax : Axes, optional
        By default new ones.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = error_curves([3.0, 1.0, 0.0], [5.0, 2.0, 0.0])
    >>> ax.get_xlabel()
    'epoch'
    """
    ax = ax or new_axes()
    for errors, color, dash, label in (
        (hidden, ORANGE, "--", r"hidden neurons, $\Sigma\mu\,/\,M$"),
        (visible, BLUE, "-", r"visible neurons, $\Sigma\nu\,/\,N$"),
    ):
        values: NDArray[np.float64] = np.asarray(errors, dtype=float)
        ax.plot(np.arange(1, len(values) + 1), values, dash, color=color, label=label, linewidth=1.6)
    ax.set(xlabel="epoch", ylabel="errors per neuron", ylim=(0, None))
    ax.grid(visible=True)
    ax.legend(loc="upper right")
    return ax
