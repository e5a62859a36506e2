"""Finished trials on disk, one line of JSON each, so that an interrupted run continues where it stopped."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from seqattractor import __version__
from seqattractor.paper.target import Cell, Outcome

__all__ = ["TrialStore", "code_version", "seed_of"]

# The parts of the package on which the outcome of a trial depends.
DECISIVE = ("sequences.py", "noise.py", "learning", "networks", "datasets", "analysis", "paper")
NOT_DECISIVE = {"report.py", "animation.py", "files.py", "html.py", "runner.py", "store.py", "agreement.py"}


@cache
def code_version() -> str:
    """The version of the package and a fingerprint of the code that decides what a trial gives."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for part in DECISIVE:
        place = package / part
        for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
            if file.name not in NOT_DECISIVE:
                digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"


def seed_of(seed: int, experiment: str, cell: Cell, trial: int) -> np.random.SeedSequence:
    """The seed of one trial: it depends on the user's seed, the experiment, the cell and the number of the trial only.

    Examples
    --------
    >>> a, b = (seed_of(0, "table1", {"T": 10}, k).generate_state(1) for k in (0, 1))
    >>> bool(a == b)
    False
    """
    place = hashlib.sha256(json.dumps([experiment, cell], sort_keys=True).encode()).digest()
    words = np.frombuffer(place, dtype=">u4")[:4].tolist()
    return np.random.SeedSequence(seed, spawn_key=(*words, trial))


class TrialStore:
    """The finished trials of one experiment in a file; a line that was cut off when the power went is ignored.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    experiment : str
    seed : int
    """

    def __init__(self, folder: Path, experiment: str, seed: int) -> None:
        self._experiment, self._seed = experiment, seed
        self._version = code_version()
        self._outcomes: dict[str, Outcome] = {}
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{experiment}.jsonl"
        if path.exists():
            self._read(path)
        self._file = path.open("a", encoding="utf-8")
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            self._file.write("\n")

    def _read(self, path: Path) -> None:
        """Take in the lines that are whole."""
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry: dict[str, Any] = json.loads(line)
                self._outcomes[entry["key"]] = entry["outcome"]
            except (json.JSONDecodeError, KeyError, TypeError):
                continue

    def _key(self, cell: Cell, trial: int) -> str:
        """What makes a trial the same trial."""
        return json.dumps([self._version, self._seed, cell, trial], sort_keys=True)

    def get(self, cell: Cell, trial: int) -> Outcome | None:
        """The outcome of a trial, if it is finished."""
        return self._outcomes.get(self._key(cell, trial))

    def put(self, cell: Cell, trial: int, outcome: Outcome) -> None:
        """Keep an outcome, at once and for good."""
        key = self._key(cell, trial)
        line = json.dumps({"key": key, "outcome": outcome}, sort_keys=True)
        self._file.write(line + "\n")
        self._file.flush()
        self._outcomes[key] = json.loads(line)["outcome"]

    def close(self) -> None:
        """Close the file."""
        self._file.close()
