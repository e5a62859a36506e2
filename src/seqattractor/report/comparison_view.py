"""The tables, the page and the files of a comparison; timing adds the seconds, which differ from
run to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqattractor._files import atomic_write
from seqattractor.report.figures import (
    COLUMN,
    FIGURES,
    comparison_figure,
    drawn,
    paper_figure,
    picture,
)
from seqattractor.report.page import Picture, Section, Table, render, write_files
from seqattractor.study.comparison import Comparison, Row


def comparison_tables(comparison: Comparison, *, timing: bool = False) -> list[Table]:
    """Return a table of successes with intervals, and one of the traits and costs of each
    network.
    """
    values, trials = comparison.settings["values"], comparison.settings["trials"]
    names = [n["network"] for n in comparison.networks]
    successes = [
        [name, *(_success(comparison.row(name, value)) for value in values)] for name in names
    ]
    kinds = [_kind(comparison, network, timing) for network in comparison.networks]
    columns = [
        "network",
        "family",
        "setting",
        "parameters",
        "stores patterns",
        "online",
        "local",
        "dwells",
        "epochs to no error",
    ]
    columns += ["wrong units after a step", "in phase"]
    if comparison.several:
        columns.append("sequences recalled")
    if timing:
        columns += ["s to learn", "s to recall"]
    in_turn = [_in_turn(comparison)] if comparison.in_turn else []
    return [
        Table(
            [comparison.settings["axis"], *map(str, values)],
            successes,
            f"{comparison.settings['title']}: successes of {trials} and 95 % Wilson intervals in "
            "percent.",
        ),
        Table(
            columns,
            kinds,
            f"What each network is, and what it needs at {values[-1]}, the hardest value.",
        ),
        *in_turn,
    ]


def _in_turn(comparison: Comparison) -> Table:
    """Return what is stored after each number of sequences, and what is left of the first."""
    values, names = comparison.settings["values"], comparison.taking_part()
    lines = []
    for name in names:
        rows = [comparison.row(name, value) for value in values]
        first, bits = rows[-1]["first"], rows[-1]["bits_saved"]
        cells = ["–" if row["stored"] is None else f"{row['stored']:.3g}" for row in rows]
        cells += ["–" if first is None else f"{first:.0%}", "–" if bits is None else f"{bits:,}"]
        lines.append([name, *cells])
    columns = [comparison.settings["axis"], *map(str, values), "left of the first", "bits saved"]
    caption = (
        "Sequences with every transition right (mean number); at the end the transitions of the "
        "first one that are right, and the bits saved beside the weights."
    )
    return Table(columns, lines, caption)


def comparison_page(comparison: Comparison, figure: Picture, *, timing: bool = False) -> str:
    """Return a page with the conclusion, the figure and the tables as HTML."""
    title = comparison.settings["title"]
    tables = comparison_tables(comparison, timing=timing)
    section = Section(
        f"compare-{comparison.settings['protocol']}",
        title,
        comparison.describe(),
        pictures=[figure],
        tables=tables,
    )
    return render("compare.html", title=title.lower(), sections=[section])


def write_comparison(comparison: Comparison, folder: Path, *, timing: bool = False) -> list[Path]:
    """Write a comparison as JSON, CSV, PNG and HTML into a folder, each file atomically, and return
    their paths.
    """
    figure = _picture(comparison)
    contents = {
        kind: _content(comparison, kind, timing, figure) for kind in ("json", "csv", "html")
    }
    name = f"compare-{comparison.settings['protocol']}"
    return write_files(folder, name, contents | {"png": figure.light})


def check_ending(path: Path) -> None:
    """Reject a path whose ending is not a format of comparisons."""
    known = (*FIGURES, "csv", "json", "html")
    if path.suffix.lower().removeprefix(".") not in known:
        endings = ", ".join(f".{kind}" for kind in known)
        raise ValueError(
            f"{path} ends in {path.suffix}, but files are written as {endings}; a folder's name "
            "has no ending."
        )


def write_results(
    comparison: Comparison, paths: Sequence[Path], *, timing: bool = False, width: float = COLUMN
) -> list[Path]:
    """Write a comparison into files by their endings, each atomically: a figure for a paper,
    results, or a page.
    """
    for path in paths:
        kind = path.suffix.lower().removeprefix(".")
        if kind in FIGURES:
            [content] = drawn(lambda: paper_figure(comparison, width=width), kind, paper=True)
        else:
            content = _content(comparison, kind, timing)
        with atomic_write(path) as file:
            file.write(content)
    return list(paths)


def _content(
    comparison: Comparison, kind: str, timing: bool, figure: Picture | None = None
) -> bytes:
    """Return a comparison as CSV, JSON or a page with the figure."""
    if kind == "csv":
        return comparison.to_csv(timing=timing).encode()
    if kind == "json":
        return comparison.to_json(timing=timing).encode()
    return comparison_page(comparison, figure or _picture(comparison), timing=timing).encode()


def _picture(comparison: Comparison) -> Picture:
    """Return the figure of a page."""
    words = (
        f"{comparison.settings['title']}: success of all networks against the "
        f"{comparison.settings['axis']}"
    )
    return picture(lambda: comparison_figure(comparison), words)


def _success(row: Row) -> str:
    """Format successes with an interval in percent, or a dash if the network could not take
    part.
    """
    if row["parameters"] is None:
        return "–"
    if row["low"] == row["high"]:  # every trial would be the same
        return "always" if row["successes"] else "never"
    return f"{row['successes']} ({100 * row['low']:.0f}–{100 * row['high']:.0f})"


def _kind(comparison: Comparison, network: Row, timing: bool) -> list[str]:
    """Return one line of the second table."""
    value = comparison.settings["values"][-1]
    row = comparison.row(network["network"], value)
    cells = [
        network["network"],
        network["family"],
        network["setting"],
        "–" if row["parameters"] is None else f"{row['parameters']:,}",
        *(_yes_no(network[key]) for key in ("stores_patterns", "online", "local", "dwells")),
        _epochs(row, network),
        "–" if row["one_step_error"] is None else f"{100 * row['one_step_error']:.2g} %",
        "–"
        if row["in_phase"] is None or row["parameters"] is None
        else f"{row['in_phase']} of {row['trials']}",
    ]
    if comparison.several:
        cells.append("–" if row["recalled"] is None else f"{100 * row['recalled']:.0f} %")
    if timing:
        times = next(
            t
            for t in comparison.seconds
            if t["network"] == network["network"] and t["value"] == value
        )
        cells += [
            "–" if times[k] is None else f"{times[k]:.2g}"
            for k in ("learn_seconds", "recall_seconds")
        ]
    return cells


def _epochs(row: Row, network: Row) -> str:
    """Format the epochs until no error was left, and in how many trials."""
    if row["epochs"] == 0:
        return "nothing learned" if network["stores_patterns"] else "not recorded"
    if row["epochs"] is None:
        return "–" if row["parameters"] is None else "never"
    some = (
        f" (in {row['without_error']} of {row['trials']})"
        if row["without_error"] < row["trials"]
        else ""
    )
    return f"{row['epochs']:g}{some}"


def _yes_no(value: Any) -> str:
    """Format a trait."""
    return "not stated" if value is None else "yes" if value else "no"
