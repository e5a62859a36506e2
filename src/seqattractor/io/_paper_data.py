"""The paper's data from the user's own copies: gait silhouettes of the OU-ISIR database, MNIST and Moving MNIST.

The gait database may not be passed on. Its download is laid out as
``OULP-C1V1_NormalizedSilhouette(88x128)/Seq00/<subject>/00000017.png``; frame numbers need not start at 1.
"""

import gzip
import io
import struct
import zlib
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count
from seqattractor._files import named_path
from seqattractor.io._arrays import open_arrays
from seqattractor.io._options import TooLargeError, terms
from seqattractor.io._pictures import pictures_in, read_still
from seqattractor.sequences import Sequences, binarize
from seqattractor.sequences._transitions import without_conflicts

SILHOUETTES = "OULP-C1V1_NormalizedSilhouette(88x128)"
IDX_IMAGES = 0x00000803  # the magic number of an idx file of unsigned bytes in three dimensions


def load_gait(folder: str | Path, *, n_frames: int | None = 103, threshold: float = 127) -> Sequences:
    """Read one silhouette sequence, as the paper learns in section 6.3.

    Parameters
    ----------
    folder : path
        The whole download, of which ``Seq00`` is taken, or a folder in it; of several subjects the first
        one who has `n_frames` frames. Or any folder that holds the pictures of one sequence.
    n_frames : int or None, default=103
        How many frames to take, from the first on (the paper's length); None takes all there are.
    threshold : float, default=127
        Grey values above it are the figure.

    Returns
    -------
    Sequences
        One, of shape (n_frames, height * width); N = 11264 for the database's frames of 128 rows and 88 columns.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> from seqattractor.io import load_gait
    >>> from seqattractor.datasets import walker
    >>> frames = (walker().frames[:5] > 0).astype("uint8") * 255
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number, frame in enumerate(frames, start=17):
    ...         Image.fromarray(frame).save(f"{folder}/{number:08d}.png")
    ...     X = load_gait(folder, n_frames=5)
    >>> bool((X == walker()[:5]).all())
    True
    """
    n_frames = None if n_frames is None else check_count(n_frames, "n_frames")
    files = _frames_of(named_path(folder), n_frames)
    frames = [read_still(path) for path in files[:n_frames]]
    for path, frame in zip(files, frames, strict=False):
        if frame.shape != frames[0].shape:
            raise ValueError(
                f"{path} has the size {frame.shape}, but {files[0].name} has {frames[0].shape} "
                "(height, width); all frames of a sequence must have one size."
            )
    return Sequences(binarize(frames, threshold), frame_shape=frames[0].shape, names=[files[0].parent.name], kind="pictures")


def _frames_of(folder: Path, n_frames: int | None) -> list[Path]:
    """Find the first sequence with at least `n_frames` frames, and return its files in order of time."""
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}.")
    places = (folder / SILHOUETTES / "Seq00", folder / "Seq00", folder)
    subjects = (sorted(path for path in place.glob("*") if path.is_dir() and path.name.isdigit()) for place in places)
    candidates = next(filter(None, subjects), [folder])
    longest = 0
    for candidate in candidates:
        # In the order of their numbers, or of their names where these are not numbers.
        files = pictures_in(candidate, key=lambda path: (int(path.stem) if path.stem.isdigit() else 0, path.stem))
        longest = max(longest, len(files))
        if len(files) >= max(n_frames or 2, 2):
            return files
    if longest == 0:
        raise ValueError(f"{folder} holds no pictures: give the folder that contains {SILHOUETTES}, or one of frames.")
    raise ValueError(f"no sequence in {folder} has {n_frames or 2} frames, the longest has {longest}; ask for fewer (n_frames).")


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
    array = read_images(path)
    if array.ndim != 3 or array.size == 0:
        raise ValueError(f"{path} holds an array of shape {array.shape}; images have the shape (n, height, width).")
    return np.asarray(array, dtype=np.uint8)


def load_moving_mnist(path: str | Path, n_sequences: int = 20, length: int = 20, *, threshold: float = 127) -> Sequences:
    """Read the first sequences of Moving MNIST; those in which some frame would have two successors are left out.

    Parameters
    ----------
    path : path
        ``mnist_test_seq.npy`` (uint8, 20 x 10000 x 64 x 64, time first), or an npy or npz file with the
        sequences first. From MNIST itself, `datasets.moving_digits` makes such sequences.
    n_sequences, length : int, default=20
        How many sequences, and how many frames of each.
    threshold : float, default=127
        Grey values above it become +1.

    Returns
    -------
    Sequences
        Of shape (n_sequences * length, height * width).

    Examples
    --------
    >>> import tempfile
    >>> from seqattractor.datasets import moving_digits
    >>> X = moving_digits(3, 20)
    >>> frames = X.reshape(3, 20, 64, 64).swapaxes(0, 1)  # time first, as in the download
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/mnist_test_seq.npy", np.where(frames > 0, 255, 0).astype(np.uint8))
    ...     again = load_moving_mnist(f"{folder}/mnist_test_seq.npy", n_sequences=3)
    >>> bool((again == X).all())
    True
    """
    array = read_images(path)
    if array.ndim != 4:
        raise ValueError(f"{path} holds an array of shape {array.shape}; Moving MNIST has the shape (20, n, 64, 64).")
    if array.shape[0] != 20 and array.shape[1] == 20:  # sequences first
        array = array.swapaxes(0, 1)
    if array.shape[0] < length:
        raise ValueError(f"the sequences in {path} have {array.shape[0]} frames, fewer than the {length} asked for.")
    sequences = (binarize(array[:length, s], threshold) for s in range(array.shape[1]))
    chosen = list(islice(without_conflicts(sequences), n_sequences))
    if len(chosen) < n_sequences:
        raise ValueError(
            f"{path} has {len(chosen)} usable sequences, fewer than the {n_sequences} asked for; ask for fewer (n_sequences)."
        )
    return Sequences(np.concatenate(chosen), np.full(n_sequences, length), frame_shape=array.shape[2:], kind="pictures")


def read_images(file: str | Path) -> NDArray[Any]:
    """Return the images in an npy, npz or idx file as they are, those of Moving MNIST in four dimensions."""
    path = named_path(file)
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    try:
        if path.suffix == ".npy":
            array: NDArray[Any] = np.asanyarray(np.load(path, mmap_mode="r", allow_pickle=False))
            if array.dtype.kind not in "biuf":
                raise ValueError(f"it holds values of type {array.dtype}, not numbers.")
            return array
        return _from_npz(path) if path.suffix == ".npz" else _from_idx(path)
    except TooLargeError:
        raise
    except (OSError, EOFError, struct.error, KeyError, ValueError, SyntaxError, TypeError, zlib.error) as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise ValueError(f"{path} cannot be read as MNIST or Moving MNIST: {reason}.") from None


def _from_npz(path: Path) -> NDArray[Any]:
    """The first image array of an npz file: ``x_train`` where there is one."""
    with open_arrays(path) as arrays:
        for name in sorted(arrays, key=lambda name: (name != "x_train", name)):
            if (array := arrays[name]()).ndim in (3, 4):
                return array
    raise ValueError("none of its arrays holds images.")


def _from_idx(path: Path) -> NDArray[np.uint8]:
    """The images of an idx file, gzipped or not."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        stream: io.BufferedIOBase = gzip.GzipFile(fileobj=file) if packed else file
        magic, n, height, width = struct.unpack(">IIII", stream.read(16))
        if magic != IDX_IMAGES:
            raise ValueError("it is not an idx file of images.")
        size = n * height * width
        if size > terms().array_bytes:
            raise TooLargeError(f"{path} promises {size / 1e6:.0f} MB of images, too many to read.")
        raw = stream.read(size + 1)  # one more than promised is too many, and no more is unpacked
        if len(raw) != size:
            raise ValueError("it is cut short, or longer than it says; download it again.")
    return np.frombuffer(raw, dtype=np.uint8).reshape(n, height, width)
