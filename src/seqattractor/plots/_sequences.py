"""Sequences as a picture: what `Sequences.plot` draws."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from seqattractor.plots._frames import tiles
from seqattractor.plots._house import new_axes
from seqattractor.sequences import Sequences


def sequence_rows(X: Sequences, *, n_frames: int = 10, n_sequences: int = 8, ax: Axes | None = None) -> Axes:
    """Draw sequences: a row of frames for each, or, where units have no rows and columns, a column for each time.

    Parameters
    ----------
    X : Sequences
    n_frames : int
        How many frames of each sequence to show at most, from its beginning to its end.
    n_sequences : int
        How many sequences to show at most.
    ax : Axes, optional
        By default new ones.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seqattractor as sa
    >>> sequence_rows(sa.datasets.moving_digits(2, 5)).get_yticklabels()[1].get_text()
    'sequence 1'
    """
    ax = ax or new_axes()
    names, sequences = X.names[:n_sequences], X.split()[:n_sequences]
    if len(X.frame_shape) == 2:
        height, width = X.frame_shape
        below, beside = max(1, height // 16), max(1, width // 16)  # pixels between rows and between frames
        rows = []
        for x in sequences:
            times = np.unique(np.linspace(0, len(x) - 1, min(len(x), n_frames)).astype(int))
            rows.append(tiles(x[times].reshape(-1, height, width), beside))
        picture = np.full((len(rows) * (height + below) - below, max(row.shape[1] for row in rows)), np.nan)
        for k, row in enumerate(rows):
            picture[k * (height + below) :][:height, : row.shape[1]] = row
        ax.set_yticks([k * (height + below) + (height - 1) / 2 for k in range(len(rows))], names)
        ax.set_xticks([])
    else:
        picture = np.concatenate(sequences).T.astype(np.float64)
        ends = np.cumsum([len(x) for x in sequences])
        for end in ends[:-1]:
            ax.axvline(end - 0.5, color="C0")
        ax.set_xticks([end - len(x) / 2 - 0.5 for end, x in zip(ends, sequences, strict=True)], names)
        ax.set(ylabel="unit", yticks=[])
    ax.imshow(picture, cmap="gray", vmin=-1, vmax=1, interpolation="nearest", aspect="equal" if X.frame_shape[1:] else "auto")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax
