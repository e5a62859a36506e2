"""One sequence for many noisy laps: what they have in common at each fraction of a lap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_number, is_auto
from seqattractor.replay._spikes import as_counts, units_of
from seqattractor.sequences import Patterns, Sequences

if TYPE_CHECKING:
    from pynapple import IntervalSet

    from seqattractor.replay._spikes import Spikes

_FLICKER = 4


def consensus(
    laps: Spikes,
    *,
    maps: ArrayLike | None = None,
    n_bins: int | str = "auto",
    threshold: float = 0.5,
    epochs: IntervalSet | None = None,
    bin_size: float | None = None,
) -> Sequences:
    """Average laps at equal fractions of their length, and mark the cells that are usually active
    there.

    Laps are noisy: each misses spikes of its own, and no two of them are the same. What they share
    is what a memory should learn when it is to recognise replay (`replay.test`).

    Parameters
    ----------
    laps : Sequences, list of arrays of shape (T_s, N), or pynapple.TsGroup
        Numbers of spikes, or +-1 patterns, of which only on or off is known; or spikes, with
        `epochs` and `bin_size`.
    maps : array of shape (S,), optional
        A label for each lap, such as the environment or the arm of a maze; each label gets a
        sequence of its own.
    n_bins : int or "auto"
        Of the consensus; "auto" is the median of the lengths of the laps.
    threshold : float
        A cell is on where its number of spikes per bin, averaged over the laps, is above this.
        Of +-1 patterns a bin with spikes counts as one.
    epochs : pynapple.IntervalSet, optional
        When each lap begins and ends, if `laps` is a TsGroup.
    bin_size : float, optional
        Seconds, if `laps` is a TsGroup.

    Returns
    -------
    Sequences
        One for each map. Where a pattern comes back within a few bins, it is there once, without
        those in between.

    Examples
    --------
    >>> import seqattractor as sa
    >>> session = sa.datasets.recording(rng=0)
    >>> sa.replay.consensus(session.lap_counts(0.1)).shape[1]
    60
    """
    each = as_counts(laps, "laps", epochs=epochs, bin_size=bin_size)
    threshold = check_number(threshold, "threshold")
    labels = np.zeros(len(each), dtype=int) if maps is None else np.asarray(maps)
    if labels.shape != (len(each),):
        raise ValueError(
            f"maps must label each of the {len(each)} laps, but its shape is {labels.shape}."
        )
    parts, names = [], []
    for label in dict.fromkeys(labels.tolist()):
        chosen = [lap for lap, other in zip(each, labels, strict=True) if other == label]
        bins = (
            int(np.median([len(lap) for lap in chosen]))
            if is_auto(n_bins)
            else check_count(n_bins, "n_bins", 2)
        )
        mean = np.mean([stretched(lap, bins) for lap in chosen], axis=0)
        patterns = _without_flicker(np.where(mean > threshold, 1, -1).astype(np.int8))
        if len(patterns) < 2:
            most = f"at most {mean.max():.2f} spikes per bin on average"
            why = f"{most}, and the threshold is {threshold:.2f}"
            raise ValueError(
                f"the consensus of the {len(chosen)} laps never changes ({why}). "
                "They may have no sequence in common; take wider bins or a lower threshold to see."
            )
        parts.append(patterns)
        names.append("consensus" if maps is None else f"map {label}")
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    units = units_of(laps)
    return Sequences(np.concatenate(parts), lengths, names=names, units=units, kind="spikes")


def _without_flicker(patterns: Patterns) -> Patterns:
    """The patterns without those between one and its return within `_FLICKER` bins, which have no
    successor of their own.
    """
    left: list[Patterns] = []
    for pattern in patterns:
        back = next(
            (k for k in range(1, _FLICKER + 1) if k <= len(left) and (left[-k] == pattern).all()),
            None,
        )
        left = [*left, pattern] if back is None else left[: len(left) - back + 1]
    return np.array(left)


def stretched(lap: NDArray[Any], bins: int) -> NDArray[np.float64]:
    """A lap with another number of bins: linear interpolation between the middles of its bins."""
    at = np.clip((np.arange(bins) + 0.5) / bins * len(lap) - 0.5, 0, len(lap) - 1)
    before = np.floor(at).astype(int)
    share = (at - before)[:, None]
    return np.asarray(lap[before] * (1 - share) + lap[np.minimum(before + 1, len(lap) - 1)] * share)
