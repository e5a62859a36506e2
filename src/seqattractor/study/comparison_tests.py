"""The tests on which networks are compared, in words: what varies, and what stays the same.

What a test draws stands in `seqattractor.study.comparison_trial.TASKS`, so that changing a word here repeats no trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from seqattractor._checks import check_count
from seqattractor._suggest import no_such
from seqattractor.study.settings import OWN_AXIS, as_flips

_LOOP = "the whole loop is seen in order and in any phase (section 6.2), within four times its length"
_OPEN = "recall locks on at its first step: every frame after the cue is right and in phase"
_SYMBOLS = {"n": "N", "m": "M", "t": "T", "flips": "flips"}
_AXES = {
    "n": ("Visible neurons", "visible neurons N"),
    "m": ("Hidden neurons", "hidden neurons M"),
    "t": ("Length of a random sequence", "period length T"),
    "flips": ("Corrupted cues", "flipped units of the cue"),
}
"""Title and words of an axis that is not the test's own."""
_EASIER = ("n", "m")  # of which more is easier
_ONLY_CUES = ("flips", "noise")
_SHARES = (0, 5, 10, 15, 20, 25, 30, 35, 40)  # flipped units of the user's patterns, in percent


@dataclass(frozen=True)
class ComparisonTest:
    """A test along one axis: what it is called, and which values and numbers it takes."""

    name: str
    title: str
    axis: str
    """What differs, in words."""
    values: tuple[Any, ...]
    """Along the axis, easy ones first."""
    template: str
    """What stays the same, in words, with {T}, {N} and {flips} where these stand."""
    criterion: str = _LOOP
    """When a sequence counts as recalled."""
    n_hidden: int = 500
    trials: int = 20
    """By default."""
    several: bool = False
    """Whether trials have several sequences, so that a part of them can be recalled."""
    sizes: Mapping[str, Any] = field(default_factory=dict)
    """Which of n, t and flips can be chosen, and what they are while they do not vary."""
    n_units: int = 0
    """N, where it cannot be chosen."""
    varies: str = ""
    """The setting along the axis; by default the test's own."""
    m_asked: bool = False
    """Whether the user asked for a number of hidden neurons: then all networks that have some get it, tuned or not."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "varies", self.varies or OWN_AXIS[self.name])

    @property
    def learns_once(self) -> bool:
        """Whether only cues and noise differ along the axis, so that a network learns once for all values of a trial."""
        return self.varies in _ONLY_CUES

    @property
    def setting(self) -> str:
        """What stays the same, in words."""
        fixed = {name: value for name, value in self.sizes.items() if name != self.varies}
        flips, n = fixed.get("flips"), fixed.get("n")
        flipped = f"{flips or 'none'} of them"
        return self.template.format(
            T=f"T = {fixed['t']} patterns of " if "t" in fixed else "",
            N="units" if n is None else f"N = {n} units",
            flips="" if flips is None else f", {flipped} flipped in {'each' if self.name == 'multi' else 'the'} cue",
        )

    def parse(self, text: str) -> Any:
        """Read a value of the test's own axis from the command line."""
        example = TESTS[self.name].values[0] if self.name in TESTS else 0
        try:
            if isinstance(example, str):
                number, _, length = text.lower().partition("x")
                return f"{int(number)}x{int(length)}"
            return text if text.endswith("%") and self.varies == "flips" else type(example)(text)
        except ValueError:
            raise ValueError(f"a value of the protocol {self.name!r} looks like {example}, but this is {text!r}.") from None

    def ask(self, *, n: Any = None, m: Any = None, t: Any = None, flips: Any = None, values: Any = None) -> ComparisonTest:
        """Give the test with sizes of the user's: numbers or lists, of which one varies along the axis.

        Examples
        --------
        >>> test = get_test("noise").ask(n=50, t=20, flips=["0%", "10%"])
        >>> test.axis, test.values, test.setting
        ('flipped units of the cue', (0, 5), 'one random periodic sequence of T = 20 patterns of N = 50 units')
        """
        own = OWN_AXIS[self.name]
        given = {
            name: _several(value, name) for name, value in (("n", n), ("m", m), ("t", t), ("flips", flips)) if value is not None
        }
        for name in given.keys() - self.sizes.keys() - {"m"}:
            raise ValueError(f"{_SYMBOLS[name]} cannot be chosen here: {self.why_not(name)}.")
        if values is not None:
            if own in given:
                raise ValueError(f"values are those of the {self.axis} here; give them as values or as {own}, not as both.")
            given[own] = _several(values, "values")
        varying = [name for name, each in given.items() if len(each) > 1]
        if len(varying) > 1:
            told = " and ".join(_SYMBOLS.get(name, "values") for name in varying)
            raise ValueError(f"one setting varies along the axis, but {told} are lists; give one value to all but one of them.")
        axis = varying[0] if varying else own
        sizes = dict(self.sizes) | {name: each[0] for name, each in given.items() if name != "m" and name != axis and each}
        if axis != own and own not in sizes:
            raise ValueError(f"where {_SYMBOLS[axis]} varies, the {self.axis} must be one value; give it as values.")
        along = given.get(axis, list(self.values))
        if axis != "n" and "flips" in sizes:  # with an N that varies, a percentage stays one
            sizes["flips"] = as_flips(sizes["flips"], sizes.get("n", self.n_units))
        if axis == "flips":
            along = [as_flips(value, sizes.get("n", self.n_units)) for value in along]
        title, words = (self.title, self.axis) if axis == own else _AXES[axis]
        if axis != own and self.name not in ("random", "noise"):
            title = f"{self.title}, {words}"
        hidden = given["m"][0] if len(given.get("m", ())) == 1 else self.n_hidden
        ordered = tuple(dict.fromkeys(_easy_first(axis, along)))
        asked = self.m_asked or "m" in given
        return replace(self, title=title, axis=words, values=ordered, sizes=sizes, varies=axis, n_hidden=hidden, m_asked=asked)

    def why_not(self, name: str) -> str:
        """Say why a size cannot be chosen."""
        if self.name == "data":
            return "it is that of your data"
        return "it stands in the values" if (self.name, name) == ("multi", "t") else f"the protocol {self.name} has its own"


def _several(value: Any, name: str) -> list[Any]:
    """One value or several, as a list of plain ones."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        value = [value]
    plain = [each.item() if isinstance(each, np.generic) else each for each in value]
    if name == "values":
        return plain
    if not plain:
        raise ValueError(f"{name} is an empty list; give at least one number.")
    least = 0 if name == "flips" else 1
    return [each if name == "flips" and isinstance(each, str) else check_count(each, name, least) for each in plain]


def _easy_first(axis: str, values: Sequence[Any]) -> Sequence[Any]:
    """Put values in order of difficulty; those that are not numbers stay in the user's order."""
    if any(isinstance(value, str) or not isinstance(value, (int, float)) for value in values):
        return values
    return sorted(values, reverse=axis in _EASIER)


_SIZES = {"n": 100, "t": 40, "flips": 10}
TESTS: dict[str, ComparisonTest] = {
    test.name: test
    for test in (
        ComparisonTest(
            "random",
            "Length of a random sequence",
            "period length T",
            (10, 20, 30, 40, 50, 60, 70, 80, 100, 150, 200, 300),
            "one random periodic sequence of {T}{N}{flips} (section 6.2 of the paper)",
            sizes=_SIZES,
        ),
        ComparisonTest(
            "noise",
            "Corrupted cues",
            "flipped units of the cue",
            (0, 5, 10, 15, 20, 25, 30, 35, 40),
            "one random periodic sequence of {T}{N}{flips}",
            sizes=_SIZES,
        ),
        ComparisonTest(
            "recall-noise",
            "Noise during recall",
            "flipped units before every step",
            (0, 1, 2, 4, 6, 8, 10, 15, 20),
            "one random periodic sequence of {T}{N}{flips}",
            sizes=_SIZES,
        ),
        ComparisonTest(
            "correlated",
            "Correlated patterns",
            "correlation of successive patterns",
            (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9),
            "one periodic sequence of {T}{N}{flips}",
            sizes=_SIZES,
        ),
        ComparisonTest(
            "multi",
            "Many sequences in one network",
            "number x length of the sequences",
            ("2x10", "5x5", "5x10", "10x5", "2x50", "5x20", "10x10", "20x5", "10x20", "20x10"),
            "periodic random sequences of {N}{flips}; all must be recalled",
            several=True,
            sizes={"n": 100, "flips": 10},
        ),
        ComparisonTest(
            "context",
            "Repeated patterns",
            "patterns that occur twice",
            (0, 1, 2, 4, 8),
            "one loop of 30 random patterns of {N}{flips}; each repeated pattern has "
            "another successor the second time, which the pattern before it tells. Networks with delay lines get as many past "
            "patterns as that needs (order='auto') and a cue of as many; all others learn with on_conflict='learn'",
            sizes={"n": 100, "flips": 10},
        ),
        ComparisonTest(
            "digits",
            "Moving digits",
            "flipped pixels of the cue",
            (0, 100, 300, 600, 1000),
            "20 sequences of 20 frames of 64 x 64 pixels{flips}",
            _OPEN,
            n_hidden=1000,
            trials=3,
            several=True,
            sizes={"flips": 300},
            n_units=64 * 64,
        ),
        ComparisonTest(
            "walker",
            "A walking figure",
            "flipped pixels of the cue",
            (0, 50, 100, 230, 350, 450),
            "one loop of 103 silhouettes of 43 x 30 pixels{flips}",
            n_hidden=200,
            trials=3,
            sizes={"flips": 100},
            n_units=43 * 30,
        ),
    )
}


def get_test(name: str) -> ComparisonTest:
    """Give a test by its name.

    Examples
    --------
    >>> get_test("noise").axis
    'flipped units of the cue'
    """
    if not isinstance(name, str) or name not in TESTS:
        raise ValueError(no_such("protocol", name, TESTS))
    return TESTS[name]


def own_data_test(data: Any, *, name: str) -> ComparisonTest:
    """Give the test that a user's own sequences make: the same in every trial, recalled from cues with more and more flips.

    Parameters
    ----------
    data : Sequences
    name : str
        What they are called.

    Returns
    -------
    ComparisonTest

    Examples
    --------
    >>> import seqattractor as sa
    >>> test = own_data_test(sa.datasets.random_periodic(10, 50, rng=0), name="mine")
    >>> test.values, test.setting
    ((0, 2, 5, 8, 10, 12, 15, 18, 20), 'one loop of 10 patterns of N = 50 units; the same in every trial')
    """
    few, most, number, (_, n) = int(data.lengths.min()), int(data.lengths.max()), len(data.lengths), data.shape
    closed = all(data.loops)
    lengths = f"{most}" if few == most else f"{few} to {most}"
    what = ("loop" if closed else "sequence") + ("s" if number > 1 else "")
    stored = f"{'one' if number == 1 else number} {what} of {lengths} patterns of N = {n} units"
    return ComparisonTest(
        "data",
        name,
        "flipped units of the cue",
        tuple(dict.fromkeys(as_flips(f"{share}%", n) for share in _SHARES)),
        f"{stored}{{flips}}; the same in every trial",
        _LOOP if closed else _OPEN,
        trials=10,
        several=number > 1,
        sizes={"flips": as_flips("10%", n)},
        n_units=n,
    )
