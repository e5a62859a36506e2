"""What people have as numbers of spikes in bins: arrays, `Sequences`, or spikes of pynapple."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import as_numbers, check_kind, check_positive, say
from seqattractor.io import bin_spikes
from seqattractor.io._attached import attached
from seqattractor.io._pynapple import pynapple
from seqattractor.networks.base import SequenceMemory
from seqattractor.sequences import Sequences

if TYPE_CHECKING:
    from pynapple import IntervalSet, TsGroup

    Spikes: TypeAlias = Sequences | Sequence[ArrayLike] | TsGroup


def as_counts(
    given: Spikes, name: str, *, epochs: IntervalSet | None = None, bin_size: float | None = None
) -> list[NDArray[Any]]:
    """Return laps or events one by one as numbers of spikes, (bins, cells).

    Of +-1 patterns it is 1 where a cell was on. An epoch that is too short for a bin has none.
    """
    if _is_group(given):
        return _counted(given, name, epochs, bin_size)
    if epochs is not None or bin_size is not None:
        raise TypeError(f"epochs and bin_size go with a TsGroup, but {name} is {say(given)}.")
    if isinstance(given, Sequences):
        return [(part > 0).astype(np.int32) for part in given.split()]
    if isinstance(given, np.ndarray) and given.ndim == 2:
        wanted = "a list of arrays (bins, cells), or Sequences"
        raise ValueError(f"{name} must be {wanted}, but it is one array; give [{name}].")
    each = [_as_count(part, f"{name}[{k}]") for k, part in enumerate(given)]
    if not each:
        raise ValueError(f"there are no {name}.")
    N = each[0].shape[1]
    for k, part in enumerate(each):
        if part.shape[1] != N:
            raise ValueError(f"{name}[{k}] has {part.shape[1]} cells, but {name}[0] has {N}.")
    return each


def units_of(given: Any) -> list[str] | None:
    """Return the names of the cells, if the data have names."""
    if isinstance(given, Sequences):
        return given.units
    return [str(key) for key in given] if _is_group(given) else None


def check_same_cells(memory: SequenceMemory, n: int, given: Any, learned: Any = None) -> None:
    """Reject events of other cells than those of the memory, or in another order.

    Names are compared where the events have some and so has the memory, or what it has `learned`.
    """
    N = memory.n_features_in_
    if n != N:
        raise ValueError(f"the events have {n} cells, but the memory has learned patterns of {N}.")
    known = getattr(memory, "feature_names_in_", None)
    known = attached(memory).units if known is None else [str(name) for name in known]
    known = units_of(learned) if known is None else known
    for k, (unit, other) in enumerate(zip(units_of(given) or [], known or [], strict=False)):
        if unit != other:
            where = f"cell {k} of the events is the unit {say(unit)}, but the memory has learned"
            raise ValueError(f"{where} {say(other)} there; bring both into one order of units.")


def _is_group(given: Any) -> bool:
    """Whether this is a TsGroup of pynapple, which is not imported to find out."""
    kind = type(given)
    return kind.__name__ == "TsGroup" and kind.__module__.partition(".")[0] == "pynapple"


def _counted(group: Any, name: str, epochs: Any, bin_size: float | None) -> list[NDArray[Any]]:
    """Numbers of spikes in the bins of each epoch, as pynapple counts them."""
    if epochs is None or bin_size is None:
        needed = "epochs, an IntervalSet, and a bin_size in seconds"
        raise ValueError(f"{name} are given as a TsGroup, which needs {needed}.")
    check_kind(epochs, pynapple().IntervalSet, "epochs", "an IntervalSet of pynapple")
    width = check_positive(bin_size, "bin_size")
    trains = [np.asarray(group[key].t, dtype=np.float64) for key in group]
    if not trains:
        raise ValueError(f"{name} is an empty TsGroup: it has no units.")
    if not len(epochs):
        raise ValueError(f"there are no {name}: epochs is empty.")
    times, cells = np.concatenate(trains), np.repeat(np.arange(len(trains)), list(map(len, trains)))
    order = np.argsort(times, kind="stable")
    times, cells = times[order], cells[order]
    counted = []
    for start, end in np.asarray(epochs.values, dtype=np.float64).tolist():
        part = slice(*np.searchsorted(times, (start, np.nextafter(end, np.inf))))
        options: dict[str, Any] = {"n_units": len(trains), "start": start, "end": end}
        counted.append(bin_spikes(times[part], cells[part], width, counts=True, **options))
    return counted


def _as_count(part: ArrayLike, name: str) -> NDArray[Any]:
    """One lap or event as numbers of spikes."""
    counts = as_numbers(part, name)
    if counts.ndim != 2 or not counts.shape[1]:
        shape = counts.shape
        raise ValueError(f"{name} must be an array (bins, cells), but its shape is {shape}.")
    if counts.size and counts.min() < 0:
        if not np.all(np.abs(counts) == 1):
            raise ValueError(f"{name} has negative numbers of spikes.")
        counts = counts > 0
    return np.asarray(counts)
