"""The page of `seqattractor inspect --html`: one file with everything in it, for light and dark screens."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from html import escape
from importlib import resources

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqattractor import __version__, plots
from seqattractor.cli.inspect import heading, sections
from seqattractor.noise import flip
from seqattractor.report.paper_page import figure_html
from seqattractor.tasks.inspection import Inspection

__all__ = ["inspection_page"]

_SIZE = (7.0, 3.4)
_DPI = 120
Draw = Callable[[Axes], object]


def inspection_page(found: Inspection, name: str) -> str:
    """Write the whole page.

    Parameters
    ----------
    found : Inspection
    name : str
        Of the model.

    Returns
    -------
    str
        HTML without references to other files.
    """
    style = (resources.files("seqattractor.report") / "report.css").read_text(encoding="utf-8")
    figures = _figures(found)
    body = []
    for title, sentence in sections(found):
        pictures = "\n".join(_picture(draw, words) for words, draw in figures.get(title, []))
        body.append(f"<section>\n<h2>{escape(title)}</h2>\n<p>{escape(sentence)}</p>\n{pictures}\n</section>")
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(name)}: what it stores and guarantees</title>\n<style>\n{style}\n</style>\n</head>\n<body>",
            f'<header>\n<h1>{escape(name)}</h1>\n<p class="lead">{escape(heading(found))}</p>\n</header>\n<main>',
            *body,
            f"</main>\n<footer>\n<p>Made by seqattractor {escape(__version__)}.</p>\n</footer>\n</body>\n</html>\n",
        ]
    )


def _figures(found: Inspection) -> dict[str, list[tuple[str, Draw]]]:
    """The figures of each section, with the words that stand for them where they cannot be seen."""
    figures: dict[str, list[tuple[str, Draw]]] = {}
    certificate, curve, activity = found.certificate, found.robustness, found.hidden
    if certificate is not None:
        words = "Flips that each transition withstands: proven, broken by an attack, and promised by Theorem 4"
        figures["Guarantee"] = [(words, certificate.plot)]
    if curve is not None:
        words = "How often the next pattern is exact after random flips, with the certified number shaded"
        figures["Measured robustness"] = [(words, partial(curve.plot, certificate=certificate))]
    figures["Attractors"] = [
        (f"How many {kind} starts came to each attractor", a.plot)
        for kind, a in (("random", found.from_random), ("corrupted stored", found.from_stored))
        if a is not None
    ]
    if found.sequences and sum(len(x) for x in found.sequences) > 2:
        figures["Attractors"].append(("Stored sequences and recalls from corrupted cues in state space", _state_space(found)))
    if activity is not None:
        figures["Hidden neurons"] = [("How often hidden neurons are active", activity.plot)]
        if len(activity.active) <= 400:
            figures["Hidden neurons"].append(("Overlap of hidden codes", lambda ax: plots.code_overlap(activity, ax=ax)))
    return figures


def _state_space(found: Inspection) -> Draw:
    """Recalls from a few corrupted cues in the plane of the stored patterns."""
    net, shown = found.net, found.sequences[:6]
    rng = np.random.default_rng(0)
    paths = []
    for k in range(3):
        sequence = shown[k % len(shown)]
        start = (len(sequence) - net.order_) * k // 4
        cue = flip(sequence[start : start + net.order_], min(found.flips, net.n_features_in_), rng)
        paths.append(net.recall(cue[0] if net.order_ == 1 else cue, steps=min(2 * len(sequence), 200)))
    return lambda ax: plots.state_space(shown, paths, ax=ax)


def _picture(draw: Draw, words: str) -> str:
    """A figure inside the page, drawn for light and for dark screens."""
    return figure_html(_png(draw, dark=False), _png(draw, dark=True), words, _DPI)


def _png(draw: Draw, *, dark: bool) -> bytes:
    """One figure as a PNG."""
    with plots.style(dark=dark):
        figure = Figure(figsize=_SIZE)
        draw(figure.add_subplot())
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DPI, metadata={"Software": None})
    return buffer.getvalue()
