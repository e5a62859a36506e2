"""The page of `seqattractor replay -o report.html`, and its table as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.report.figures import COLUMN, picture
from seqattractor.report.page import Section, Table, render
from seqattractor.tasks.replay import ReplayAnalysis

_WIDTH = COLUMN / 25.4  # inches
_EVENTS = 6  # that are drawn
_ROWS = 200  # of the table on the page


def replay_page(analysis: ReplayAnalysis) -> str:
    """Return the report as HTML without references to other files."""
    tested, laps = analysis.events, analysis.laps
    scores = picture(partial(_figure, tested.plot), "Scores of events beside their shuffles")
    histogram = partial(plots.replay_p_values, tested)
    p_values = picture(partial(_figure, histogram), "p values of all events")
    predicted = picture(partial(_figure, laps.plot), "Prediction of laps that were left out")
    shown = _chosen(analysis)
    words = "Events with the smallest p values: active cells, on what the networks recall (shaded)"
    rasters = [picture(partial(event_figure, tested, shown), words)] if len(shown) else []
    sections = [
        Section("laps", "Is there a sequence in the laps?", laps.describe(), pictures=[predicted]),
        Section(
            "events",
            "Do events replay it?",
            tested.describe(),
            pictures=[scores, p_values, *rasters] if tested.tested.any() else [],
        ),
        Section("methods", "Methods", analysis.methods()),
        Section("table", "Events", tables=[_table(analysis)]),
    ]
    name = analysis.recorded.session.name
    return render("replay.html", name=name, lead=_lead(analysis), sections=sections)


def replay_table(analysis: ReplayAnalysis) -> str:
    """Return the events as CSV, every number in full."""
    rows = list(analysis.rows())
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def event_figure(tested: Any, events: Any) -> Figure:
    """Draw some events beside each other, as wide as a page of a journal."""
    columns = min(3, len(events))
    rows = -(-len(events) // columns)
    size = (2.1 * _WIDTH * columns / 3, 2.1 * rows + 0.4)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for ax in axes.flat[len(events) :]:
        ax.set_axis_off()
    for ax, event in zip(axes.flat, events, strict=False):
        plots.replay_event(tested, int(event), ax=ax)
        speed, p = tested.speeds[event], tested.p_values[event]
        ax.set_title(f"event {event}: speed {speed:+d}, p = {p:.2g}", fontsize="small")
    for ax in axes[:, 1:].flat:
        ax.set_ylabel("")
    for ax in axes[:-1].flat:
        ax.set_xlabel("")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


def _chosen(analysis: ReplayAnalysis) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The events to draw: those with the smallest p values, of equal ones the highest scores."""
    tested = analysis.events
    order = np.lexsort((-np.nan_to_num(tested.scores), tested.p_values))
    return order[tested.tested[order]][:_EVENTS]


def _figure(draw: Callable[..., Axes]) -> Figure:
    """A figure of one panel, as wide as a column of a journal."""
    figure, ax = plt.subplots(figsize=(_WIDTH, 0.72 * _WIDTH), layout="constrained")
    draw(ax=ax)
    return figure


def _lead(analysis: ReplayAnalysis) -> str:
    """The answers in two sentences."""
    said = (part.describe().partition(". ")[0] for part in (analysis.laps, analysis.events))
    return " ".join(sentence.removesuffix(".") + "." for sentence in said)


def _table(analysis: ReplayAnalysis) -> Table:
    """The events on the page, in the order of the session."""
    rows = [_words(row) for row in analysis.rows()]
    columns = {
        "event": "{event}",
        "start (s)": "{start:.3f}",
        "end (s)": "{end:.3f}",
        "bins": "{bins}",
        "score": "{score}",
        "p": "{p:.2g}",
        "q": "{q:.2g}",
        "speed": "{speed:+d}",
        "follows": "{follows}",
        "from pattern": "{from_pattern}",
    }
    if len(analysis.learned.names) == 1:
        del columns["follows"]
    shown = f"The first {_ROWS} of {len(rows)} events; -o table.csv has all of them. "
    caption = (shown if len(rows) > _ROWS else "") + (
        "Speed: stored patterns per bin, negative in reverse. From pattern: where in the consensus "
        "the first bin with spikes lies. q: p adjusted for the number of events."
    )
    return Table.of(rows[:_ROWS], columns, caption)


def _words(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as it is shown."""
    tested = row["score"] == row["score"]
    score = f"{row['score']:.2f}" if tested else "not tested"
    place = row["from_pattern"] if tested else "–"
    return {**row, "score": score, "from_pattern": place, "follows": row["follows"] or "–"}
