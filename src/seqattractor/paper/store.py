"""Finished trials on disk, one line of JSON each, so that an interrupted run continues where it stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seqattractor.experiments._fingerprint import fingerprint
from seqattractor.experiments._seeds import canonical
from seqattractor.paper.target import Cell, Outcome

__all__ = ["TrialStore"]


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
        self._seed = seed
        self._version = fingerprint(frozenset({"seqattractor.paper.random_sequences"}))  # gone with this store
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
        return canonical([self._version, self._seed, cell, trial])

    def get(self, cell: Cell, trial: int) -> Outcome | None:
        """The outcome of a trial, if it is finished."""
        return self._outcomes.get(self._key(cell, trial))

    def put(self, cell: Cell, trial: int, outcome: Outcome) -> None:
        """Keep an outcome, at once and for good."""
        key = self._key(cell, trial)
        line = canonical({"key": key, "outcome": outcome})
        self._file.write(line + "\n")
        self._file.flush()
        self._outcomes[key] = json.loads(line)["outcome"]

    def close(self) -> None:
        """Close the file."""
        self._file.close()
