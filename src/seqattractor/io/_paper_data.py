"""The paper's data from the user's own copies: gait silhouettes of the OU-ISIR database and Moving
MNIST.

The gait database may not be passed on. Its download is laid out as
``OULP-C1V1_NormalizedSilhouette(88x128)/Seq00/<subject>/00000017.png``; frame numbers need not
start at 1.
"""

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count
from seqattractor._files import named_path
from seqattractor.io._arrays import open_arrays
from seqattractor.io._load import load
from seqattractor.io._pictures import pictures_in
from seqattractor.sequences import Sequences, binarize
from seqattractor.sequences._transitions import without_conflicts

SILHOUETTES = "OULP-C1V1_NormalizedSilhouette(88x128)"


def load_gait(
    folder: str | Path, *, n_frames: int | None = 103, threshold: float = 127
) -> Sequences:
    """Read one silhouette sequence, as the paper learns in section 6.3.

    Parameters
    ----------
    folder : path
        The whole download, of which ``Seq00`` is taken, or a folder in it; of several subjects the
        first one who has `n_frames` frames. Or any folder that holds the pictures of one sequence.
    n_frames : int or None, default=103
        How many frames to take, from the first on (the paper's length); None takes all there are.
    threshold : float, default=127
        Grey values above it are the figure.

    Returns
    -------
    Sequences
        One, of shape (n_frames, height * width); N = 11264 for the database's frames of 128 rows
        and 88 columns.

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
    path = named_path(folder)
    if not path.is_dir():
        raise ValueError(f"there is no folder {path}.")
    places = (path / SILHOUETTES / "Seq00", path / "Seq00", path)
    subjects = (
        sorted(p for p in place.glob("*") if p.is_dir() and p.name.isdigit()) for place in places
    )
    candidates = next(filter(None, subjects), [path])
    counts = [len(pictures_in(candidate)) for candidate in candidates]
    least = max(n_frames or 2, 2)
    if not any(counts):
        raise ValueError(
            f"{path} holds no pictures: give the folder that contains {SILHOUETTES}, or one of "
            "frames."
        )
    if max(counts) < least:
        raise ValueError(
            f"no sequence in {path} has {least} frames, the longest has {max(counts)}; ask for "
            "fewer (n_frames)."
        )
    first = next(
        candidate for candidate, count in zip(candidates, counts, strict=True) if count >= least
    )
    return load(first, format="pictures", size=None, threshold=threshold, frames=(0, n_frames))


def load_moving_mnist(
    path: str | Path, n_sequences: int = 20, length: int = 20, *, threshold: float = 127
) -> Sequences:
    """Read the first sequences of Moving MNIST; those in which some frame would have two successors
    are left out.

    Parameters
    ----------
    path : path
        ``mnist_test_seq.npy`` (uint8, 20 x 10000 x 64 x 64, time first), or an npy or npz file with
        the sequences first. Of MNIST itself, `datasets.moving_digits` makes such sequences.
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
    array = _read_movies(named_path(path))
    if array.shape[0] != 20 and array.shape[1] == 20:  # sequences first
        array = array.swapaxes(0, 1)
    if array.shape[0] < length:
        raise ValueError(
            f"the sequences in {path} have {array.shape[0]} frames, fewer than the {length} asked "
            "for."
        )
    sequences = (binarize(array[:length, s], threshold) for s in range(array.shape[1]))
    chosen = list(islice(without_conflicts(sequences), n_sequences))
    if len(chosen) < n_sequences:
        raise ValueError(
            f"{path} has {len(chosen)} usable sequences, fewer than the {n_sequences} asked for; "
            "ask for fewer (n_sequences)."
        )
    return Sequences(
        np.concatenate(chosen),
        np.full(n_sequences, length),
        frame_shape=array.shape[2:],
        kind="pictures",
    )


def _read_movies(path: Path) -> NDArray[Any]:
    """Return the array of four dimensions in an npy or npz file."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    if path.suffix == ".npy":
        try:
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, EOFError, ValueError, SyntaxError, TypeError) as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise ValueError(f"{path} cannot be read as Moving MNIST: {reason}.") from None
    else:
        with open_arrays(path) as arrays:
            array = next(
                (array for read in arrays.values() if (array := read()).ndim == 4), np.zeros(0)
            )
    if array.ndim != 4 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{path} holds no numbers of the shape (20, n, 64, 64), as Moving MNIST does."
        )
    return array
