"""Pictures as characters of a terminal, two pixels in each, one above the other, so that pixels are
square.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from seqattractor.io._compose import EXTRA, MISSING, RGB, mark
from seqattractor.sequences import Patterns

if TYPE_CHECKING:
    from rich.text import Text

UPPER = "▀"


def coloured(
    states: Patterns, truth: Patterns | None, frame_shape: tuple[int, int], shrink: int
) -> list[Text]:
    """Draw a frame in the colours of a recall's GIF, a line for each two rows of pixels, with wrong
    units marked.

    `frame_shape` is (rows, columns), multiples of `shrink`: so many rows and columns become one,
    and their colours are mixed.
    """
    from rich.style import Style
    from rich.text import Text

    colours = RGB[mark(states, truth)].reshape(*frame_shape, 3)
    blocks = colours.reshape(frame_shape[0] // shrink, shrink, frame_shape[1] // shrink, shrink, 3)
    pixels = blocks.mean(axis=(1, 3)).round().astype(int)
    names = [[f"#{r:02x}{g:02x}{b:02x}" for r, g, b in row] for row in pixels]
    lines = []
    for upper, lower in zip(names[::2], names[1::2], strict=True):
        line = Text(end="")
        for (above, below), alike in groupby(zip(upper, lower, strict=True)):
            line.append(UPPER * len(list(alike)), Style(color=above, bgcolor=below))
        lines.append(line)
    return lines


def legend() -> Text:
    """Return the legend of wrong units."""
    from rich.text import Text

    wrongly_on, wrongly_off = (f"rgb({','.join(map(str, RGB[k]))})" for k in (EXTRA, MISSING))
    return Text.assemble(("■", wrongly_on), " wrongly on  ", ("■", wrongly_off), " wrongly off")
