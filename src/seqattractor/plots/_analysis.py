"""Pictures of analyses: guarantees and robustness, attractors and state space, hidden neurons and
their weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_counts, check_finite, check_kind
from seqattractor.analysis._attractors import Attractors
from seqattractor.analysis._certificate import Certificate
from seqattractor.analysis._hidden_activity import HiddenActivity
from seqattractor.analysis._lesions import LesionCurve
from seqattractor.analysis._lost_starts import ENDS, FIRST_STEPS, LostStarts
from seqattractor.analysis._robustness import RobustnessCurve
from seqattractor.networks.base import check_learned
from seqattractor.plots._curves import success_curve
from seqattractor.plots._frames import stacked, tiles
from seqattractor.plots._house import BLUE, GREEN, GREY, ORANGE, RED, axes_or_new, draws, unframed
from seqattractor.sequences import check_patterns


@draws
def certificate_profile(certificate: Certificate, *, ax: Axes | None = None) -> Axes:
    """Draw for each transition the proven number of flips, the attack above it and Theorem 4 below.

    Parameters
    ----------
    certificate : Certificate

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> certificate = sa.certify(sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X), X)
    >>> ax = certificate_profile(certificate)
    >>> ax.get_ylabel()
    'flips'
    """
    check_kind(certificate, Certificate, "certificate", "what certify gives")
    ax = axes_or_new(ax)
    t = np.arange(len(certificate.radius))
    broken = certificate.breaking <= certificate.n_inputs
    if certificate.attacked and broken.any():
        possible = np.where(broken, certificate.breaking - 1, certificate.radius)
        ax.fill_between(t, certificate.radius, possible, step="mid", color=BLUE, alpha=0.2)
        ax.plot(
            t[broken],
            certificate.breaking[broken],
            "v",
            color=RED,
            markersize=4,
            label="an attack breaks it",
        )
    ax.step(t, certificate.radius, where="mid", color=BLUE, linewidth=1.6, label="proven")
    ax.step(
        t,
        certificate.theorem_4,
        where="mid",
        color=GREY,
        linestyle="--",
        linewidth=1.2,
        label="Theorem 4",
    )
    for start in np.flatnonzero(np.diff(certificate.sequence)):
        ax.axvline(start + 0.5, color=GREY, linewidth=0.6)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(
        xlabel="transition",
        ylabel="flips",
        ylim=(min(-0.5, float(certificate.radius.min()) - 0.2), None),
    )
    ax.grid(axis="y")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.0)
    return ax


@draws
def robustness_with_certificate(
    curve: RobustnessCurve, certificate: Certificate | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how often one step is right after random flips, with what is proven shaded.

    Parameters
    ----------
    curve : RobustnessCurve
    certificate : Certificate, optional
        Of the same network and sequences.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X)
    >>> curve = sa.robustness_curve(net, X, trials=20, rng=0)
    >>> ax = robustness_with_certificate(curve, sa.certify(net, X))
    >>> ax.get_xlabel()
    'flipped units'
    """
    check_kind(curve, RobustnessCurve, "curve", "what robustness_curve gives")
    check_kind(certificate, (Certificate, type(None)), "certificate", "what certify gives, or None")
    ax = axes_or_new(ax)
    if certificate is not None and certificate.radius.min() >= 0:
        least, worst = int(certificate.radius.min()), int(certificate.breaking.min())
        ax.axvspan(0, least, color=GREEN, alpha=0.18, label=f"proven for any flips: {least}")
        if worst <= certificate.n_inputs:
            ax.axvline(worst, color=RED, linewidth=1.2, label=f"chosen flips break it: {worst}")
    trials = [curve.trials] * len(curve.flips)
    success_curve(
        curve.flips,
        curve.successes.tolist(),
        trials,
        color=BLUE,
        label="random flips, measured",
        ax=ax,
    )
    ax.set(xlabel="flipped units", ylabel="next pattern exact, %", xlim=(0, None))
    ax.legend(loc="upper right")
    return ax


@draws
def lesion_recall(curve: LesionCurve, *, ax: Axes | None = None) -> Axes:
    """Draw what is right and what is recalled after random lesions, with what is proven.

    The band goes from the worst to the best draw; the shaded area is proven whatever is removed,
    the dashed line for random lesions.

    Parameters
    ----------
    curve : LesionCurve

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X)
    >>> ax = lesion_recall(sa.lesion_curve(net, X, draws=3, rng=0))
    >>> ax.get_xlabel()
    'removed hidden neurons, %'
    """
    check_kind(curve, LesionCurve, "curve", "what lesion_curve gives")
    ax = axes_or_new(ax)
    x, draws_made = 100 * curve.fraction, curve.recalled.shape[1]
    every = np.unique(curve.proven.clip(0))
    certain = 100 * (curve.proven >= every[:, None]).mean(axis=1)
    ax.fill_between(
        np.append(0, 100 * every / curve.size),
        np.append(certain[0], certain),
        step="pre",
        color=GREEN,
        alpha=0.25,
        linewidth=0,
        label="transitions proven, any lesion",
    )
    if np.any(curve.sure[curve.removed > curve.proven.min()] > 0):
        ax.plot(x, 100 * curve.sure, "--", color=GREEN, label="all proven, random lesion")
    low, high = 100 * curve.right.min(axis=1), 100 * curve.right.max(axis=1)
    ax.fill_between(x, low, high, color=BLUE, alpha=0.2, linewidth=0)
    ax.plot(x, 100 * curve.right.mean(axis=1), "o-", color=BLUE, markersize=4, label="transitions")
    success_curve(
        x,
        curve.recalled.sum(axis=1).tolist(),
        [draws_made] * len(x),
        color=ORANGE,
        marker="s",
        label="whole sequences",
        ax=ax,
    )
    noun = "synapses" if curve.part == "synapses" else f"{curve.part} neurons"
    ax.set(xlabel=f"removed {noun}, %", ylabel="right, %", xlim=(0, None))
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, fontsize=8, borderaxespad=0.0)
    return ax


_MOST_STATES = 2000  # to find the plane from


@draws
def attractor_bars(attractors: Attractors, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """Draw how many starts came to each attractor, stored ones in another colour than spurious
    ones.

    Parameters
    ----------
    attractors : Attractors
    most : int
        How many to show; the rest are put together.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 30, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=60, random_state=0).fit(X)
    >>> ax = attractor_bars(sa.find_attractors(net, X, flips=2, rng=0))
    >>> ax.get_xlabel()
    'starts, %'
    """
    check_kind(attractors, Attractors, "attractors", "what find_attractors gives")
    most = check_count(most, "most", 0)
    ax = axes_or_new(ax)
    total = len(attractors.which)
    bars = []
    for a in attractors.attractors[:most]:
        name = (
            a.name
            if a.stored is not None or a.mirror_of is not None
            else f"{a.name}, period {a.period}"
        )
        color = BLUE if a.stored is not None else ORANGE
        bars.append((name, a.starts, color))
    rest = sum(a.starts for a in attractors.attractors[most:])
    if rest:
        bars.append((f"{len(attractors) - most} others", rest, GREY))
    if attractors.unfinished:
        bars.append(("not settled", attractors.unfinished, GREY))
    for y, (_, count, color) in enumerate(bars):
        ax.barh(y, 100 * count / total, color=color)
        ax.text(100 * count / total + 1, y, str(count), va="center", fontsize=8)
    ax.set_yticks(range(len(bars)), [name for name, _, _ in bars])
    ax.invert_yaxis()
    ax.set(xlim=(0, 112), xlabel="starts, %")
    ax.grid(axis="x")
    return ax


@draws
def state_space(
    stored: Sequence[ArrayLike], trajectories: Sequence[ArrayLike] = (), *, ax: Axes | None = None
) -> Axes:
    """Draw stored sequences and some trajectories in the plane in which the stored states spread
    most (principal components).

    Parameters
    ----------
    stored : sequence of arrays, each of shape (T_s, N)
        Visible patterns or hidden states.
    trajectories : sequence of arrays, each of shape (K, N)

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(9, 30, rng=0)
    >>> ax = state_space([X], [sa.noise.flip(X, 3, rng=0)])
    >>> len(ax.lines)
    3
    """
    from sklearn.decomposition import PCA

    sequences = _paths(stored, "stored")
    if not sequences:
        raise ValueError("stored is empty: give at least one sequence of states.")
    N = sequences[0].shape[1]
    paths = _paths(trajectories, "trajectories")
    if any(x.shape[1] != N for x in (*sequences, *paths)):
        raise ValueError("all sequences and trajectories must have the same number of neurons.")
    ax = axes_or_new(ax)
    states = np.concatenate(sequences)
    some = states[:: -(-len(states) // _MOST_STATES)]
    plane = PCA(2, random_state=0)
    with np.errstate(invalid="ignore"):  # states that are all equal spread nowhere
        plane.fit(some)
    first, second = np.nan_to_num(plane.explained_variance_ratio_)
    for k, path in enumerate(paths):
        points = plane.transform(path)
        ax.plot(*points.T, color=GREY, linewidth=0.8, alpha=0.8, label="recall" if k == 0 else None)
        ax.plot(*points[0], "o", color=GREY, markersize=4, label="cue" if k == 0 else None)
    colours = (BLUE, ORANGE, GREEN, RED)
    for s, sequence in enumerate(stored):
        points = plane.transform(np.asarray(sequence, dtype=np.float64))
        name = "stored" if len(stored) == 1 else f"sequence {s}"
        ax.plot(
            *points.T,
            "o-",
            color=colours[s % 4],
            markersize=3,
            linewidth=1.2,
            label=name if s < 6 else None,
        )
    ax.set(xlabel=f"component 1 ({first:.0%})", ylabel=f"component 2 ({second:.0%})")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def _paths(given: Any, name: str) -> list[NDArray[np.float64]]:
    """Several arrays of states, each checked."""
    check_kind(given, (list, tuple, np.ndarray), name, "a list of arrays of states")
    return [check_finite(x, f"{name}[{k}]", "time", "neurons") for k, x in enumerate(given)]


END_COLORS = dict(zip(ENDS, (BLUE, GREEN, GREY, ORANGE), strict=True))
"""The color of each end of a start."""


@draws
def start_losses(losses: LostStarts, *, ax: Axes | None = None) -> Axes:
    """Draw how many starts had which first step, as bars that show where they ended.

    Parameters
    ----------
    losses : LostStarts
        As `seqattractor.lost_starts` gives it.

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


@draws
def hidden_raster(
    net: Any, trajectory: ArrayLike, *, n_neurons: int = 100, ax: Axes | None = None
) -> Axes:
    """Draw which hidden neurons are on at each step of a recall: a row for each neuron, on dark.

    Neurons are ordered by the time at which they are first on, then by how long.

    Parameters
    ----------
    net : SequenceMemory
        With a method ``hidden``, such as `SequenceAttractor`.
    trajectory : array of +-1, shape (K, N)
        As ``net.recall`` returns it.
    n_neurons : int
        How many neurons to show at most: the first ones.

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
    n_neurons = check_count(n_neurons, "n_neurons")
    states = check_patterns(trajectory, "trajectory")
    if len(states) < net.order_:
        raise ValueError(
            f"the trajectory has {len(states)} patterns, but the network looks at {net.order_} at "
            "a time."
        )
    ax = axes_or_new(ax)
    windows = np.lib.stride_tricks.sliding_window_view(states, net.order_, axis=0).swapaxes(1, 2)
    zeta = np.asarray(net.hidden(windows))[:, :n_neurons].T
    first = np.where((zeta > 0).any(axis=1), (zeta > 0).argmax(axis=1), zeta.shape[1])
    zeta = zeta[np.lexsort((-(zeta > 0).sum(axis=1), first))]
    ax.imshow(
        zeta,
        cmap=ListedColormap(["#f2f2f2", "#202020"]),
        vmin=-1,
        vmax=1,
        interpolation="nearest",
        aspect="auto",
    )
    ax.set(xlabel="step", ylabel="hidden neuron")
    return ax


@draws
def code_overlap(activity: HiddenActivity, *, ax: Axes | None = None) -> Axes:
    """Draw the overlap of every pair of hidden codes.

    Parameters
    ----------
    activity : HiddenActivity

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


@draws
def weights_image(
    weights: ArrayLike, frame_shape: tuple[int, ...], *, n_neurons: int = 12, ax: Axes | None = None
) -> Axes:
    """Draw the weights of some neurons as pictures in the shape of a frame, each on its own scale:
    red above zero, blue below.

    Parameters
    ----------
    weights : array of shape (M, N)
        A row for each neuron, such as ``net.U_``, or ``net.V_.T`` for what each hidden neuron
        paints.
    frame_shape : (height, width)
        Its product is N; for a network of order k the last N columns, the newest pattern, are
        drawn.
    n_neurons : int
        How many, from the first on.

    Examples
    --------
    >>> ax = weights_image(np.ones((7, 12)), (3, 4), n_neurons=6)
    >>> len(ax.images)
    1
    """
    array = check_finite(weights, "weights", "neurons", "inputs")
    n_neurons = check_count(n_neurons, "n_neurons")
    frame_shape = tuple(
        check_counts(frame_shape, "the sides of a frame", 1, array.shape[1]).tolist()
    )
    size = prod(frame_shape)
    if len(frame_shape) != 2 or array.shape[1] % size:
        raise ValueError(
            f"weights of shape {array.shape} cannot be drawn as frames of shape {frame_shape}."
        )
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
