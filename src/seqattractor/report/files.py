"""The files of a result: JSON, CSV, PNG and PDF beside the page that shows it, each whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqattractor._files import atomic_write
from seqattractor.experiments._table import as_csv
from seqattractor.report.figures import as_picture, drawn
from seqattractor.report.view import Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_section(
    folder: Path, section: Section, *, data: dict[str, Any], rows: list[dict[str, Any]], draw: Callable[[], Figure]
) -> Section:
    """Write FOLDER/<name>.json, .csv, .png and .pdf.

    Parameters
    ----------
    folder : Path
        It exists.
    section : Section
        Without picture and files.
    data : dict
        Plain values for the JSON file.
    rows : list of dict
        For the CSV file, all with the same keys.
    draw : callable
        Makes the figure.

    Returns
    -------
    Section
        The same with its picture and the names of its files.
    """
    light, pdf = drawn(draw, "png", "pdf")
    [dark] = drawn(draw, "png", dark=True)
    contents = {"json": (json.dumps(data, indent=1) + "\n").encode(), "csv": as_csv(rows), "png": light, "pdf": pdf}
    files = []
    for kind, content in contents.items():
        files.append(f"{section.name}.{kind}")
        with atomic_write(folder / files[-1]) as file:
            file.write(content)
    return replace(section, pictures=[as_picture(light, dark, f"{section.title}: {section.about}")], files=files)
