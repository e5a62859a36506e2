"""Names of columns that frames of other packages bring along, and where their time runs, without importing these packages."""

from __future__ import annotations

from typing import Any

from seqattractor._checks import say


def column_names(X: Any) -> list[str] | None:
    """Give the names of the columns of a frame, or of the first frame of a list, if all are text; else None.

    Frames of pandas, polars and pynapple have them as columns, arrays of xarray as coordinates of their units.

    Examples
    --------
    >>> import pandas as pd
    >>> column_names(pd.DataFrame({"a": [1], "b": [-1]})), column_names(pd.DataFrame([[1, -1]])), column_names([[1, -1]])
    (['a', 'b'], None, None)
    """
    if isinstance(X, (list, tuple)):
        return column_names(X[0]) if X and not isinstance(X[0], (list, tuple)) else None
    names = getattr(X, "columns", None)
    if names is None and (units := _units_dimension(X)) is not None:
        names = X.coords[units].values if units in X.coords else None
    if names is None or callable(names):
        return None
    named = list(names)
    return [str(name) for name in named] if named and all(isinstance(name, str) for name in named) else None


def time_first(X: Any) -> Any:
    """Give an array of xarray with its dimension "time" first, and anything else as it is."""
    return X.transpose("time", ...) if _units_dimension(X) is not None and X.dims[1] == "time" else X


def check_column_names(X: Any, known: Any, name: str = "X") -> None:
    """Refuse a frame whose columns have other names than those that were learned, or stand in another order.

    Examples
    --------
    >>> import pandas as pd
    >>> check_column_names(pd.DataFrame({"b": [1], "a": [-1]}), ["a", "b"])
    Traceback (most recent call last):
    ValueError: X has the column 'b' where the network learned 'a'; bring its columns into the order of net.feature_names_in_.
    """
    names = column_names(X)
    if names is None or known is None or len(names) != len(known):  # a wrong number of columns is refused elsewhere
        return
    for given, learned in zip(names, known, strict=True):
        if given != learned:
            raise ValueError(
                f"{name} has the column {say(given)} where the network learned {say(str(learned))}; bring its columns into the "
                "order of net.feature_names_in_."
            )


def _units_dimension(X: Any) -> Any:
    """The dimension of an array of xarray that is not time; None for anything else."""
    dims = getattr(X, "dims", None)
    if not isinstance(dims, tuple) or len(dims) != 2 or not hasattr(X, "coords"):
        return None
    return dims[0] if dims[1] == "time" else dims[1]
