"""What a trial is, for everything that runs trials: sweeps, capacities, comparisons and the paper's
tables.

A `Protocol` names a function that does one trial, a `Point` is a protocol with settings and the
user's seed, a `Trial` one of the trials at a point. `Rounds` puts trials in order, `run_trials`
does those that a `Store` does not have::

    trials = Rounds([(Point(PROTOCOL, {"T": 10, "M": 500}, seed), n_trials), ...])
    run_trials(trials, store, choose_executor(jobs, dask), current=True)
    outcomes = [store.get(trial).outcome for trial in trials]
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from seqattractor._checks import check_count

Settings = dict[str, Any]
"""What is tried, as plain JSON values. "network" is a short name of the registry (or "networks" a
list of them).

What the user brings (`Brought`, `OwnData`) stands as an object; in files, keys and seeds its
description takes its place.
"""

Outcome = dict[str, Any]
"""The outcome of one trial, as plain JSON values."""


def _describe(thing: Any) -> Any:
    """The description of what the user brings."""
    if not hasattr(thing, "description"):
        raise TypeError(f"a {type(thing).__name__} is no plain value.")
    return thing.description


# Created once: a study of a million rows uses it as often.
_ENCODER = json.JSONEncoder(sort_keys=True, allow_nan=False, default=_describe)


def canonical(value: Any) -> str:
    """Write plain values as JSON in one way only, with sorted keys."""
    return _ENCODER.encode(value)


def digest_of(value: Any) -> str:
    """Return a short name of plain values that depends on nothing but them."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:32]


def seed_of(seed: int, place: Any, trial: int) -> np.random.SeedSequence:
    """Return the seed of a trial: its spawn key is a hash of `place`, what is tried, and the number
    of the trial.
    """
    digest = hashlib.sha256(canonical(place).encode()).digest()
    words = np.frombuffer(digest, dtype=">u4")[:4].tolist()
    return np.random.SeedSequence(seed, spawn_key=(*words, trial))


def check_seed(seed: int) -> int:
    """Reject seeds that a study could not store."""
    if check_count(seed, "seed", 0) >= 2**63:
        raise ValueError(f"seed must be below 2**63, but it is {seed}.")
    return seed


def itself(settings: Settings) -> Any:
    """The place of a trial whose seed depends on its settings alone."""
    return settings


@dataclass(frozen=True)
class Protocol:
    """What is done in each trial of an experiment.

    Parameters
    ----------
    name : str
    trial : str
        "module:function" of a function at the top of a module, ``(settings, seed) -> outcome``,
        with plain JSON values in and out and all randomness from the seed. Times that it measures
        stand under the key "seconds" of its outcome.
    place : callable, optional
        A function at the top of a module that gives, for settings, the plain values on which seeds
        depend. Trials with the same place have the same seeds, as networks that are compared must.
        By default the name and all settings.
    """

    name: str
    trial: str
    place: Callable[[Settings], Any] | None = None

    def run(self, settings: Settings, seed: np.random.SeedSequence) -> Outcome:
        """Do one trial, here and now."""
        from sklearn.exceptions import ConvergenceWarning  # slow to import

        module, _, function = self.trial.partition(":")
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ConvergenceWarning
            )  # what is not learned shows in the outcome
            outcome: Outcome = getattr(import_module(module), function)(settings, seed)
        return outcome


@cache
def code_digest() -> str:
    """Compute a digest (12 hexadecimal digits) of the sources that trials run: the package without
    what only shows results.
    """
    root, digest = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(root.rglob("*.[pch]*")):
        name = path.relative_to(root)
        if name.suffix in (".py", ".c", ".h") and name.parts[0] not in (
            "cli",
            "lab",
            "plots",
            "report",
        ):
            digest.update(name.as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def is_current(version: str | None) -> bool:
    """Whether trials of a version, as `Finished` has it, were done by the code of today."""
    return (version or "").rpartition("+")[2] == code_digest()


RETRIEVAL = Protocol("retrieval", "seqattractor.study.trial:run_trial", itself)
"""Section 6.2: sequences are drawn, learned, and retrieved from corrupted cues."""


@dataclass(frozen=True)
class Point:
    """One combination of settings of a protocol, with the user's seed."""

    protocol: Protocol
    settings: Settings
    seed: int

    @cached_property
    def key(self) -> str:
        """A short name that depends on protocol, settings and seed alone."""
        content = [self.settings, self.seed]
        # Keys of sweeps, which a test freezes, have no name of a protocol.
        return digest_of(
            content if self.protocol.name == RETRIEVAL.name else [self.protocol.name, *content]
        )


@dataclass(frozen=True)
class Trial:
    """One of the trials at a point."""

    point: Point
    number: int

    @property
    def key(self) -> tuple[str, int]:
        """What makes it the same trial."""
        return self.point.key, self.number

    def run(self) -> Outcome:
        """Do it, here and now."""
        protocol, settings = self.point.protocol, self.point.settings
        place = [protocol.name, settings] if protocol.place is None else protocol.place(settings)
        given = {name: getattr(value, "network", value) for name, value in settings.items()}
        return protocol.run(given, seed_of(self.point.seed, place, self.number))


class Rounds(Collection[Trial]):
    """The trials of points, each once: the first of every point, then the second, and so on. They
    are made as they are asked for.

    After one round every curve is there, roughly, and the time left is known. `wanted` has points,
    each with its number of trials; of a point that occurs more than once, the largest number
    counts.
    """

    def __init__(self, wanted: Iterable[tuple[Point, int]]) -> None:
        self._wanted: dict[str, tuple[Point, int]] = {}
        for point, number in wanted:
            _, before = self._wanted.get(point.key, (point, 0))
            self._wanted[point.key] = point, max(number, before)

    @property
    def points(self) -> Iterable[tuple[Point, int]]:
        """The points, each once, and how many trials of each."""
        return self._wanted.values()

    def __iter__(self) -> Iterator[Trial]:
        for k in range(max((number for _, number in self.points), default=0)):
            yield from (Trial(point, k) for point, number in self.points if k < number)

    def __len__(self) -> int:
        return sum(number for _, number in self.points)

    def __contains__(self, trial: object) -> bool:
        return (
            isinstance(trial, Trial)
            and 0 <= trial.number < self._wanted.get(trial.point.key, (None, 0))[1]
        )
