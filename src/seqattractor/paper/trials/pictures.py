"""Section 6.3: sequences of pictures (gait silhouettes, moving digits) stored and recalled from a corrupted first frame."""

from __future__ import annotations

import base64
import hashlib
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.analysis._retrieval import lock_on_step, retrieved
from seqattractor.datasets._moving_digits import moving_digits
from seqattractor.datasets._walker import walker
from seqattractor.io._paper_data import load_gait, load_moving_mnist
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.noise import flip
from seqattractor.paper.settings import DIGITS, GAIT, LEARNING
from seqattractor.sequences import Sequences
from seqattractor.study.settings import PERIODS

METHODS: dict[str, dict[str, Any]] = {"hebbian": {"rule": "hebbian", "learn": "V"}, "V": {"learn": "V"}, "UV": {"learn": "UV"}}
"""The ways of learning of appendix E, as parameters of the network."""


def recall_pictures(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Train one network and recall every sequence from its corrupted first frame.

    Settings are those of `load_pictures`, the method (a key of `METHODS`), M and flips.
    """
    number = int(seed.spawn_key[-1])  # of the trial
    rng = np.random.default_rng(seed)
    pictures = load_pictures(settings, number)
    if "sha256" in settings and settings["sha256"] != sha256_of(load_pictures(settings, 0)):
        raise ValueError(f"{settings['path']} holds other pictures here than where the run was started; give workers the same.")
    how = METHODS[settings["method"]]
    net = SequenceAttractor(settings["M"], random_state=rng, engine="exact", n_jobs=1, **how, **LEARNING).fit(pictures)
    sequences = pictures.split()
    cues = flip(np.stack([x[0] for x in sequences]), settings["flips"], rng=rng)
    T = len(sequences[0])
    closed = all(pictures.loops)
    paths = net.recall(cues[:, None], steps=PERIODS * T if closed else T - 1)
    wrong = [(path[:T] != x).sum(axis=1) for path, x in zip(paths, sequences, strict=True)]
    locked_on = [lock_on_step(path, x) for path, x in zip(paths, sequences, strict=True)]
    N, M = net.V_.shape
    return {
        "converged": bool(net.converged_),
        "epochs": int(net.n_iter_),
        "hidden_errors": (net.hidden_errors_ / M).tolist(),
        "visible_errors": (net.visible_errors_ / N).tolist(),
        "wrong": [one.tolist() for one in wrong],
        # The frame, counted from 1, from which on every frame to the last was right and in phase; None if never, or too late.
        "locked_on": [None if row is None else row + 1 for row in locked_on],
        # Section 6.2's criterion on a closed loop. An open sequence never shows its first frame again: there, that it locked on.
        "retrieved": [
            bool(retrieved(path, x)) if closed else row is not None
            for path, x, row in zip(paths, sequences, locked_on, strict=True)
        ],
        "frames": _pack(paths[:, :T]) if number == 0 else None,  # the first network is shown
    }


def load_pictures(settings: dict[str, Any], number: int) -> Sequences:
    """The sequences of a trial: data ("gait" or "digits") from the file `path`, or generated if it is None.

    Digits are drawn anew for each number of a trial, from `data_seed`.
    """
    return _load(settings["data"], settings["path"], settings.get("data_seed", 0), number if settings["data"] == "digits" else 0)


@lru_cache(maxsize=4)
def _load(data: str, path: str | None, seed: int, number: int) -> Sequences:
    """Read or draw pictures."""
    if data == "gait":
        return load_gait(Path(path), n_frames=GAIT["T"]) if path else walker()
    n, T, rng = DIGITS["sequences"], DIGITS["T"], np.random.default_rng([seed, number])
    return load_moving_mnist(path, n, T, rng=rng) if path else moving_digits(n, T, DIGITS["shape"][0], rng=rng)


def sha256_of(pictures: Sequences) -> str:
    """A digest of all patterns."""
    return hashlib.sha256(pictures.patterns.tobytes()).hexdigest()


def frames_of(pictures: Sequences) -> NDArray[np.int8]:
    """All sequences as pictures, shape (sequences, T, height, width)."""
    return pictures.patterns.reshape(len(pictures.lengths), -1, *pictures.frame_shape)


def recalled_frames(outcome: dict[str, Any], pictures: Sequences) -> NDArray[np.int8]:
    """What the network recalled in the first trial, in the shape of `frames_of`."""
    shape = frames_of(pictures).shape
    bits = np.unpackbits(np.frombuffer(zlib.decompress(base64.b64decode(outcome["frames"])), dtype=np.uint8))
    return np.where(bits[: int(np.prod(shape))], 1, -1).astype(np.int8).reshape(shape)


def _pack(frames: NDArray[np.int8]) -> str:
    """Patterns of +-1 as text."""
    return base64.b64encode(zlib.compress(np.packbits(frames > 0).tobytes(), 9)).decode()
