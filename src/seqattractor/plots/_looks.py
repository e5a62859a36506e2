"""How each network looks in every figure: a colour, marker and line for each short name, and others for the user's networks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib as mpl

from seqattractor.plots._house import BLUE, GREEN, GREY, ORANGE, RED

# Beside the five of the house; told apart by people who see no red or no green, and on light and dark ground.
_PURPLE, _TEAL, _PINK, _BROWN = "#8a6fc0", "#5fb0b0", "#cc79a7", "#a08030"


class Look(NamedTuple):
    """How the curve of a network is drawn. In grey, marker and line tell it from those of a similar colour."""

    color: str
    """The user's networks have the colour of the text."""
    marker: str
    line: str = "-"
    filled: bool = True


LOOKS: dict[str, Look] = {
    "attractor": Look(BLUE, "o"),
    "attractor-V": Look(BLUE, "o", "--", filled=False),
    "attractor-hebbian": Look(BLUE, "v", ":", filled=False),
    "attractor-bias": Look(BLUE, "s", "-."),
    "attractor-learned-targets": Look(BLUE, "D", ":"),
    "sparse": Look(RED, "D"),
    "hebbian": Look(GREEN, "s"),
    "slow-synapses": Look(GREEN, "s", "--", filled=False),
    "pseudo-inverse": Look(GREEN, "^", "-."),
    "perceptron": Look(_PURPLE, "v"),
    "perceptron-bias": Look(_PURPLE, "v", "--", filled=False),
    "leaky-perceptron": Look(_PURPLE, "<", ":"),
    "predictive": Look(_TEAL, "P"),
    "predictive-2": Look(_TEAL, "P", "--", filled=False),
    "brea": Look(_TEAL, "X"),
    "fiete": Look(_TEAL, ">", ":"),
    "dense": Look(ORANGE, "^", "--"),
    "dense-3": Look(ORANGE, ">", "-."),
    "dense-auto": Look(ORANGE, "s", ":", filled=False),
    "dense-exponential": Look(ORANGE, "D", "--", filled=False),
    "dense-pseudo-inverse": Look(ORANGE, "v", ":"),
    "modern-hopfield": Look(ORANGE, "p", "-."),
    "mixed": Look(ORANGE, "X", ":", filled=False),
    "gillett": Look(_PINK, "o", "-."),
    "gillett-sparse": Look(_PINK, "o", ":", filled=False),
    "gsemm-dense": Look(_PINK, "s", "-."),
    "gsemm-linear": Look(_PINK, "s", ":", filled=False),
    "eden": Look(_PINK, "D", "-."),
    "scaffold": Look(_BROWN, "h"),
    "bcpnn": Look(_BROWN, "^", "--"),
    "innate": Look(_BROWN, "v", ":"),
    "pinning": Look(_BROWN, "P", "-."),
    "one-hot": Look(GREY, "d"),
    "sdm": Look(GREY, "s", "--"),
    "clone-hmm": Look(GREY, "P", "-."),
    "rnn": Look(GREY, "X", "--", filled=False),
    "lookup": Look(GREY, "p", ":", filled=False),
}
"""By the short name of the registry."""

_OF_USERS = [(marker, line, filled) for line in ("-", "--", "-.", ":") for filled in (True, False) for marker in "oDs^vPXph<>"]


def looks_of(names: Sequence[str]) -> dict[str, Look]:
    """Give the looks of networks, those of the user's by their names: the same in every figure, unless two would look alike.

    Examples
    --------
    >>> looks_of(["mine", "attractor"])["attractor"]
    Look(color='#3a8fc7', marker='o', line='-', filled=True)
    >>> looks_of(["mine", "attractor"])["mine"] == looks_of(["mine"])["mine"]
    True
    """
    color = str(mpl.rcParams["text.color"])
    found: dict[str, Look] = {}
    for name in names:
        if name in LOOKS:
            found[name] = LOOKS[name]
            continue
        first = hashlib.sha256(name.encode()).digest()[0] % len(_OF_USERS)
        ways = (Look(color, *each) for each in _OF_USERS[first:] + _OF_USERS[:first])
        found[name] = next((look for look in ways if look not in found.values()), Look(color, *_OF_USERS[first]))
    return found


def as_line(look: Look) -> dict[str, Any]:
    """Give a look as the options of matplotlib's lines."""
    ground, point = mpl.rcParams["axes.facecolor"], mpl.rcParams["font.size"] / 10
    # Markers on top of each other are told apart by their edges.
    inside, edge, width = (look.color, ground, 0.5) if look.filled else (ground, look.color, 1.0)
    marker = {"markerfacecolor": inside, "markeredgecolor": edge, "markeredgewidth": width * point}
    return {"color": look.color, "marker": look.marker, "linestyle": look.line, **marker}
