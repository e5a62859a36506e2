"""The tests on which networks are compared, in words: an axis that grows harder, and what stays the same.

What a test draws stands in `seqattractor.experiments._comparison_trial.TASKS`, so that changing a word here repeats no trial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seqattractor._suggest import no_such


@dataclass(frozen=True)
class ComparisonTest:
    """A test along one axis: what it is called, and which values and numbers it takes where none are given."""

    name: str
    title: str
    axis: str
    """What differs, in words."""
    values: tuple[Any, ...]
    """Along the axis, easy ones first."""
    setting: str
    """What stays the same, in words."""
    criterion: str = "the whole loop is seen in order and in any phase (section 6.2), within four times its length"
    """When a sequence counts as recalled."""
    n_hidden: int = 500
    trials: int = 20
    """By default."""
    learns_once: bool = False
    """Whether only cues and noise differ along the axis, so that a network learns once for all values of a trial."""
    several: bool = False
    """Whether trials have several sequences, so that a part of them can be recalled."""

    def parse(self, text: str) -> Any:
        """Read a value from the command line."""
        example = self.values[0]
        try:
            if isinstance(example, str):
                number, _, length = text.lower().partition("x")
                return f"{int(number)}x{int(length)}"
            return type(example)(text)
        except ValueError:
            raise ValueError(f"a value of the protocol {self.name!r} looks like {example}, but this is {text!r}.") from None

    def easy_first(self, values: Sequence[Any]) -> Sequence[Any]:
        """Put values in order of difficulty; for multi, whose values are not numbers, the user's order stands."""
        return values if isinstance(self.values[0], str) else sorted(values)


TESTS: dict[str, ComparisonTest] = {
    test.name: test
    for test in (
        ComparisonTest(
            "random",
            "Length of a random sequence",
            "period length T",
            (10, 20, 30, 40, 50, 60, 70, 80, 100, 150, 200, 300),
            "one random periodic sequence of N = 100 units, 10 of them flipped in the cue (section 6.2 of the paper)",
        ),
        ComparisonTest(
            "noise",
            "Corrupted cues",
            "flipped units of the cue",
            (0, 5, 10, 15, 20, 25, 30, 35, 40),
            "one random periodic sequence of T = 40 patterns of N = 100 units",
            learns_once=True,
        ),
        ComparisonTest(
            "recall-noise",
            "Noise during recall",
            "flipped units before every step",
            (0, 1, 2, 4, 6, 8, 10, 15, 20),
            "one random periodic sequence of T = 40 patterns of N = 100 units, 10 of them flipped in the cue",
            learns_once=True,
        ),
        ComparisonTest(
            "correlated",
            "Correlated patterns",
            "correlation of successive patterns",
            (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9),
            "one periodic sequence of T = 40 patterns of N = 100 units, 10 of them flipped in the cue",
        ),
        ComparisonTest(
            "multi",
            "Many sequences in one network",
            "number x length of the sequences",
            ("2x10", "5x5", "5x10", "10x5", "2x50", "5x20", "10x10", "20x5", "10x20", "20x10"),
            "periodic random sequences of N = 100 units, 10 of them flipped in each cue; all must be recalled",
            several=True,
        ),
        ComparisonTest(
            "context",
            "Repeated patterns",
            "patterns that occur twice",
            (0, 1, 2, 4, 8),
            "one loop of 30 random patterns of N = 100 units, 10 of them flipped in the cue; each repeated pattern has "
            "another successor the second time, which the pattern before it tells. Networks with delay lines get as many past "
            "patterns as that needs (order='auto') and a cue of as many; all others learn with on_conflict='learn'",
        ),
        ComparisonTest(
            "digits",
            "Moving digits",
            "flipped pixels of the cue",
            (0, 100, 300, 600, 1000),
            "20 sequences of 20 frames of 64 x 64 pixels",
            "recall locks on at its first step: every frame after the cue is right and in phase",
            n_hidden=1000,
            trials=3,
            learns_once=True,
            several=True,
        ),
        ComparisonTest(
            "walker",
            "A walking figure",
            "flipped pixels of the cue",
            (0, 50, 100, 230, 350, 450),
            "one loop of 103 silhouettes of 43 x 30 pixels",
            n_hidden=200,
            trials=3,
            learns_once=True,
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
