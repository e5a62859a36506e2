"""The base class of results: one line at the prompt, a table in a notebook, a DataFrame, a figure,
a few sentences.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from html import escape
from itertools import islice
from typing import Any, ClassVar

from seqattractor._named_axes import NamedAxes

_ROWS_SHOWN = 10


class Result:
    """What every result can do; a class of results gives `describe` and, unless one row of plain
    values will do, `rows`.

    A frozen dataclass that derives from it is declared with ``repr=False``, so that the one line
    below is its ``repr``.
    """

    __slots__ = ()
    # The function of `seqattractor.plots` that draws such results; it takes the result first and
    # the keyword `ax`.
    _drawn_by: ClassVar[str | None] = None

    def describe(self) -> str:
        """Describe the result in a few sentences, the answer in the first one.

        Returns
        -------
        str

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.datasets.xor().describe()
        '1 loop of 5 patterns, 2 units. 60.0% of the units are on. Named xor.'
        """
        raise NotImplementedError

    def rows(self) -> Iterable[Mapping[str, Any]]:
        """Return the result as rows of a table.

        Returns
        -------
        iterable of dict

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.datasets.xor().rows()
        [{'name': 'xor', 'patterns': 5, 'loop': True, 'on': 0.6}]
        """
        return [
            {
                name: value
                for name, value in vars(self).items()
                if isinstance(value, (int, float, str))
            }
        ]

    def to_pandas(self) -> Any:
        """Return the rows as a ``pandas.DataFrame``.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.datasets.xor().to_pandas()  # doctest: +SKIP
          name  patterns  loop   on
        0  xor         5  True  0.6
        """
        try:
            import pandas
        except ImportError:
            raise ImportError(
                "to_pandas() needs pandas, which is not installed: pip install pandas."
            ) from None
        return pandas.DataFrame([dict(row) for row in self.rows()])

    def to_xarray(self) -> Any:
        """Return the numbers as an ``xarray.Dataset``: arrays with named axes, and what was
        measured in its attributes.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> import seqattractor as sa
        >>> data = sa.datasets.xor().to_xarray()  # needs xarray: pip install "seqattractor[xarray]"
        >>> data.patterns.dims, data.patterns.shape
        (('time', 'unit'), (5, 2))
        """
        axes = self._named_axes()
        if axes is None:
            raise NotImplementedError(
                f"a {type(self).__name__} has no axes; its numbers are in rows() and to_pandas()."
            )
        about = {"result": type(self).__name__, "description": self.describe()}
        return replace(axes, attributes=about | dict(axes.attributes)).dataset()

    def _named_axes(self) -> NamedAxes | None:
        """The numbers along named axes, if there are axes; needs no xarray."""
        return None

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the result into matplotlib Axes, new ones by default, and return them.

        Parameters
        ----------
        ax : Axes, optional
        **options
            Of the function of `seqattractor.plots` that draws such results.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import seqattractor as sa
        >>> ax = sa.datasets.walker().plot(n_frames=5)
        """
        if self._drawn_by is None:
            raise NotImplementedError(
                f"there is no picture of a {type(self).__name__}; its numbers are in rows()."
            )
        # By name and only now: plots are a layer above.
        return getattr(importlib.import_module("seqattractor.plots"), self._drawn_by)(
            self, ax=ax, **options
        )

    def __repr__(self) -> str:
        """Return the answer in one line."""
        return f"{type(self).__name__}: {self._answer()}"

    def _answer(self) -> str:
        """Return the first sentence for use after a colon, where only the name of a class has a
        capital.
        """
        answer = self.describe().partition(". ")[0].removesuffix(".")
        rest = answer.partition(" ")[0][1:]
        return answer[:1].lower() + answer[1:] if rest == rest.lower() else answer

    def _repr_html_(self) -> str:
        """Return the description and the first rows, for notebooks."""
        return _heading(type(self).__name__, self.describe()) + _table(
            list(islice(self.rows(), _ROWS_SHOWN + 1))
        )


def _table(rows: list[Mapping[str, Any]]) -> str:
    """Return the first rows as HTML."""
    if not rows or not rows[0]:
        return ""
    titles = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    cells = (
        "".join(f"<td>{escape(_cell(value))}</td>" for value in row.values())
        for row in rows[:_ROWS_SHOWN]
    )
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    more = "<p>More rows in to_pandas().</p>" if len(rows) > _ROWS_SHOWN else ""
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>{more}"


def _heading(name: str, words: str) -> str:
    """Return a name and a description as HTML."""
    lines = escape(words).replace("\n", "<br>")
    return f"<p><b>{escape(name)}</b> {lines}</p>"


def html_card(name: str, words: str, facts: Mapping[str, str]) -> str:
    """Return a description and facts under titles as HTML for notebooks."""
    left = 'style="text-align: left"'
    rows = "".join(
        f"<tr><th {left}>{escape(title)}</th><td {left}>{escape(fact)}</td></tr>"
        for title, fact in facts.items()
    )
    return (
        f'{_heading(name, words)}<table style="margin-bottom: 0.6em"><tbody>{rows}</tbody></table>'
    )


def plural(number: int, noun: str) -> str:
    """Return a number of things in words: "1 unit", "2 units"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _cell(value: Any) -> str:
    """A value in a table, short."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
