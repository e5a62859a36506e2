"""What `seqattractor reproduce` writes: the files of every table and figure, and the page that shows them beside the paper's."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from seqattractor.report.figures import as_picture, drawn
from seqattractor.report.machine import machine_words, software_words
from seqattractor.report.page import Section, duration, render, write_files
from seqattractor.study.table import as_csv


def reproduce_page(
    sections: Sequence[Section],
    *,
    command: str,
    facts: Mapping[str, str],
    seconds: float,
    missing: Sequence[str] = (),
    quick: bool = False,
    neighbours: Collection[str] = (),
) -> str:
    """Give the whole page.

    Parameters
    ----------
    sections : sequence of Section
        In the order of the page, each with a verdict.
    command : str
        The command line that gives this report again.
    facts : mapping
        Terms and what they were, such as settings and seed; machine, time and software are added.
    seconds : float
        How long the command took.
    missing : sequence of str
        Names of targets that were asked for and not finished.
    quick : bool
        Whether there were only few trials.
    neighbours : collection of str
        Names of sections that are experiments of other systems, not the paper's.

    Returns
    -------
    str
    """
    ours = [section for section in sections if section.name not in neighbours]
    others = [section for section in sections if section.name in neighbours]
    lead = " ".join(
        f"{_agreement(some)} {what}."
        for some, what in (
            (ours, "targets that can be compared agree with the paper"),
            (others, "experiments of other systems pass their consistency checks"),
        )
        if some
    )
    if missing:
        lead += f" Not finished: {', '.join(missing)}; the same command continues."
    if quick:
        lead += " This was a quick run with few trials."
    added = {
        "Machine": machine_words(),
        "Time": f"{duration(seconds)}, finished {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "Software": software_words(),
    }
    names = {"others_only": not ours, "only": sections[0].title if len(sections) == 1 else None}
    return render("reproduce.html", sections=sections, lead=lead, command=command, facts={**facts, **added}, **names)


def _agreement(sections: Sequence[Section]) -> str:
    """How many of some sections agree, of how many that can be compared."""
    agreements = [section.verdict.agrees for section in sections if section.verdict is not None]
    return f"{sum(agrees is True for agrees in agreements)} of {sum(agrees is not None for agrees in agreements)}"


def write_section(
    folder: Path,
    section: Section,
    *,
    data: dict[str, Any],
    rows: list[dict[str, Any]],
    draw: Callable[[], Figure],
    more: Mapping[str, tuple[str, Callable[[], Figure]]] | None = None,
) -> Section:
    """Write FOLDER/<name>.json, .csv, .png and .pdf, and FOLDER/<name>-<word>.png and .pdf for further figures.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    section : Section
        Without picture and files.
    data : dict
        Plain values for the JSON file.
    rows : list of dict
        For the CSV file, all with the same keys.
    draw : callable
        Makes the figure.
    more : mapping, optional
        Further figures: by a word for the name of the file, what each shows and what makes it.

    Returns
    -------
    Section
        The same with its pictures and the names of its files.
    """
    light, pdf = drawn(draw, "png", "pdf")
    [dark] = drawn(draw, "png", dark=True)
    contents = {"json": (json.dumps(data, indent=1) + "\n").encode(), "csv": as_csv(rows), "png": light, "pdf": pdf}
    files = [path.name for path in write_files(folder, section.name, contents)]
    # Words of several pictures stand above them on the page, where the text of the section would come twice.
    pictures = [as_picture(light, dark, f"{section.title}." if more else f"{section.title}: {section.about}")]
    for word, (shows, draw_it) in (more or {}).items():
        light, pdf = drawn(draw_it, "png", "pdf")
        [dark] = drawn(draw_it, "png", dark=True)
        files += [path.name for path in write_files(folder, f"{section.name}-{word}", {"png": light, "pdf": pdf})]
        pictures.append(as_picture(light, dark, shows))
    return replace(section, pictures=pictures, files=files)
