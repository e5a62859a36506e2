"""Write what a target found: JSON, CSV, PNG and PDF, each file whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

from seqattractor.paper.target import Result, Target

__all__ = ["DPI", "figure_png", "write_files", "write_whole"]


DPI = 160


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is never seen half-written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_files(target: Target, result: Result, folder: Path) -> list[Path]:
    """Write DIR/<target>.json, .csv, .png and .pdf; the JSON depends on the request alone."""
    contents = {
        "json": (json.dumps(result.data, indent=1) + "\n").encode(),
        "csv": _csv(target.csv_rows(result)),
        "png": figure_png(target, result),
        "pdf": _figure(target, result, "pdf", metadata={"CreationDate": None}),
    }
    paths = []
    for kind, content in contents.items():
        paths.append(folder / f"{target.name}.{kind}")
        write_whole(paths[-1], content)
    return paths


def figure_png(target: Target, result: Result, *, dark: bool = False, dpi: int = DPI) -> bytes:
    """The figure as a PNG on a light or a dark page."""
    return _figure(target, result, "png", dark=dark, dpi=dpi, metadata={"Software": None})


def _figure(target: Target, result: Result, kind: str, *, dark: bool = False, **options: Any) -> bytes:
    """Draw the figure and save it in memory."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    from seqattractor import plots

    mpl.use("Agg")
    with plots.style(dark=dark):
        figure = target.figure(result)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, bbox_inches="tight", **options)
        plt.close(figure)
    return buffer.getvalue()


def _csv(rows: list[dict[str, object]]) -> bytes:
    """Rows as CSV with a heading."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
