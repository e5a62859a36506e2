"""Pictures of a recall and of a network: strips, overlaps, hidden neurons, weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike, NDArray

from seqattractor.analysis.retrieval import overlap
from seqattractor.plots.house import BLUE, GREY, ORANGE
from seqattractor.sequences import check_patterns

__all__ = ["hidden_raster", "overlap_curve", "recall_strip", "weights_image"]

_OFF, _ON, _EXTRA, _MISSING = range(4)
_COLOURS = ListedColormap(["#101010", "#ffffff", ORANGE, "#56b4e9"])


def recall_strip(
    ax: Axes,
    trajectory: ArrayLike,
    frame_shape: tuple[int, ...],
    *,
    truth: ArrayLike | None = None,
    order: int = 1,
    n_frames: int = 8,
) -> Axes:
    """Draw frames of a recall side by side: on white, off black, wrongly on orange, wrongly off blue.

    Parameters
    ----------
    ax : Axes
    trajectory : array of +-1, shape (K, N)
        As `recall` returns it; the first rows are the cue, in which nothing is called wrong.
    frame_shape : tuple of int
        (height, width); of units without a shape, ``(N,)``, all times are drawn as columns, with the first unit at the bottom.
    truth : array of +-1, shape (K, N), optional
        What should have come; then a row of stored frames stands above.
    order : int
        How many rows are the cue.
    n_frames : int
        How many times to show, evenly spread.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt, seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 20, rng=0)
    >>> ax = recall_strip(plt.figure().add_subplot(), sa.noise.flip(X, 3, rng=0), (4, 5), truth=X, n_frames=3)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['0', '2', '5']
    """
    states = check_patterns(trajectory, "trajectory")
    known = None if truth is None else check_patterns(truth, "truth", n_features=states.shape[1])
    flat = len(frame_shape) == 1
    if flat:
        states, known = states[:, ::-1], None if known is None else known[:, ::-1]
    K = len(states)
    times = np.arange(K) if flat else np.unique(np.linspace(0, K - 1, min(K, n_frames)).astype(int))
    shape = (frame_shape[0], 1) if flat else (frame_shape[0], frame_shape[1])
    rows = [_tiles(_marked(states, known, order)[times], shape, gap=0 if flat else max(1, shape[1] // 16))]
    labels = ["recall"]
    if known is not None:
        rows.insert(0, _tiles(_filled(_marked(known, None, order), K)[times], shape, gap=0 if flat else max(1, shape[1] // 16)))
        labels.insert(0, "stored")
    gap = np.full((max(1, shape[0] // 16), rows[0].shape[1]), np.nan)
    picture = rows[0] if len(rows) == 1 else np.concatenate([rows[0], gap, rows[1]])
    ax.imshow(picture, cmap=_COLOURS, vmin=0, vmax=3, interpolation="nearest", aspect="auto" if flat else "equal")
    pitch = (rows[0].shape[1] + (0 if flat else max(1, shape[1] // 16))) / len(times)
    shown = times if not flat else times[:: max(1, len(times) // 8)]
    ax.set_xticks([np.searchsorted(times, t) * pitch + (shape[1] - 1) / 2 for t in shown], [str(t) for t in shown])
    ax.set_yticks([r * (shape[0] + len(gap)) + (shape[0] - 1) / 2 for r in range(len(rows))], labels)
    ax.set_xlabel("step")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def overlap_curve(ax: Axes, trajectory: ArrayLike, truth: ArrayLike, *, X: ArrayLike | None = None, **line: Any) -> Axes:
    """Draw the overlap of a recall with what should have come, over time.

    Parameters
    ----------
    ax : Axes
    trajectory : array of +-1, shape (K, N)
    truth : array of +-1, shape (L, N)
        The first min(K, L) rows are compared.
    X : array of +-1, shape (T, N), optional
        All stored patterns: a thin line shows the overlap with the one that is nearest.
    **line
        For ``ax.plot``, such as ``label`` and ``color``.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt, seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 20, rng=0)
    >>> ax = overlap_curve(plt.figure().add_subplot(), sa.noise.flip(X, 5, rng=0), X, X=X)
    >>> ax.lines[-1].get_ydata().tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    """
    states = check_patterns(trajectory, "trajectory")
    known = check_patterns(truth, "truth", n_features=states.shape[1])
    length = min(len(states), len(known))
    if X is not None:
        nearest = overlap(states, X).max(axis=1)
        ax.plot(np.arange(len(states)), nearest, color=GREY, linewidth=0.9, linestyle=":", label="nearest stored pattern")
    together = 2.0 * (states[:length] == known[:length]).mean(axis=1) - 1.0
    options: dict[str, Any] = {"color": BLUE, "linewidth": 1.6, "label": "right pattern"} | line
    ax.plot(np.arange(length), together, **options)
    ax.set_xlabel("step")
    ax.set_ylabel("overlap")
    ax.set_ylim(min(-0.05, float(together.min()) - 0.05), 1.05)
    ax.grid(visible=True)
    return ax


def hidden_raster(ax: Axes, net: Any, trajectory: ArrayLike, *, n_neurons: int = 100, sort: bool = True) -> Axes:
    """Draw which hidden neurons are on at each step of a recall: a row for each neuron, on dark.

    Parameters
    ----------
    ax : Axes
    net : SequenceMemory
        With a method ``hidden``, such as `SequenceAttractor`.
    trajectory : array of +-1, shape (K, N)
        As ``net.recall`` returns it.
    n_neurons : int
        How many neurons to show at most: the first ones.
    sort : bool
        Order them by the time at which they are first on, then by how long.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt, seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 40, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=30, random_state=0).fit(X)
    >>> ax = hidden_raster(plt.figure().add_subplot(), net, net.recall(X[0], 9))
    >>> ax.images[0].get_array().shape
    (30, 10)
    """
    states = check_patterns(trajectory, "trajectory")
    windows = np.lib.stride_tricks.sliding_window_view(states, net.order_, axis=0).swapaxes(1, 2)
    zeta = np.asarray(net.hidden(windows[:, 0] if net.order_ == 1 else windows))[:, :n_neurons].T
    if sort:
        first = np.where((zeta > 0).any(axis=1), (zeta > 0).argmax(axis=1), zeta.shape[1])
        zeta = zeta[np.lexsort((-(zeta > 0).sum(axis=1), first))]
    ax.imshow(zeta, cmap=ListedColormap(["#f2f2f2", "#202020"]), vmin=-1, vmax=1, interpolation="nearest", aspect="auto")
    ax.set_xlabel("step")
    ax.set_ylabel("hidden neuron")
    return ax


def weights_image(ax: Axes, weights: ArrayLike, frame_shape: tuple[int, int], *, n_neurons: int = 12) -> Axes:
    """Draw the weights of some neurons as pictures in the shape of a frame, each on its own scale: red above zero, blue below.

    Parameters
    ----------
    ax : Axes
    weights : array of shape (M, N)
        A row for each neuron, such as ``net.U_``, or ``net.V_.T`` for what each hidden neuron paints.
    frame_shape : (height, width)
        Its product is N; for a network of order k the last N columns, the newest pattern, are drawn.
    n_neurons : int
        How many, from the first on.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = weights_image(plt.figure().add_subplot(), np.ones((7, 12)), (3, 4), n_neurons=6)
    >>> len(ax.images)
    1
    """
    array = np.asarray(weights, dtype=np.float64)
    size = int(np.prod(frame_shape))
    if array.ndim != 2 or array.shape[1] % size:
        raise ValueError(f"weights of shape {array.shape} cannot be drawn as frames of shape {tuple(frame_shape)}.")
    chosen = array[:n_neurons, -size:]
    chosen = chosen / np.maximum(np.abs(chosen).max(axis=1, keepdims=True), np.finfo(float).tiny)
    columns = int(np.ceil(np.sqrt(len(chosen) * frame_shape[0] / frame_shape[1] * 1.6)))
    columns = min(len(chosen), max(1, columns))
    gap = max(1, frame_shape[1] // 16)
    blank = np.full((-len(chosen) % columns, size), np.nan)
    tiles = np.concatenate([chosen, blank]).reshape(-1, columns, size)
    picture = np.concatenate([np.pad(_tiles(row, frame_shape, gap), ((0, gap), (0, 0)), constant_values=np.nan) for row in tiles])
    ax.imshow(picture[:-gap], cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def _marked(states: NDArray[np.int8], truth: NDArray[np.int8] | None, order: int) -> NDArray[np.float64]:
    """Colours of units: on, off, and, beside the truth, wrongly on or off; the cue is never called wrong."""
    marked = np.where(states > 0, _ON, _OFF).astype(np.float64)
    if truth is not None:
        length = min(len(states), len(truth))
        part, right, seen = marked[order:length], truth[order:length], states[order:length]
        part[(seen > 0) & (right < 0)] = _EXTRA
        part[(seen < 0) & (right > 0)] = _MISSING
    return marked


def _filled(frames: NDArray[np.float64], K: int) -> NDArray[np.float64]:
    """Cut or fill up with empty frames to K of them."""
    return np.pad(frames[:K], ((0, max(0, K - len(frames))), (0, 0)), constant_values=np.nan)


def _tiles(frames: NDArray[np.float64], shape: tuple[int, int], gap: int) -> NDArray[np.float64]:
    """Frames side by side with empty columns between, (height, columns)."""
    padded = np.pad(frames.reshape(-1, *shape), ((0, 0), (0, 0), (0, gap)), constant_values=np.nan)
    row = np.concatenate(list(padded), axis=1)
    return row[:, : row.shape[1] - gap] if gap else row
