"""Section 6.3: sequences of pictures (gait silhouettes, moving digits) stored and recalled from a corrupted first frame."""

from __future__ import annotations

import base64
import hashlib
import zlib
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from seqattractor.analysis._retrieval import retrieved
from seqattractor.datasets._moving_digits import moving_digits
from seqattractor.datasets._walker import walker
from seqattractor.io._gait import load_gait
from seqattractor.io._mnist import load_moving_mnist
from seqattractor.networks._attractor import SequenceAttractor
from seqattractor.noise import flip
from seqattractor.paper.settings import DIGITS, GAIT, LEARNING, RECALL_PERIODS, Request
from seqattractor.paper.target import Cell, Outcome, Target
from seqattractor.sequences import Sequences

__all__ = ["METHODS", "PictureTarget", "frames_of", "load_pictures", "recalled_frames"]

METHODS = {
    "hebbian": "U fixed, V by the Hebbian rule",
    "V": "U fixed, V by the three-factor rule",
    "UV": "U and V by the three-factor rule",
}
NETWORKS = {"gait": 10, "digits": 3}  # the paper trains one network on each; more show how far that is luck


class PictureTarget(Target):
    """Targets on gait and digits; all of them share their trials, which depend on the data, the method and the number."""

    experiment = "pictures"
    uses: ClassVar[tuple[tuple[str, str], ...]]
    """Pairs of a data set ("gait" or "digits") and a method."""

    def cells(self, request: Request) -> list[Cell]:
        """Each data set with each method."""
        return [_cell(data, method, request) for data, method in self.uses]

    def n_trials(self, request: Request, cell: Cell) -> int:
        """A few networks; one in a quick run."""
        return 1 if request.quick else request.at_most(NETWORKS[cell["data"]])

    def trial(self, cell: Cell, rng: np.random.Generator, number: int) -> Outcome:
        """Train one network and recall every sequence from its corrupted first frame."""
        pictures = load_pictures(cell, number)
        X, lengths = pictures.patterns, pictures.lengths
        how = {"rule": "hebbian", "learn": "V"} if cell["method"] == "hebbian" else {"learn": cell["method"]}
        net = SequenceAttractor(cell["M"], random_state=rng, engine="exact", n_jobs=1, **how, **LEARNING).fit(X, lengths)
        sequences = np.split(X, np.cumsum(lengths)[:-1])
        cues = flip(np.stack([x[0] for x in sequences]), cell["flips"], rng=rng)
        T = int(lengths[0])
        closed = all(np.array_equal(x[0], x[-1]) for x in sequences)
        paths = net.recall(cues, steps=RECALL_PERIODS * T if closed else T - 1)
        wrong = [(path[:T] != x).sum(axis=1) for path, x in zip(paths, sequences, strict=True)]
        exact_from = [T + 1 - int(np.argmax(one[::-1] > 0)) for one in wrong]  # frames count from 1, and the cue is wrong
        M, N = net.V_.shape[1], net.V_.shape[0]
        return {
            "converged": bool(net.converged_),
            "epochs": int(net.n_iter_),
            "hidden_errors": (net.hidden_errors_ / M).tolist(),
            "visible_errors": (net.visible_errors_ / N).tolist(),
            "wrong": [one.tolist() for one in wrong],
            # From which frame on every frame was exact, up to the last; T + 1 if even the last was not.
            "exact_from": exact_from,
            # Section 6.2's criterion on a closed loop. An open sequence never shows its first frame again: there, that
            # the recall came onto the sequence and stayed to its end.
            "retrieved": [
                bool(retrieved(path, x)) if closed else start <= T
                for path, x, start in zip(paths, sequences, exact_from, strict=True)
            ],
            "frames": _pack(paths[:, :T]) if number == 0 else None,
        }


def _cell(data: str, method: str, request: Request) -> Cell:
    """The cell of a data set and a method; it names the data by content, so that other data are other trials."""
    settings = GAIT if data == "gait" else DIGITS
    path = request.gait_dir if data == "gait" else request.mnist_file
    cell: Cell = {"data": data, "method": method, "M": settings["M"], "flips": settings["flips"], "path": None}
    if path is not None:
        cell["path"] = str(path)
        cell["sha256"] = hashlib.sha256(load_pictures(cell, 0).tobytes()).hexdigest()
    if data == "digits":
        cell["data_seed"] = request.seed
    return cell


def load_pictures(cell: Cell, number: int) -> Sequences:
    """The sequences of a cell: data, lengths and frame_shape. Digits without a file are drawn anew for each trial."""
    return _load(cell["data"], cell["path"], cell.get("data_seed", 0), number if cell["data"] == "digits" else 0)


@lru_cache(maxsize=4)
def _load(data: str, path: str | None, seed: int, number: int) -> Sequences:
    """Read or draw pictures."""
    if data == "gait":
        return load_gait(Path(path), n_frames=GAIT["T"]) if path else walker()
    rng = [seed, number]
    n, T = DIGITS["sequences"], DIGITS["T"]
    return load_moving_mnist(path, n, T, rng=rng) if path else moving_digits(n, T, DIGITS["shape"][0], rng=rng)


def frames_of(pictures: Sequences) -> NDArray[np.int8]:
    """All sequences as pictures, shape (sequences, T, height, width)."""
    return pictures.patterns.reshape(len(pictures.lengths), -1, *pictures.frame_shape)


def recalled_frames(outcome: Outcome, pictures: Sequences) -> NDArray[np.int8]:
    """What the network recalled in the first trial, in the shape of `frames_of`."""
    shape = len(pictures.lengths), int(pictures.lengths[0]), *pictures.frame_shape
    bits = np.unpackbits(np.frombuffer(zlib.decompress(base64.b64decode(outcome["frames"])), dtype=np.uint8))
    return np.where(bits[: int(np.prod(shape))], 1, -1).astype(np.int8).reshape(shape)


def _pack(frames: NDArray[np.int8]) -> str:
    """Patterns of +-1 as text."""
    return base64.b64encode(zlib.compress(np.packbits(frames > 0).tobytes(), 9)).decode()
