"""The page of `seqattractor inspect --html`: one file with everything in it, for light and dark
screens.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqattractor.report.figures import picture
from seqattractor.report.page import Section, render
from seqattractor.tasks.inspect import Inspection

_SIZE = (7.0, 3.4)
Draw = Callable[[Axes], object]


def inspection_page(inspection: Inspection, name: str) -> str:
    """Return the page on the model `name` as HTML without references to other files."""
    figures = _figures(inspection)
    sections = [
        Section(
            title.lower().replace(" ", "-"),
            title,
            sentence,
            pictures=[
                picture(partial(_figure, draw), words) for words, draw in figures.get(title, [])
            ],
        )
        for title, sentence in inspection.paragraphs().items()
    ]
    return render("inspect.html", name=name, lead=inspection.heading(), sections=sections)


def _figures(inspection: Inspection) -> dict[str, list[tuple[str, Draw]]]:
    """Return the figures of each section with their alternative texts."""
    figures: dict[str, list[tuple[str, Draw]]] = {}
    certificate, curve, activity = inspection.certificate, inspection.robustness, inspection.hidden
    if certificate is not None:
        words = (
            "Flips that each transition withstands: proven, broken by an attack, and promised by "
            "Theorem 4"
        )
        figures["Guarantee"] = [(words, certificate.plot)]
    if curve is not None:
        words = (
            "How often the next pattern is exact after random flips, with the certified number "
            "shaded"
        )
        figures["Measured robustness"] = [(words, partial(curve.plot, certificate=certificate))]
    figures["Attractors"] = [
        (f"How many {kind} starts came to each attractor", a.plot)
        for kind, a in (
            ("random", inspection.from_random),
            ("corrupted stored", inspection.from_stored),
        )
        if a is not None
    ]
    if activity is not None:
        figures["Hidden neurons"] = [("Overlap of hidden codes", activity.plot)]
    return figures


def _figure(draw: Draw) -> Figure:
    """Return one of the figures."""
    figure = Figure(figsize=_SIZE)
    draw(figure.add_subplot())
    return figure
