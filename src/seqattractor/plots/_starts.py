"""Starts from corrupted patterns: what hidden neurons did in the first step, and where the network ended."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from seqattractor._checks import check_kind
from seqattractor.analysis._lost_starts import ENDS, FIRST_STEPS, LostStarts
from seqattractor.plots._house import BLUE, GREEN, GREY, ORANGE, axes_or_new

END_COLORS = dict(zip(ENDS, (BLUE, GREEN, GREY, ORANGE), strict=True))
"""The color of each end of a start."""


def start_losses(losses: LostStarts, *, ax: Axes | None = None) -> Axes:
    """Draw how many starts had which first step, as bars that show where they ended.

    Parameters
    ----------
    losses : LostStarts
        As `seqattractor.lost_starts` gives it.
    ax : Axes, optional
        By default new ones.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(9, 30, rng=0)
    >>> start_losses(sa.lost_starts(sa.OneHotNetwork().fit(X), X, flips=1, rng=0)).get_xlabel()
    'starts'
    """
    check_kind(losses, LostStarts, "losses", "what lost_starts gives")
    ax = axes_or_new(ax)
    left, places = np.zeros(len(FIRST_STEPS)), np.arange(len(FIRST_STEPS))
    for (end, color), counts in zip(END_COLORS.items(), losses.counts.T, strict=True):
        ax.barh(places, counts, left=left, color=color, label=end, height=0.7)
        left += counts
    ax.set_yticks(places, FIRST_STEPS)
    ax.invert_yaxis()
    ax.set(xlabel="starts", ylabel="hidden neurons in the first step")
    ax.legend(fontsize=8, loc="best")
    ax.grid(axis="x")
    return ax
