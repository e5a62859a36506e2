"""Write what a target found: JSON, CSV, PNG and PDF, each file whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

from seqattractor.paper.target import Result, Target

__all__ = ["DPI", "dark_png", "write_files", "write_whole"]


DPI = 160


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is never seen half-written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_files(target: Target, result: Result, folder: Path) -> bytes:
    """Write DIR/<target>.json, .csv, .png and .pdf and return the PNG; the JSON depends on the request alone."""
    png, pdf = _drawn(target, result, "png", "pdf")
    contents = {
        "json": (json.dumps(result.data, indent=1) + "\n").encode(),
        "csv": _csv(target.csv_rows(result)),
        "png": png,
        "pdf": pdf,
    }
    for kind, content in contents.items():
        write_whole(folder / f"{target.name}.{kind}", content)
    return png


def dark_png(target: Target, result: Result) -> bytes:
    """The figure as a PNG for a dark page."""
    [png] = _drawn(target, result, "png", dark=True)
    return png


def _drawn(target: Target, result: Result, *kinds: str, dark: bool = False) -> list[bytes]:
    """Draw the figure once and save it in memory, in several formats and without a date."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from seqattractor import plots

    undated: dict[str, Any] = {"png": {"Software": None}, "pdf": {"CreationDate": None}}
    saved = []
    with plots.style(dark=dark):
        figure = target.figure(result)
        for kind in kinds:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=DPI, bbox_inches="tight", metadata=undated[kind])
            saved.append(buffer.getvalue())
        plt.close(figure)
    return saved


def _csv(rows: list[dict[str, object]]) -> bytes:
    """Rows as CSV with a heading."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
