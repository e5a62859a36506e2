"""Tests of replay: scores beside their nulls, p values, events with what the memory recalls, and
predicted laps.
"""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from seqattractor._checks import check_count, say
from seqattractor.plots._house import BLUE, GREY, ORANGE, axes_or_new, draws


def _check_tested(tested: Any) -> None:
    """Reject what is no result of `replay.test`."""
    if not hasattr(tested, "null_means"):
        raise TypeError(f"tested must be what sa.replay.test returns, but it is {say(tested)}.")


@draws
def replay_scores(tested: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the score of each event beside the scores of its shuffles, events sorted by their
    scores.

    Parameters
    ----------
    tested : ReplayTest

    Examples
    --------
    >>> import seqattractor as sa
    >>> session = sa.datasets.recording(n_events=2, rng=0)
    >>> laps = sa.replay.consensus(session.lap_counts(0.1))
    >>> net = sa.SequenceAttractor(400, max_epochs=3000, random_state=0).fit(laps)
    >>> tested = sa.replay.test(net, session.event_counts(), n_shuffles=50, rng=0)
    >>> replay_scores(tested).get_ylabel()
    'score'
    """
    _check_tested(tested)
    ax = axes_or_new(ax)
    order = np.argsort(np.where(tested.tested, tested.scores, -np.inf), kind="stable")[
        np.sum(~tested.tested) :
    ]
    place = np.arange(len(order))
    mean, spread = tested.null_means[order], tested.null_sds[order]
    ax.fill_between(
        place,
        mean - 2 * spread,
        mean + 2 * spread,
        color=GREY,
        alpha=0.3,
        linewidth=0,
        label="shuffles, ± 2 SD",
    )
    ax.plot(place, mean, color=GREY, linewidth=1)
    found, scores = tested.significant()[order], tested.scores[order]
    for chosen, color, label in (
        (found, BLUE, "replay (FDR 5 %)"),
        (~found, ORANGE, "other events"),
    ):
        ax.plot(place[chosen], scores[chosen], ".", color=color, markersize=5, label=label)
    ax.set(xlabel="event, by score", ylabel="score")
    ax.legend(loc="upper left")
    return ax


@draws
def replay_p_values(tested: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a histogram of the p values; the dashed line is what events without replay would give.

    Parameters
    ----------
    tested : ReplayTest

    Examples
    --------
    >>> import seqattractor as sa
    >>> session = sa.datasets.recording(n_events=2, rng=0)
    >>> laps = sa.replay.consensus(session.lap_counts(0.1))
    >>> net = sa.SequenceAttractor(400, max_epochs=3000, random_state=0).fit(laps)
    >>> tested = sa.replay.test(net, session.event_counts(), n_shuffles=50, rng=0)
    >>> replay_p_values(tested).get_xlabel()
    'p value'
    """
    _check_tested(tested)
    ax = axes_or_new(ax)
    p = tested.p_values[tested.tested]
    ax.hist(p, bins=20, range=(0, 1), color=BLUE, edgecolor=mpl.rcParams["axes.facecolor"])
    ax.axhline(len(p) / 20, color=GREY, linestyle="--", label="expected without replay")
    ax.set(xlabel="p value", ylabel="events", xlim=(0, 1))
    ax.legend(loc="upper right")
    return ax


@draws
def replay_event(tested: Any, event: int, *, order: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the active cells of each bin of an event, on what the memory recalls from other bins:
    the darker the shade, the more of its predictions have the cell on.

    Parameters
    ----------
    tested : ReplayTest
    event : int
        Its number.
    order : array of int, shape (N,), optional
        The cells from bottom to top; by default by when the memory recalls them.

    Examples
    --------
    >>> import seqattractor as sa
    >>> session = sa.datasets.recording(n_events=2, rng=0)
    >>> laps = sa.replay.consensus(session.lap_counts(0.1))
    >>> net = sa.SequenceAttractor(400, max_epochs=3000, random_state=0).fit(laps)
    >>> tested = sa.replay.test(net, session.event_counts(), n_shuffles=50, rng=0)
    >>> replay_event(tested, 0).get_ylabel()
    'cell'
    """
    _check_tested(tested)
    event = check_count(event, "event", 0, len(tested.events) - 1)
    shown, expected = tested.events[event], tested.expected[event]
    N = shown.shape[1]
    if order is None:
        # By the middle of the time in which each is expected; the others on top.
        on = expected.sum(axis=0)
        middle = np.arange(len(expected)) @ expected / np.where(on > 0, on, 1)
        order = np.lexsort((middle * np.sign(tested.speeds[event] or 1), on == 0))
    order = np.asarray(order)
    if sorted(order.tolist()) != list(range(N)):
        raise ValueError(f"order must name each of the {N} cells once.")
    ax = axes_or_new(ax)
    shade = mpl.colors.LinearSegmentedColormap.from_list("shade", [(BLUE, 0.0), (BLUE, 0.6)])
    edges = np.arange(len(shown) + 1), np.arange(N + 1)
    given = {"vmin": 0, "vmax": max(expected.max(initial=0), 1e-9), "linewidth": 0}
    ax.pcolormesh(*edges, expected[:, order].T, cmap=shade, rasterized=True, **given)
    key: dict[str, Any] = {
        "color": BLUE,
        "alpha": 0.6,
        "label": "recalled (darker: in more predictions)",
    }
    ax.add_patch(mpl.patches.Rectangle((0, 0), 0, 0, linewidth=0, **key))  # a mesh has no key
    bins, rows = np.nonzero(shown[:, order])
    ax.plot(
        bins + 0.5,
        rows + 0.5,
        "|",
        color=mpl.rcParams["text.color"],
        markersize=4,
        markeredgewidth=1.2,
        label="spikes",
    )
    p = tested.p_values[event]
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.set(
        xlabel="bin",
        ylabel="cell",
        ylim=(0, N),
        title=f"event {event}: speed {tested.speeds[event]:+d}, p = {p:.3g}",
    )
    return ax


@draws
def prediction_of_laps(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how well left-out laps are predicted: a dot for each lap, and means with 95 % intervals.

    Parameters
    ----------
    found : CrossValidation

    Examples
    --------
    >>> import seqattractor as sa
    >>> session = sa.datasets.recording(n_laps=3, rng=0)
    >>> net = sa.SequenceAttractor(400, max_epochs=3000, random_state=0)
    >>> found = sa.replay.cross_validate(session.lap_counts(0.1), net, rng=0)
    >>> prediction_of_laps(found).get_ylabel()
    'F1 of the next bin'
    """
    if not hasattr(found, "other_laps"):
        raise TypeError(
            f"found must be what sa.replay.cross_validate returns, but it is {say(found)}."
        )
    ax = axes_or_new(ax)
    names = ("memory", "other_laps", "rates", "shuffled")
    words = ("memory", "another\nlap", "constant\nrates", "shuffled\nbins")
    values = np.array([getattr(found, name) for name in names])
    ax.plot(values, color=GREY, linewidth=0.5, alpha=0.6)
    for k, name in enumerate(names):
        low, high = found.interval(name)
        ax.plot(np.full(values.shape[1], k), values[k], ".", color=BLUE, alpha=0.6, markersize=4)
        ax.errorbar(
            k + 0.12,
            values[k].mean(),
            [[values[k].mean() - low], [high - values[k].mean()]],
            fmt="o",
            color=ORANGE,
        )
    ax.set(xticks=range(len(names)), xticklabels=words, ylabel="F1 of the next bin", ylim=(0, None))
    return ax
