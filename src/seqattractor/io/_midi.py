"""Music as on/off notes: reading and writing Standard MIDI Files (format 0 and 1) as a piano
roll.
"""

from __future__ import annotations

import os
import struct
from collections import defaultdict, deque
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from seqattractor._checks import check_count, check_positive, reject_masked
from seqattractor._files import atomic_write
from seqattractor.io._options import Options, TooLargeError
from seqattractor.io._recording import Recording, check_room
from seqattractor.sequences._columns import note_name

MAX_BYTES = 2**23
LONGEST_PAUSE = 2**28  # ticks: four bytes of seven bits
DRUMS = 9  # channel 10 counted from 1: percussion by convention, without pitch
STEPS = (
    1.0,
    0.5,
    1 / 3,
    0.25,
    1 / 6,
    0.125,
    1 / 12,
    0.0625,
)  # of a quarter note: the grids that are tried
TICKS = 480  # in a quarter note, in files that we write
DEFAULT_TEMPO = 500_000  # microseconds in a quarter note, the standard's default
VELOCITY = 80


class Note(NamedTuple):
    """A note, with its start and end in ticks."""

    pitch: int
    start: int
    end: int


class Score(NamedTuple):
    """The notes of a file, the ticks in a quarter note, and its first tempo in microseconds for a
    quarter note.
    """

    notes: list[Note]
    ticks: int
    tempo: int


def read_midi(path: Path, options: Options) -> Recording:
    """Read a MIDI file as a piano roll with one column for each pitch from the lowest to the
    highest.
    """
    if path.stat().st_size > MAX_BYTES:
        raise TooLargeError(
            f"{path} has {path.stat().st_size / 1e6:.0f} MB, more than any MIDI file needs."
        )
    try:
        score = parse_midi(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as MIDI: {error}") from None
    if not score.notes:
        raise ValueError(f"{path} has no notes (percussion on channel 10 is left out).")
    step = options.step or _find_step(score)
    width = score.ticks * step
    pitches = range(
        min(note.pitch for note in score.notes), max(note.pitch for note in score.notes) + 1
    )
    notes = np.array(score.notes, dtype=np.float64)
    with np.errstate(over="ignore", divide="ignore"):
        n_steps = int(min(notes[:, 2].max() / width, 2.0**62)) + 1 if width else 2**62
    check_room(n_steps, n_steps * len(pitches), path)
    starts, ends = (np.round(notes[:, column] / width).astype(np.int64) for column in (1, 2))
    ends = np.maximum(starts + 1, ends)
    # +1 where a note starts and -1 where it ends: notes on top of each other cost no more than one.
    changes = np.zeros((int(ends.max()) + 1, len(pitches)), dtype=np.int32)
    columns = notes[:, 0].astype(np.int64) - pitches[0]
    np.add.at(changes, (starts, columns), 1)
    np.add.at(changes, (ends, columns), -1)
    roll = (np.cumsum(changes, axis=0, dtype=np.int32)[:-1] > 0).astype(np.uint8)
    rate = 1e6 / (score.tempo * step)
    return Recording(
        [roll], "music", [path.stem], units=[note_name(p) for p in pitches], rate=rate, step=step
    )


def write_midi(
    path: str | os.PathLike[str],
    roll: ArrayLike,
    pitches: Iterable[int],
    *,
    step: float = 1.0,
    rate: float | None = None,
) -> None:
    """Write a piano roll as a MIDI file; a note that stays on over several steps is one long note.

    Parameters
    ----------
    path : str or path
    roll : array of shape (T, N)
        A note sounds where the value is above 0.
    pitches : int, N of them
        The MIDI number of each column, 0 to 127 (60 is the middle C).
    step : float
        How many quarter notes a row lasts.
    rate : float, optional
        Rows per second; by default 2 quarter notes per second.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tune.mid"
    >>> write_midi(path, [[1, 0], [1, 0], [0, 1]], [60, 64])
    >>> parse_midi(path.read_bytes()).notes
    [Note(pitch=60, start=0, end=960), Note(pitch=64, start=960, end=1440)]
    """
    reject_masked(roll, "roll")
    if not isinstance(pitches, Iterable):
        raise TypeError(
            f"pitches must be a list of MIDI numbers, one for each column, but it is {pitches!r}."
        )
    values, keys = np.asarray(roll), [check_count(pitch, "a pitch", 0) for pitch in pitches]
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"a piano roll holds numbers, but this one holds values of type {values.dtype}."
        )
    on = values > 0
    if on.ndim != 2 or on.shape[1] != len(keys) or not on.size or max(keys) > 127:
        raise ValueError(
            "a piano roll has at least one row, and one column for each pitch; pitches are MIDI "
            f"numbers from 0 to 127, but the roll has the shape {on.shape} and there are "
            f"{len(keys)} pitches."
        )
    quarters = check_positive(step, "step")
    tempo = (
        DEFAULT_TEMPO
        if rate is None
        else round(min(1e6 / (check_positive(rate, "rate") * quarters), 2**24))
    )
    if len(on) * quarters * TICKS >= LONGEST_PAUSE:
        raise ValueError(
            f"{len(on)} rows of {quarters:g} quarter notes are too long for a MIDI file; give a "
            "smaller step."
        )
    data = bytearray(b"\x00\xff\x51\x03" + min(max(tempo, 1), 2**24 - 1).to_bytes(3, "big"))
    last = 0
    for t, change in enumerate(np.diff(on.astype(np.int8), axis=0, prepend=0, append=0)):
        now = round(t * quarters * TICKS)
        for value, status, velocity in ((-1, 0x80, 0), (1, 0x90, VELOCITY)):  # ends before starts
            for column in np.flatnonzero(change == value).tolist():
                data += _variable(now - last) + bytes((status, keys[column], velocity))
                last = now
    data += b"\x00\xff\x2f\x00"
    with atomic_write(path) as file:
        file.write(
            b"MThd"
            + struct.pack(">IHHH", 6, 0, 1, TICKS)
            + b"MTrk"
            + struct.pack(">I", len(data))
            + bytes(data)
        )


def parse_midi(data: bytes) -> Score:
    """Read the notes of a Standard MIDI File; raise ValueError with the reason for a broken one."""
    if data[:4] != b"MThd" or len(data) < 14:
        raise ValueError("it has no MIDI header.")
    size, _, n_tracks, division = struct.unpack(">IHHH", data[4:14])
    if division & 0x8000 or division == 0:
        raise ValueError(
            "its time is counted in film frames, not in quarter notes; save it with beats."
        )
    notes: list[Note] = []
    tempos: list[tuple[int, int]] = []
    at, seen = 8 + size, 0
    while at + 8 <= len(data) and seen < n_tracks:
        name, length = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "big")
        body = data[at + 8 : at + 8 + length]
        if len(body) < length:
            raise ValueError("it is cut short in the middle of a track.")
        if name == b"MTrk":
            _play(body, notes, tempos)
            seen += 1
        at += 8 + length
    if seen < n_tracks:
        raise ValueError(f"it promises {n_tracks} tracks, but holds {seen}.")
    tempo = min(tempos, default=(0, DEFAULT_TEMPO))[1]
    return Score(
        sorted(notes, key=lambda n: (n.start, n.pitch, n.end)), division, tempo or DEFAULT_TEMPO
    )


def _play(track: bytes, notes: list[Note], tempos: list[tuple[int, int]]) -> None:
    """Go through the events of one track and collect notes and tempos."""
    stream = BytesIO(track)

    def take(n: int) -> bytes:
        taken = stream.read(n)
        if len(taken) < n:
            raise ValueError("a track ends in the middle of an event.")
        return taken

    def take_number() -> int:  # of variable length: seven bits in a byte, four bytes at most
        value = 0
        for _ in range(4):
            byte = take(1)[0]
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                return value
        raise ValueError("a track holds a number of more than four bytes.")

    now, status = 0, 0
    sounding: dict[tuple[int, int], deque[int]] = defaultdict(deque)
    while stream.tell() < len(track):
        now += take_number()
        if track[stream.tell() : stream.tell() + 1] >= b"\x80":
            status = take(1)[0]
        if status < 0x80:
            raise ValueError("a track starts with data that belong to no event.")
        if status in (0xF0, 0xF7):  # system exclusive
            take(take_number())
        elif status == 0xFF:
            kind, content = take(1)[0], take(take_number())
            if kind == 0x51 and len(content) == 3:
                tempos.append((now, int.from_bytes(content, "big")))
            if kind == 0x2F:  # end of track
                break
        elif status > 0xF0:
            raise ValueError(f"there is an event {status:#x} that files do not have.")
        else:
            kind, channel = status & 0xF0, status & 0x0F
            pitch, velocity = take(1)[0], 0 if kind in (0xC0, 0xD0) else take(1)[0]
            if channel == DRUMS or kind not in (0x80, 0x90):
                continue
            if pitch > 127:
                raise ValueError(f"there is a note {pitch}, above the highest, 127.")
            if kind == 0x90 and velocity:
                sounding[channel, pitch].append(now)
            elif sounding[channel, pitch]:
                start = sounding[channel, pitch].popleft()
                notes.append(Note(pitch, start, max(now, start + 1)))
    for (_, pitch), starts in sounding.items():  # notes that were never ended
        notes.extend(Note(pitch, start, max(now, start + 1)) for start in starts)


def _variable(value: int) -> bytes:
    """Write a number of variable length."""
    out = [value & 0x7F]
    while value := value >> 7:
        out.append(value & 0x7F | 0x80)
    return bytes(reversed(out))


def _find_step(score: Score) -> float:
    """Return the coarsest grid on which nearly all notes start, in quarter notes; a sixteenth where
    none fits.
    """
    starts = np.array([note.start for note in score.notes]) / score.ticks
    fitting = (
        step
        for step in STEPS
        if np.mean(np.abs(starts / step - np.round(starts / step)) > 0.1) <= 0.01
    )
    return next(fitting, 0.25)
