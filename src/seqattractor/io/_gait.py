"""Gait silhouettes from the user's own copy of the OU-ISIR database, or from any folder of frames.

The database may not be passed on, so nothing of it is here. Its download is laid out as
``OULP-C1V1_NormalizedSilhouette(88x128)/Seq00/<subject>/00000017.png``, with seven digits for a subject and
frame numbers that need not start at 1.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._formats import FORMATS
from seqattractor.io._pictures import read_still
from seqattractor.sequences import Sequences, binarize

SILHOUETTES = "OULP-C1V1_NormalizedSilhouette(88x128)"


def load_gait(
    folder: str | Path,
    *,
    subject: str | int | None = None,
    sequence: str = "Seq00",
    n_frames: int | None = 103,
    threshold: float = 127,
) -> Sequences:
    """Read one silhouette sequence, as the paper learns in section 6.3.

    Parameters
    ----------
    folder : path
        The folder of the whole download, its silhouette folder, one of ``Seq00``/``Seq01`` in it, or any
        folder that holds the pictures of one sequence.
    subject : str or int, optional
        The number of the subject. By default the first one who has `n_frames` frames.
    sequence : str, default="Seq00"
        Which recording of the subject.
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
    files = _frames_of(Path(folder), subject, sequence, n_frames)
    frames = _read(files[:n_frames])
    X = binarize(frames, threshold)
    return Sequences(X, frame_shape=frames.shape[1:], names=[files[0].parent.name], kind="pictures")


def _pictures(folder: Path) -> list[Path]:
    """The pictures in a folder in the order of their numbers (of their names where these are not numbers)."""
    pictures = [path for path in folder.iterdir() if path.suffix.lower() in FORMATS["pictures"].suffixes]
    return sorted(pictures, key=lambda path: (int(path.stem) if path.stem.isdigit() else 0, path.stem))


def _subject_folders(folder: Path, sequence: str) -> list[Path]:
    """The folders of all subjects, wherever in the layout `folder` stands."""
    for place in (folder / SILHOUETTES / sequence, folder / sequence, folder):
        if place.is_dir():
            subjects = sorted(path for path in place.iterdir() if path.is_dir() and path.name.isdigit())
            if subjects:
                return subjects
    return []


def _frames_of(folder: Path, subject: str | int | None, sequence: str, n_frames: int | None) -> list[Path]:
    """The files of the sequence in order of time; at least `n_frames` of them."""
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}.")
    candidates = _subject_folders(folder, sequence) or [folder]
    if subject is not None:
        if not str(subject).isdigit():
            raise ValueError(f"a subject must be a number, but it is {subject!r}.")
        candidates = [path for path in candidates if path.name.isdigit() and int(path.name) == int(subject)]
        if not candidates:
            raise ValueError(f"{folder} has no subject {subject} in {sequence}.")
    longest = 0
    for candidate in candidates:
        files = _pictures(candidate)
        longest = max(longest, len(files))
        if len(files) >= max(n_frames or 2, 2):
            return files
    if longest == 0:
        raise ValueError(f"{folder} holds no pictures: give the folder that contains {SILHOUETTES}, or one of frames.")
    raise ValueError(
        f"no sequence in {folder} has {n_frames or 2} frames, the longest has {longest}; ask for fewer (n_frames), "
        "or learn them with `seqattractor learn`."
    )


def _read(files: list[Path]) -> NDArray[np.uint8]:
    """Grey pictures of one size, shape (T, height, width)."""
    frames = [read_still(path) for path in files]
    for path, frame in zip(files, frames, strict=True):
        if frame.shape != frames[0].shape:
            raise ValueError(
                f"{path} has the size {frame.shape}, but {files[0].name} has {frames[0].shape} "
                "(height, width); all frames of a sequence must have one size."
            )
    return np.stack(frames)
