"""Pictures of hidden neurons: when they are on, how often, how alike their codes are, and what their weights look like."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike

from seqattractor._checks import check_count, check_counts, check_finite, check_flag, check_kind
from seqattractor.analysis._hidden_activity import HiddenActivity
from seqattractor.analysis._lost_starts import ENDS, FIRST_STEPS, LostStarts
from seqattractor.networks.base import check_learned
from seqattractor.plots._frames import stacked, tiles
from seqattractor.plots._house import BLUE, GREEN, GREY, ORANGE, axes_or_new, unframed
from seqattractor.sequences import check_patterns

END_COLORS = dict(zip(ENDS, (BLUE, GREEN, GREY, ORANGE), strict=True))
"""The color of each end of a start."""


def start_losses(losses: LostStarts, *, ax: Axes | None = None) -> Axes:
    """Draw how many starts had which first step, as bars that show where they ended.

    Parameters
    ----------
    losses : LostStarts
        As `seqattractor.lost_starts` gives it.
    ax : Axes, optional

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


def hidden_raster(net: Any, trajectory: ArrayLike, *, n_neurons: int = 100, sort: bool = True, ax: Axes | None = None) -> Axes:
    """Draw which hidden neurons are on at each step of a recall: a row for each neuron, on dark.

    Parameters
    ----------
    net : SequenceMemory
        With a method ``hidden``, such as `SequenceAttractor`.
    trajectory : array of +-1, shape (K, N)
        As ``net.recall`` returns it.
    n_neurons : int
        How many neurons to show at most: the first ones.
    sort : bool
        Order them by the time at which they are first on, then by how long.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 40, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=30, random_state=0).fit(X)
    >>> ax = hidden_raster(net, net.recall(X[0], 9))
    >>> ax.images[0].get_array().shape
    (30, 10)
    """
    check_learned(net)
    if not hasattr(net, "hidden"):
        raise TypeError(f"{type(net).__name__} has no hidden neurons to draw.")
    n_neurons, sort = check_count(n_neurons, "n_neurons"), check_flag(sort, "sort")
    states = check_patterns(trajectory, "trajectory")
    if len(states) < net.order_:
        raise ValueError(f"the trajectory has {len(states)} patterns, but the network looks at {net.order_} at a time.")
    ax = axes_or_new(ax)
    windows = np.lib.stride_tricks.sliding_window_view(states, net.order_, axis=0).swapaxes(1, 2)
    zeta = np.asarray(net.hidden(windows))[:, :n_neurons].T
    if sort:
        first = np.where((zeta > 0).any(axis=1), (zeta > 0).argmax(axis=1), zeta.shape[1])
        zeta = zeta[np.lexsort((-(zeta > 0).sum(axis=1), first))]
    ax.imshow(zeta, cmap=ListedColormap(["#f2f2f2", "#202020"]), vmin=-1, vmax=1, interpolation="nearest", aspect="auto")
    ax.set(xlabel="step", ylabel="hidden neuron")
    return ax


def hidden_rates(activity: HiddenActivity, *, ax: Axes | None = None) -> Axes:
    """Draw how many hidden neurons are active at which part of the transitions.

    Parameters
    ----------
    activity : HiddenActivity
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(9, 30, rng=0)
    >>> activity = sa.hidden_activity(sa.OneHotNetwork().fit(X), X)
    >>> hidden_rates(activity).get_ylabel()
    'hidden neurons'
    """
    check_kind(activity, HiddenActivity, "activity", "what hidden_activity gives")
    ax = axes_or_new(ax)
    ax.hist(100 * activity.rate, bins=np.linspace(0, 100, 26).tolist(), color=BLUE)
    ax.axvline(100 * float(activity.rate.mean()), color=ORANGE, linewidth=1.4, label="mean")
    ax.set(xlim=(0, 100), xlabel="transitions at which a neuron is active, %", ylabel="hidden neurons")
    ax.grid(axis="y")
    ax.legend(loc="upper right")
    return ax


def code_overlap(activity: HiddenActivity, *, ax: Axes | None = None) -> Axes:
    """Draw the overlap of every pair of hidden codes.

    Parameters
    ----------
    activity : HiddenActivity
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(9, 30, rng=0)
    >>> activity = sa.hidden_activity(sa.OneHotNetwork().fit(X), X)
    >>> code_overlap(activity).images[0].get_array().shape
    (8, 8)
    """
    check_kind(activity, HiddenActivity, "activity", "what hidden_activity gives")
    ax = axes_or_new(ax)
    image = ax.imshow(activity.overlap, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="overlap of codes", shrink=0.85)
    ax.set(xlabel="transition", ylabel="transition")
    return ax


def weights_image(weights: ArrayLike, frame_shape: tuple[int, ...], *, n_neurons: int = 12, ax: Axes | None = None) -> Axes:
    """Draw the weights of some neurons as pictures in the shape of a frame, each on its own scale: red above zero, blue below.

    Parameters
    ----------
    weights : array of shape (M, N)
        A row for each neuron, such as ``net.U_``, or ``net.V_.T`` for what each hidden neuron paints.
    frame_shape : (height, width)
        Its product is N; for a network of order k the last N columns, the newest pattern, are drawn.
    n_neurons : int
        How many, from the first on.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = weights_image(np.ones((7, 12)), (3, 4), n_neurons=6)
    >>> len(ax.images)
    1
    """
    array = check_finite(weights, "weights", "neurons", "inputs")
    n_neurons = check_count(n_neurons, "n_neurons")
    frame_shape = tuple(check_counts(frame_shape, "the sides of a frame", 1, array.shape[1]).tolist())
    size = prod(frame_shape)
    if len(frame_shape) != 2 or array.shape[1] % size:
        raise ValueError(f"weights of shape {array.shape} cannot be drawn as frames of shape {frame_shape}.")
    ax = axes_or_new(ax)
    chosen = array[:n_neurons, -size:]
    chosen = chosen / np.maximum(np.abs(chosen).max(axis=1, keepdims=True), np.finfo(float).tiny)
    columns = max(1, int(np.ceil(np.sqrt(len(chosen) * frame_shape[0] / frame_shape[1] * 1.6))))
    gap = max(1, frame_shape[1] // 16)
    frames = chosen.reshape(-1, *frame_shape)
    rows = [tiles(frames[k : k + columns], gap) for k in range(0, len(frames), columns)]
    ax.imshow(stacked(rows, gap), cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    unframed(ax)
    return ax
