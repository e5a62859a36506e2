"""How a comparison is shown: its figure, its tables, and a section of HTML."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

from seqattractor.experiments._comparison import Comparison, Row
from seqattractor.experiments._conclusion import conclusion
from seqattractor.report.files import DPI
from seqattractor.report.paper_page import embedded, table_html
from seqattractor.report.view import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["comparison_figure", "comparison_html", "comparison_page", "comparison_png", "comparison_tables", "draw"]

_COLORS = ("#3a8fc7", "#e69f00", "#009e73", "#d55e00", "#8a6fc0", "#8a8a8a", "#c05fa0", "#5fb0b0", "#a08030", "#606060")
_MARKERS = "osD^vP*X<>"


def comparison_figure(found: Sequence[Comparison]) -> Figure:
    """Draw success with intervals: a row for each comparison, networks that learn beside those that keep the patterns.

    Parameters
    ----------
    found : sequence of Comparison

    Returns
    -------
    Figure
    """
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(len(found), 2, figsize=(12.5, 3.6 * len(found)), squeeze=False, sharey=True, layout="constrained")
    for row, comparison in zip(axes, found, strict=True):
        draw(row[0], row[1], comparison)
    return figure


def draw(learning: Axes, storing: Axes, found: Comparison) -> None:
    """Draw one comparison into two axes."""
    from seqattractor import plots

    values = found.settings["values"]
    for ax, stores in ((learning, False), (storing, True)):
        names = [n["network"] for n in found.networks if bool(n["stores_patterns"]) is stores]
        for k, name in enumerate(names):
            rows = [found.row(name, value) for value in values]
            counts = [row["successes"] for row in rows], [row["trials"] for row in rows]
            look: dict[str, Any] = {"color": _COLORS[k % 10], "marker": _MARKERS[k % 10], "linestyle": "-" if k < 10 else "--"}
            shift = 0.6 * ((k + 0.5) / len(names) - 0.5)
            plots.success_curve(ax, range(len(values)), *counts, shift=shift, label=name, **look)
        ax.set_xticks(range(len(values)), [str(value) for value in values])
        ax.set_xlabel(found.settings["axis"])
        ax.set_title(f"{found.settings['title']}: {'patterns kept' if stores else 'weights learned'}")
        if names:
            ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    storing.set_ylabel("")


def comparison_png(found: Comparison) -> bytes:
    """Draw one comparison in the house style and give the PNG."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from seqattractor import plots

    content = io.BytesIO()
    with plots.style():
        figure = comparison_figure([found])
        figure.savefig(content, format="png", dpi=DPI, metadata={"Software": None})
        plt.close(figure)
    return content.getvalue()


def comparison_tables(found: Comparison, *, timing: bool = False) -> list[Table]:
    """Give a table of successes with intervals, and one of what each network is and costs.

    Parameters
    ----------
    found : Comparison
    timing : bool
        Add the seconds, which differ from run to run.

    Returns
    -------
    list of Table
    """
    values, trials = found.settings["values"], found.settings["trials"]
    names = [n["network"] for n in found.networks]
    successes = [[name, *(_success(found.row(name, value)) for value in values)] for name in names]
    kinds = [_kind(found, network, timing) for network in found.networks]
    columns = ["network", "numbers kept", "patterns kept", "online", "local", "epochs to no error", "wrong units after a step"]
    if found.several:
        columns.append("sequences recalled")
    if timing:
        columns += ["s to learn", "s to recall"]
    return [
        Table(
            [found.settings["axis"], *map(str, values)],
            successes,
            f"{found.settings['title']}: successes of {trials} and 95 % Wilson intervals in percent.",
        ),
        Table(columns, kinds, f"What each network is, and what it needs at {values[-1]}, the hardest value."),
    ]


def comparison_html(found: Comparison, png: bytes, *, timing: bool = False) -> str:
    """Give a section of HTML with the conclusion, the figure and the tables.

    Parameters
    ----------
    found : Comparison
    png : bytes
        Its figure.
    timing : bool

    Returns
    -------
    str
        A ``<section>`` that stands alone or inside a report.
    """
    words = escape(f"{found.settings['title']}: success of all networks against the {found.settings['axis']}")
    return "\n".join(
        [
            f'<section id="compare-{escape(found.settings["protocol"])}">',
            f"<h2>{escape(found.settings['title'])}</h2>",
            f"<p>{escape(conclusion(found))}</p>",
            f'<div class="wide"><img class="figure" style="max-width: 100%" src="{embedded(png, "png")}" alt="{words}"></div>',
            *(table_html(table) for table in comparison_tables(found, timing=timing)),
            "</section>",
            "",
        ]
    )


def comparison_page(found: Comparison, png: bytes, *, timing: bool = False) -> str:
    """Give a whole page with this one section, in the style of the report."""
    style = (resources.files("seqattractor.report") / "report.css").read_text(encoding="utf-8")
    title = escape(f"Sequence memories compared: {found.settings['title'].lower()}")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}\n</style>\n</head>\n<body>\n<main>\n"
        f"{comparison_html(found, png, timing=timing)}</main>\n</body>\n</html>\n"
    )


def _success(row: Row) -> str:
    """Successes with an interval in percent, or a dash if the network could not take part."""
    if row["parameters"] is None:
        return "–"
    return f"{row['successes']} ({100 * row['low']:.0f}–{100 * row['high']:.0f})"


def _kind(found: Comparison, network: Row, timing: bool) -> list[str]:
    """One line of the second table."""
    value = found.settings["values"][-1]
    row = found.row(network["network"], value)
    cells = [
        network["network"],
        "–" if row["parameters"] is None else f"{row['parameters']:,}",
        *(_yes_no(network[key]) for key in ("stores_patterns", "online", "local")),
        _epochs(row, network),
        "–" if row["one_step_error"] is None else f"{100 * row['one_step_error']:.2g} %",
    ]
    if found.several:
        cells.append("–" if row["recalled"] is None else f"{100 * row['recalled']:.0f} %")
    if timing:
        times = next(t for t in found.seconds if t["network"] == network["network"] and t["value"] == value)
        cells += ["–" if times[k] is None else f"{times[k]:.2g}" for k in ("learn_seconds", "recall_seconds")]
    return cells


def _epochs(row: Row, network: Row) -> str:
    """Epochs until no error was left, and in how many trials."""
    if row["epochs"] == 0:
        return "nothing learned" if network["stores_patterns"] else "not told"
    if row["epochs"] is None:
        return "–" if row["parameters"] is None else "never"
    some = f" (in {row['without_error']} of {row['trials']})" if row["without_error"] < row["trials"] else ""
    return f"{row['epochs']:g}{some}"


def _yes_no(value: Any) -> str:
    """A trait in a word."""
    return "not stated" if value is None else "yes" if value else "no"
