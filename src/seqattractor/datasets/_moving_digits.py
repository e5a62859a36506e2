"""Moving digits as in the Moving MNIST set (Srivastava, Mansimov and Salakhutdinov, 2015), by
default scikit-learn's digits.
"""

from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import as_numbers, check_count, check_memory
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, Sequences
from seqattractor.sequences._transitions import without_conflicts

STEP = 0.1  # of the free canvas, in each time step
BOX, GLYPH = 28, 20  # MNIST's: a digit of 20 x 20 pixels centred in a box of 28 x 28
MAX_REDRAWS = 1000


def moving_digits(
    n_sequences: int = 20,
    length: int = 20,
    size: int = 64,
    n_digits: int = 2,
    *,
    digits: ArrayLike | None = None,
    rng: Seed = 0,
) -> Sequences:
    """Draw sequences of digits that move over a dark canvas and bounce off its walls.

    Each digit starts anywhere in a random direction and moves a tenth of the free canvas in each
    step. A sequence in which some frame would have two successors (within it, or in an earlier
    sequence) is drawn again.

    Parameters
    ----------
    n_sequences, length : int
        How many sequences, and how many frames in each.
    size : int, default=64
        Width and height of a frame.
    n_digits : int, default=2
        How many digits move in each sequence.
    digits : array of shape (n, height, width), optional
        Grey images of digits to use instead of scikit-learn's, for example those of MNIST.
    rng : int, Generator or None, default=0
        Chooses the digits and their motion.

    Returns
    -------
    Sequences
        Of shape (n_sequences * length, size * size): +1 is digit and -1 canvas. A frame has the
        shape (size, size).

    Examples
    --------
    >>> from seqattractor.datasets import moving_digits
    >>> moving_digits(n_sequences=3, length=5)
    Sequences: 3 sequences of 5 patterns, 64 x 64 pixels
    """
    glyphs = _small_digits() if digits is None else _check_digits(digits)
    n_sequences, n_digits = (
        check_count(n_sequences, "n_sequences"),
        check_count(n_digits, "n_digits"),
    )
    size, length = check_count(size, "size"), check_count(length, "length", 2)
    what = f"a set of {n_sequences} sequences of {length} frames of {size} x {size} pixels"
    check_memory(length * size**2 * (n_sequences + 8), what)
    if size <= max(glyphs.shape[1:]):
        raise ValueError(
            f"size must exceed the {max(glyphs.shape[1:])} pixels of a digit, but it is {size}."
        )

    generator = as_generator(rng, "digits")
    drawn = (
        _sequence(glyphs, length, size, n_digits, generator)
        for _ in range(n_sequences + MAX_REDRAWS)
    )
    sequences = list(islice(without_conflicts(drawn), n_sequences))
    if len(sequences) < n_sequences:
        raise ValueError(
            f"{MAX_REDRAWS} sequences were drawn again because a frame had two successors; "
            "ask for fewer or shorter sequences, or a larger canvas."
        )
    return Sequences(
        np.concatenate(sequences),
        np.full(n_sequences, length),
        frame_shape=(size, size),
        kind="pictures",
    )


@cache
def _small_digits() -> NDArray[np.float64]:
    """scikit-learn's 1,797 digits, enlarged smoothly and centred in a box, shape (1797, 28, 28)."""
    from scipy.ndimage import zoom
    from sklearn.datasets import load_digits

    small = load_digits().images / 16.0
    large = zoom(small, (1, GLYPH / 8, GLYPH / 8), order=3, mode="grid-constant", grid_mode=True)
    margin = (BOX - GLYPH) // 2
    framed: NDArray[np.float64] = np.pad(large, ((0, 0), (margin, margin), (margin, margin)))
    framed.flags.writeable = False  # shared by all callers
    return framed


def _check_digits(digits: ArrayLike) -> NDArray[np.float64]:
    """Scale images to at most 1 and check that there are some."""
    images = as_numbers(digits, "digits").astype(np.float64)
    if images.ndim != 3 or images.size == 0:
        raise ValueError(
            f"digits must be images of shape (n, height, width), but the shape is {images.shape}."
        )
    if not np.isfinite(images).all():
        raise ValueError("digits must be finite, but some pixels are not.")
    if not images.max() > 0:
        raise ValueError("digits must have pixels above 0, but all images are dark.")
    return np.asarray(images / images.max())


def wandering(length: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return where a bouncing digit is, as fractions (row, column) of the free canvas, shape
    (length, 2).
    """
    position = rng.random(2)
    direction = rng.uniform(0.0, 2.0 * np.pi)
    velocity = STEP * np.array([np.sin(direction), np.cos(direction)])
    path = np.empty((length, 2))
    for t in range(length):
        position = position + velocity
        hit = (position <= 0.0) | (position >= 1.0)
        position = np.clip(position, 0.0, 1.0)
        velocity = np.where(hit, -velocity, velocity)
        path[t] = position
    return path


def _sequence(
    glyphs: NDArray[np.float64], length: int, size: int, n_digits: int, rng: np.random.Generator
) -> Patterns:
    """Return one sequence, shape (length, size * size), of +-1; where digits meet, the brighter
    pixel shows.
    """
    height, width = glyphs.shape[1:]
    canvas = np.zeros((length, size, size))
    for _ in range(n_digits):
        glyph = glyphs[rng.integers(len(glyphs))]
        corners = (wandering(length, rng) * [size - height, size - width]).astype(np.int64)
        for frame, (row, column) in zip(canvas, corners, strict=True):
            patch = frame[row : row + height, column : column + width]
            np.maximum(patch, glyph, out=patch)
    return np.where(canvas.reshape(length, -1) > 0.5, 1, -1).astype(np.int8)
