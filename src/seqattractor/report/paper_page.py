"""The report: one HTML page that needs nothing else, with every table and figure beside the paper's."""

from __future__ import annotations

import base64
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib import resources
from pathlib import Path
from string import Template

from seqattractor import __version__
from seqattractor.paper.settings import LEARNING, Request
from seqattractor.paper.target import Animation, Result, Table, Target, Verdict
from seqattractor.report.files import DPI, dark_png

__all__ = ["Finished", "embedded", "figure_html", "report_html", "table_html"]


@dataclass(frozen=True)
class Finished:
    """A target with its result, its figure and the time that it took."""

    target: Target
    result: Result
    png: bytes
    """Its figure on a light page."""
    seconds: float


def report_html(finished: Sequence[Finished], request: Request, *, command: str, missing: Sequence[str] = ()) -> str:
    """The whole page.

    Parameters
    ----------
    finished : sequence of Finished
        In the order of the page.
    request : Request
    command : str
        The command line that gives this report again.
    missing : sequence of str
        Names of targets that were asked for and not finished.
    """
    verdicts = [one.target.verdict(one.result) for one in finished]
    agreeing = sum(verdict.agrees is True for verdict in verdicts)
    comparable = sum(verdict.agrees is not None for verdict in verdicts)
    lead = f"{agreeing} of {comparable} targets that can be compared agree with the paper."
    if missing:
        lead += f" Not finished: {', '.join(missing)}; the same command continues."
    if request.quick:
        lead += " This was a quick run with few trials."
    folder = resources.files("seqattractor.report")
    return Template((folder / "report.html").read_text(encoding="utf-8")).substitute(
        style=(folder / "report.css").read_text(encoding="utf-8"),
        lead=escape(lead),
        summary="\n".join(_summary_row(one, verdict) for one, verdict in zip(finished, verdicts, strict=True)),
        sections="\n".join(_section(one, verdict) for one, verdict in zip(finished, verdicts, strict=True)),
        facts=_facts(request, sum(one.seconds for one in finished), command),
    )


def _badge(verdict: Verdict) -> str:
    """Agreement as a word in a coloured frame (the word alone says it too)."""
    kind, word = {True: ("yes", "agrees"), False: ("no", "differs"), None: ("open", "not compared")}[verdict.agrees]
    return f'<span class="badge {kind}">{word}</span>'


def _summary_row(one: Finished, verdict: Verdict) -> str:
    """One line of the overview."""
    name, title = escape(one.target.name), escape(one.target.title)
    return f'<tr><th scope="row"><a href="#{name}">{title}</a></th><td>{_badge(verdict)}</td><td>{_time(one.seconds)}</td></tr>'


def _section(one: Finished, verdict: Verdict) -> str:
    """Everything about one target."""
    target, result = one.target, one.result
    parts = [
        f'<section id="{escape(target.name)}">',
        f"<h2>{escape(target.title)}</h2>",
        f"<p>{escape(target.about)}</p>",
        f'<p class="verdict">{_badge(verdict)} {escape(verdict.sentence)}</p>',
        figure_html(one.png, dark_png(target, result), f"{target.title}: {target.about}", DPI),
        *(table_html(table) for table in target.tables(result)),
        *(_animation(animation) for animation in target.animations(result)),
        f'<p class="files">Files: {", ".join(f"{escape(target.name)}.{kind}" for kind in ("json", "csv", "png", "pdf"))}</p>',
        "</section>",
    ]
    return "\n".join(parts)


def embedded(content: bytes, kind: str) -> str:
    """A file inside the page."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def figure_html(light: bytes, dark: bytes, words: str, dpi: float) -> str:
    """A figure drawn for light and for dark pages, as PNGs; CSS shows one of them, on paper always the light one."""
    # The size stands in the PNG; an inch of the figure is 100 pixels of the page.
    width, height = (int(int.from_bytes(light[start : start + 4]) * 100 / dpi) for start in (16, 20))
    box = "wide scrolls" if width > 700 else "wide"  # small figures shrink with the page, large ones would be illegible
    box += " tall" if height > width else ""  # on paper a page of its own
    images = (
        f'<img class="figure on-{ground}" style="width: {width}px" src="{embedded(png, "png")}" alt="{escape(words)}">'
        for ground, png in (("light", light), ("dark", dark))
    )
    return f'<div class="{box}" tabindex="0">{"".join(images)}</div>'


def table_html(table: Table) -> str:
    """A table that scrolls sideways where the page is narrow."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    body = "\n".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>'
        for row in table.rows
    )
    dense = ' class="dense"' if len(table.columns) > 10 else ""
    caption = f'<p class="caption">{escape(table.caption)}</p>\n' if table.caption else ""
    inside = f"<table{dense}><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    return f'{caption}<div class="wide" tabindex="0">{inside}</div>'


def _animation(animation: Animation) -> str:
    """A moving picture with its caption."""
    source = embedded(animation.gif, "gif")
    caption = escape(animation.caption)
    return (
        f'<figure class="moving"><img src="{source}" alt="{caption}" width="{animation.width}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _facts(request: Request, seconds: float, command: str) -> str:
    """Settings, seed, machine and time as a list of terms."""
    learning = ", ".join(f"{name} = {value}" for name, value in LEARNING.items())
    facts = {
        "Command": f"<code>{escape(command)}</code>",
        "Settings": escape(f"{learning} (standard deviation of the initial weights: init_scale)"),
        "Trials": str(request.trials),
        "Seed": str(request.seed),
        "Gait": escape(str(request.gait_dir) if request.gait_dir else "the drawn walker of this package"),
        "Digits": escape(str(request.mnist_file) if request.mnist_file else "scikit-learn's digits, moved by this package"),
        "Machine": escape(_machine()),
        "Time": escape(f"{_time(seconds)}, finished {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        "Software": escape(_software()),
    }
    return "\n".join(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in facts.items())


def _machine() -> str:
    """The processor, how many of its cores we may use, and the system."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def _software() -> str:
    """Versions of what computed this."""
    from importlib.metadata import version

    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba", "scikit-learn"))
    return f"seqattractor {__version__}, Python {platform.python_version()}, {packages}"


def _time(seconds: float) -> str:
    """A duration for people."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"
