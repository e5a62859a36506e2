"""Moving MNIST from the user's own file, or made from the user's own copy of MNIST."""

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.datasets._moving_digits import moving_digits, successors_with
from seqattractor.noise import Seed
from seqattractor.sequences import Patterns, Sequences, binarize

IDX_IMAGES = 0x00000803  # the magic number of an idx file of unsigned bytes in three dimensions


def load_mnist(path: str | Path) -> NDArray[np.uint8]:
    """Read the images of MNIST from an idx file (also gzipped) or an npz or npy file.

    Parameters
    ----------
    path : path
        ``train-images-idx3-ubyte`` with or without ``.gz``, ``mnist.npz`` (its ``x_train``), or any npy or npz
        file with one array of shape (n, height, width).

    Returns
    -------
    images : ndarray of shape (n, height, width), uint8

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/mnist.npz", x_train=np.zeros((5, 28, 28), np.uint8), y_train=np.zeros(5))
    ...     load_mnist(f"{folder}/mnist.npz").shape
    (5, 28, 28)
    """
    return _digit_images(Path(path), _read(Path(path)))


def load_moving_mnist(
    path: str | Path, n_sequences: int = 20, length: int = 20, *, threshold: float = 127, rng: Seed = 0
) -> Sequences:
    """Read the first sequences of Moving MNIST, or make such sequences from MNIST's digits.

    Sequences in which some frame would have two different successors are left out.

    Parameters
    ----------
    path : path
        Moving MNIST (``mnist_test_seq.npy``: uint8, 20 x 10000 x 64 x 64, time first; an npz with the
        sequences first is read too), or any file that `load_mnist` reads, from which sequences are then made
        by `moving_digits`.
    n_sequences, length : int, default=20
        How many sequences, and how many frames of each.
    threshold : float, default=127
        Grey values above it become +1.
    rng : int, Generator or None, default=0
        Draws sequences made from MNIST; not used for Moving MNIST.

    Returns
    -------
    Sequences
        Of shape (n_sequences * length, height * width).

    Examples
    --------
    >>> import tempfile
    >>> X = moving_digits(3, 20)
    >>> frames = X.reshape(3, 20, 64, 64).swapaxes(0, 1)  # time first, as in the download
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/mnist_test_seq.npy", np.where(frames > 0, 255, 0).astype(np.uint8))
    ...     again = load_moving_mnist(f"{folder}/mnist_test_seq.npy", n_sequences=3)
    >>> bool((again == X).all())
    True
    """
    path = Path(path)
    array = _read(path)
    if array.ndim == 3:
        return moving_digits(n_sequences, length, digits=_digit_images(path, array), rng=rng)
    if array.ndim != 4:
        raise ValueError(f"{path} holds an array of shape {array.shape}; expected (20, n, 64, 64) or (n, 28, 28).")
    if array.shape[0] != 20 and array.shape[1] == 20:  # sequences first
        array = array.swapaxes(0, 1)
    if array.shape[0] < length:
        raise ValueError(f"the sequences in {path} have {array.shape[0]} frames, fewer than the {length} asked for.")
    X = _first_without_conflict(array, n_sequences, length, threshold, path)
    return Sequences(X, np.full(n_sequences, length), frame_shape=array.shape[2:], kind="pictures")


def _first_without_conflict(array: NDArray[Any], n_sequences: int, length: int, threshold: float, path: Path) -> Patterns:
    """The first sequences of an array (time, sequence, row, column) that can be stored together."""
    successors: dict[bytes, bytes] = {}
    chosen: list[Patterns] = []
    for s in range(array.shape[1]):
        if len(chosen) == n_sequences:
            break
        frames = binarize(array[:length, s], threshold)
        extended = successors_with(successors, frames)
        if extended is not None:
            successors = extended
            chosen.append(frames)
    if len(chosen) < n_sequences:
        raise ValueError(
            f"{path} has {len(chosen)} usable sequences, fewer than the {n_sequences} asked for; ask for fewer (n_sequences), "
            "or learn them with `seqattractor learn`."
        )
    return np.concatenate(chosen)


def _digit_images(path: Path, array: NDArray[Any]) -> NDArray[np.uint8]:
    """Check that an array holds grey images."""
    if array.ndim != 3 or array.size == 0:
        raise ValueError(f"{path} holds an array of shape {array.shape}; images have the shape (n, height, width).")
    return np.asarray(array, dtype=np.uint8)


def _read(path: Path) -> NDArray[Any]:
    """The array in an npy, npz or idx file."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    try:
        if path.suffix == ".npy":
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
            return array
        if path.suffix == ".npz":
            return _from_npz(path)
        return _from_idx(path)
    except (OSError, EOFError, struct.error, KeyError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as MNIST or Moving MNIST: {error}") from None


def _from_npz(path: Path) -> NDArray[Any]:
    """The first image array of an npz file: ``x_train`` where there is one."""
    with np.load(path, allow_pickle=False) as archive:
        names = sorted(archive.files, key=lambda name: (name != "x_train", name))
        for name in names:
            array: NDArray[Any] = archive[name]
            if array.ndim in (3, 4):
                return array
    raise ValueError("none of its arrays holds images.")


def _from_idx(path: Path) -> NDArray[np.uint8]:
    """The images of an idx file, gzipped or not."""
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    magic, n, height, width = struct.unpack(">IIII", raw[:16])
    if magic != IDX_IMAGES:
        raise ValueError("it is not an idx file of images.")
    if len(raw) != 16 + n * height * width:
        raise ValueError("it is cut short; download it again.")
    return np.frombuffer(raw, dtype=np.uint8, offset=16).reshape(n, height, width)
