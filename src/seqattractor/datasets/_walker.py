"""A walking figure in silhouette, the stand-in for the paper's gait sequence.

Joint angles over one stride give a skeleton, each bone is a tapered capsule, and the silhouette is
their union. The figure walks on the spot, as in size-normalised gait silhouettes, seen from its
right-hand side.
"""

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, is_count, say
from seqattractor.sequences import Sequences

FRAME_SHAPE = (128, 88)  # rows, columns: the paper's "88 x 128"
N_FRAMES = 103
N_STRIDES = (
    3  # 3 and 103 have no common divisor, so no two frames show the same phase of the stride
)

# Joint angles in degrees at 0, 5, ..., 95 % of a stride, from heel strike on; flexion is positive.
HIP = [29, 28, 26, 23, 19, 14, 9, 4, -1, -6, -9, -8, -2, 8, 18, 26, 31, 33, 32, 30]
KNEE = [5, 11, 16, 18, 16, 12, 8, 6, 6, 9, 17, 30, 46, 57, 59, 52, 39, 24, 10, 4]
ANKLE = [0, -4, -4, 0, 3, 5, 7, 8, 9, 8, 3, -7, -15, -12, -5, 0, 2, 2, 1, 1]
ELBOW = [9, 9, 10, 11, 13, 16, 19, 22, 25, 27, 28, 27, 25, 23, 20, 17, 14, 12, 10, 9]

# Lengths in pixels, in the proportions of an adult 119 pixels high.
THIGH, SHANK, ANKLE_HEIGHT, HEEL, FOOT = 29.0, 28.5, 3.6, 3.6, 10.5
TRUNK, NECK, UPPER_ARM, FOREARM, HAND = 34.5, 12.5, 20.0, 16.5, 5.0
GROUND = 125.0  # the row of the soles
HIP_COLUMN = 39.0

Point = NDArray[np.float64]
Bone = tuple[Point, Point, float, float]  # both ends (row, column) and the half-width at each


def walker(n_frames: int = N_FRAMES, *, shrink: int = 1) -> Sequences:
    """Draw a walking figure: 103 distinct silhouettes in a closed loop of three strides.

    Length and frame size are those of the gait sequence in section 6.3 of the paper. The three
    strides differ a little, as a person's do. The loop is closed by its first frame, as row 104;
    that step is like all others.

    Parameters
    ----------
    n_frames : int, default=103
        Up to 34 frames are of one stride, evenly spaced; more are of all three. At most 103.
    shrink : {1, 2, 4}
        By how much each side of a frame is shorter than 128 x 88 pixels.

    Returns
    -------
    Sequences
        One loop, of shape (n_frames + 1, 128 * 88 / shrink**2), of frames (128 / shrink, 88 /
        shrink): +1 is figure and -1 background.

    Examples
    --------
    >>> from seqattractor.datasets import walker
    >>> X = walker()
    >>> X
    Sequences: 1 loop of 104 patterns, 88 x 128 pixels
    >>> X.frames[0].shape, walker(24, shrink=2).frames[0].shape
    ((128, 88), (64, 44))
    """
    if check_count(n_frames, "n_frames") > N_FRAMES:
        raise ValueError(f"the walk has {N_FRAMES} frames, fewer than the {n_frames} asked for.")
    if not is_count(shrink) or shrink not in (1, 2, 4):
        raise ValueError(f"shrink must be 1, 2 or 4, but it is {say(shrink)}.")
    n_frames, shrink = int(n_frames), int(shrink)
    span = N_FRAMES / N_STRIDES if n_frames <= N_FRAMES // N_STRIDES else N_FRAMES
    places = np.floor(np.arange(n_frames) * span / n_frames).astype(int)
    frames = np.stack([_silhouette(_skeleton(k / N_FRAMES)) for k in places])
    height, width = FRAME_SHAPE[0] // shrink, FRAME_SHAPE[1] // shrink
    covered = frames.reshape(n_frames, height, shrink, width, shrink).mean(axis=(2, 4))
    X = np.where(covered.reshape(n_frames, -1) >= 0.5, 1, -1).astype(np.int8)
    return Sequences(
        np.concatenate([X, X[:1]]),
        frame_shape=(height, width),
        names=["walker"],
        kind="pictures",
        closed=1,
    )


def _angle(table: list[int], phase: float) -> float:
    """Return the smooth periodic curve through a table of angles, at a phase (1 = one stride), in
    radians.
    """
    coefficients = np.fft.rfft(np.asarray(table, dtype=np.float64)) / len(table)
    harmonics = np.arange(1, 8)  # the higher ones only carry the rounding of the table
    waves = np.exp(2j * np.pi * harmonics * phase)
    return float(
        np.deg2rad(coefficients[0].real + 2 * (coefficients[harmonics] * waves).real.sum())
    )


def _from(start: Point, angle: float, length: float) -> Point:
    """Return the point `length` away from `start`; angle 0 points down, positive angles forward (to
    the right).
    """
    return _beside(start, length * np.cos(angle), length * np.sin(angle))


def _beside(start: Point, down: float, forward: float) -> Point:
    """Return the point a few pixels away from `start`."""
    return np.array([start[0] + down, start[1] + forward])


def _leg(hip: Point, phase: float, stride: float) -> list[Bone]:
    """Thigh, calf, heel and foot of one leg."""
    thigh = stride * _angle(HIP, phase)
    shank = thigh - _angle(KNEE, phase)
    sole = shank + _angle(ANKLE, phase) + np.pi / 2  # the foot is at right angles to the shank
    knee = _from(hip, thigh, THIGH)
    ankle = _from(knee, shank, SHANK)
    calf = _from(knee, shank - 0.12, 0.35 * SHANK)
    below = _from(ankle, sole - np.pi / 2, ANKLE_HEIGHT)
    heel = _from(below, sole + np.pi, HEEL)
    ball = _from(below, sole, FOOT)
    toes = _from(ball, min(sole, np.pi / 2 + 0.12), 4.0)  # the toes stay flat while the heel lifts
    return [
        (hip, knee, 8.2, 5.4),
        (knee, calf, 5.2, 5.0),
        (calf, ankle, 5.0, 2.9),
        (ankle, heel, 3.0, 2.6),
        (heel, ball, 2.6, 2.3),
        (ankle, ball, 2.8, 2.2),
        (ball, toes, 2.3, 1.8),
    ]


def _arm(shoulder: Point, phase: float, swing: float, lean: float) -> list[Bone]:
    """Upper arm, forearm and hand of one arm; it swings with the leg of the other side."""
    upper = lean + np.deg2rad(-6.0) + swing * np.deg2rad(29.0) * np.cos(2 * np.pi * (phase - 0.52))
    lower = upper + _angle(ELBOW, phase)
    elbow = _from(shoulder, upper, UPPER_ARM)
    wrist = _from(elbow, lower, FOREARM)
    return [
        (shoulder, elbow, 4.3, 3.3),
        (elbow, wrist, 3.3, 2.2),
        (wrist, _from(wrist, lower + 0.15, HAND), 2.4, 2.2),
    ]


def _skeleton(turn: float) -> list[Bone]:
    """Return all bones of the figure at a place on the closed loop (0 <= turn < 1), standing on the
    ground.
    """
    phase = N_STRIDES * turn
    drift = np.sin(2 * np.pi * turn), np.cos(2 * np.pi * turn)
    stride, swing = 1.0 + 0.08 * drift[0], 1.0 + 0.18 * drift[1]
    lean = np.deg2rad(3.5 + 2.5 * drift[1] + 1.0 * np.cos(4 * np.pi * phase))

    hip = np.array([0.0, HIP_COLUMN])
    sway = 1.4 * np.cos(2 * np.pi * phase)  # the pelvis turns with the legs
    right, left = _beside(hip, 0, sway), _beside(hip, 0.0, -sway)
    chest = _from(hip, np.pi - lean, 0.72 * TRUNK)
    shoulders = _from(hip, np.pi - lean, TRUNK)
    nod = lean + np.deg2rad(6.0 + 4.0 * drift[0])
    head = _from(shoulders, np.pi - nod, NECK)
    bones = [
        *_leg(right, phase, stride),
        *_leg(left, phase + 0.5, stride),
        *_arm(_beside(shoulders, 2.0, 0.6 * sway), phase, swing, lean),
        *_arm(_beside(shoulders, 2.0, -0.6 * sway), phase + 0.5, swing, lean),
        (_beside(hip, -1.0, -0.5), chest, 8.4, 9.2),
        (chest, _beside(shoulders, 2.5, 0.0), 9.2, 6.2),
        (shoulders, head, 4.0, 4.2),
        (_beside(head, -1.8, -0.8), _beside(head, 2.0, 0.8), 7.0, 6.2),
        (_beside(head, 0.6, 6.6), _beside(head, 1.6, 7.4), 1.2, 0.9),
    ]
    lowest = max(max(a[0] + ra, b[0] + rb) for a, b, ra, rb in bones)
    shift = np.array([GROUND - lowest, 0.0])
    return [(a + shift, b + shift, ra, rb) for a, b, ra, rb in bones]


def _silhouette(bones: list[Bone]) -> NDArray[np.bool_]:
    """Return the picture of shape (128, 88) that is true wherever some bone covers the centre of
    the pixel.
    """
    everywhere = np.indices(FRAME_SHAPE, dtype=np.float64)
    picture = np.zeros(FRAME_SHAPE, dtype=bool)
    for a, b, ra, rb in bones:
        axis, reach = b - a, max(ra, rb)
        low = np.maximum(np.floor(np.minimum(a, b) - reach), 0).astype(int)
        high = np.maximum(np.ceil(np.maximum(a, b) + reach) + 1, 0).astype(int)
        near = slice(low[0], high[0]), slice(low[1], high[1])  # the bone covers no pixel elsewhere
        rows, columns = everywhere[(slice(None), *near)]
        along = ((rows - a[0]) * axis[0] + (columns - a[1]) * axis[1]) / max(
            float(axis @ axis), 1e-12
        )
        along = np.clip(along, 0.0, 1.0)
        distance = np.hypot(rows - a[0] - along * axis[0], columns - a[1] - along * axis[1])
        picture[near] |= distance <= ra + (rb - ra) * along
    return picture
