"""Section 6.3: what the targets on gait and digits share: cells, settings and the pictures that they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seqattractor.paper.settings import DIGITS, GAIT, LEARNING
from seqattractor.paper.target import Cell, Request, Target
from seqattractor.paper.trials.pictures import load_pictures, sha256_of

NETWORKS = {"gait": 10, "digits": 3}  # the paper trains one network on each; more show how far that is luck


@dataclass(frozen=True, kw_only=True)
class PictureTarget(Target):
    """Targets on gait and digits; all of them share their trials, which depend on the data, the method and the number."""

    trial: str = "pictures:recall_pictures"
    experiment: str = "pictures"
    uses: tuple[tuple[str, str], ...]
    """Pairs of a data set ("gait" or "digits") and a method."""

    def cells(self, request: Request) -> list[Cell]:
        """Each data set with each method."""
        return [_cell(data, method, request) for data, method in self.uses]

    def n_trials(self, request: Request, cell: Cell) -> int:
        """A few networks; one in a quick run."""
        return 1 if request.quick else request.at_most(NETWORKS[cell["data"]])


def _cell(data: str, method: str, request: Request) -> Cell:
    """The cell of a data set and a method; it names the data by content, so that other data are other trials."""
    settings = GAIT if data == "gait" else DIGITS
    path = request.gait_dir if data == "gait" else request.mnist_file
    cell: Cell = {"data": data, "method": method, "M": settings["M"], "flips": settings["flips"], "path": None}
    if path is not None:
        cell["path"] = str(path)
        cell["sha256"] = sha256_of(load_pictures(cell, 0))
    if data == "digits":
        cell["data_seed"] = request.seed
    return cell


def settings_of(cell: Cell) -> dict[str, Any]:
    """The settings of a cell, for the JSON file."""
    return {**(GAIT if cell["data"] == "gait" else DIGITS), **LEARNING, "data": cell["path"] or "generated"}
