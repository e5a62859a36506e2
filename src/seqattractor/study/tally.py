"""What a study knows of a point without keeping its trials: which are over, by which code, and how many succeeded."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from seqattractor.study.protocol import RETRIEVAL, Point, Protocol, is_current


class Stretch(NamedTuple):
    """Trials of a point with numbers in a row that the same code did, and that all failed or all did not."""

    first: int
    last: int
    version: str
    failed: bool

    @property
    def trials(self) -> int:
        """How many there are."""
        return self.last - self.first + 1


@dataclass(slots=True)
class Tally:
    """The trials of one point that are over, counted; its memory does not grow with them as long as none is left out.

    Examples
    --------
    >>> tally = Tally("retrieval", '{"network": "lookup", "t": 10}', 0)
    >>> row = {"version": "1+a", "outcome": '{"success": true}', "error": None, "seconds": 0.5}
    >>> for number in (0, 1, 2, 7):
    ...     tally.add(row | {"trial": number})
    >>> tally.trials, tally.successes, tally.below(5), tally.stretches[0]
    (4, 4, 3, Stretch(first=0, last=2, version='1+a', failed=False))
    """

    protocol: str
    settings: str
    """As JSON."""
    seed: int
    stretches: list[Stretch] = field(default_factory=list)
    successes: int = 0
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)
    """Those with which trials ended, each once."""

    def add(self, row: Any) -> None:
        """Take in a row of the table; rows come in the order of their numbers."""
        number, version, error = row["trial"], row["version"], row["error"]
        last = self.stretches[-1] if self.stretches else None
        if last is not None and last[1:] == (number - 1, version, error is not None):
            self.stretches[-1] = Stretch(last.first, number, last.version, last.failed)
        else:
            self.stretches.append(Stretch(number, number, version, error is not None))
        if error is None:
            self.successes += json.loads(row["outcome"]).get("success") is True
        elif error not in self.errors:
            self.errors.append(error)
        self.seconds += row["seconds"]

    @property
    def trials(self) -> int:
        """How many are over."""
        return sum(stretch.trials for stretch in self.stretches)

    @property
    def failed(self) -> int:
        """How many of them failed."""
        return sum(stretch.trials for stretch in self.stretches if stretch.failed)

    @property
    def by_other_code(self) -> int:
        """How many of them other code did than would do them now; of trials of section 6.2 only."""
        return sum(stretch.trials for stretch in self.stretches if not is_current(stretch.version))

    def point(self, protocol: Protocol = RETRIEVAL) -> Point:
        """The point itself."""
        return Point(protocol, json.loads(self.settings), self.seed)

    def below(self, number: int) -> int:
        """How many of the trials 0, 1, ..., number - 1 are over."""
        spans = (min(stretch.last + 1, number) - max(stretch.first, 0) for stretch in self.stretches)
        return sum(max(span, 0) for span in spans)

    def at(self, number: int) -> Stretch | None:
        """The stretch that a trial belongs to, if it is over; a damaged row may have no number at all."""
        if not isinstance(number, int):
            return None
        before = bisect_right(self.stretches, number, key=lambda stretch: stretch.first)
        found = self.stretches[before - 1] if before else None
        return found if found is not None and number <= found.last else None


class Over(Mapping[tuple[str, int], str | None]):
    """The keys of trials that are over, with the version of the code that did each; None if it failed."""

    def __init__(self, points: dict[str, Tally]) -> None:
        self._points = points

    def __getitem__(self, key: tuple[str, int]) -> str | None:
        tally = self._points.get(key[0])
        found = None if tally is None else tally.at(key[1])
        if found is None:
            raise KeyError(key)
        return None if found.failed else found.version

    def __iter__(self) -> Iterator[tuple[str, int]]:
        for point, tally in self._points.items():
            for stretch in tally.stretches:
                yield from ((point, number) for number in range(stretch.first, stretch.last + 1))

    def __len__(self) -> int:
        return sum(tally.trials for tally in self._points.values())


def say_other_code(number: int) -> str:
    """Say that other code than this did some trials of a study."""
    return f"Other code than this did {number} of these trials."
