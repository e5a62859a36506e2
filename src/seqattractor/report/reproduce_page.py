"""The page of `seqattractor reproduce`: every table and figure beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from seqattractor.report.machine import machine_words, software_words
from seqattractor.report.page import duration, render
from seqattractor.report.view import Section


def reproduce_page(
    sections: Sequence[Section],
    *,
    command: str,
    facts: Mapping[str, str],
    seconds: float,
    missing: Sequence[str] = (),
    quick: bool = False,
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

    Returns
    -------
    str
    """
    agreements = [section.verdict.agrees for section in sections if section.verdict is not None]
    comparable = sum(agrees is not None for agrees in agreements)
    lead = f"{sum(agrees is True for agrees in agreements)} of {comparable} targets that can be compared agree with the paper."
    if missing:
        lead += f" Not finished: {', '.join(missing)}; the same command continues."
    if quick:
        lead += " This was a quick run with few trials."
    added = {
        "Machine": machine_words(),
        "Time": f"{duration(seconds)}, finished {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "Software": software_words(),
    }
    return render("reproduce.html", sections=sections, lead=lead, command=command, facts={**facts, **added})
