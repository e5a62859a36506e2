"""Video through ffmpeg, which the extra `video` brings: ``pip install "seqattractor[video]"``."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import Budget, Options
from seqattractor.io._pictures import BRIGHTNESS
from seqattractor.io._recording import Recording, collect_frames

LONGEST_LINE = 4096
ALLOWANCE = 32  # times the pixels of pictures: a video has many frames, and ffmpeg is quick
THREADS = "4"  # more take memory, and a worker process has little
DEMUXERS = {
    **dict.fromkeys((".mp4", ".m4v", ".mov"), "mov,mp4,m4a,3gp,3g2,mj2"),
    **dict.fromkeys((".mkv", ".webm"), "matroska,webm"),
    **dict.fromkeys((".mpg", ".mpeg"), "mpeg,mpegts,mpegvideo"),
    **{".avi": "avi", ".ogv": "ogg", ".wmv": "asf"},
}


def ffmpeg() -> str:
    """Return the path of the program; without it, raise an error that explains how to install
    it.
    """
    try:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise ValueError(
            'videos need ffmpeg; install it with: pip install "seqattractor[video]".'
        ) from None


def read_video(path: Path, options: Options) -> Recording:
    """Read the frames of a video as grey values or in colour."""
    broken = ValueError(
        f"{path} cannot be read as a video; it is damaged, cut short, or unknown to ffmpeg."
    )
    # Only this file may be opened, in the format of its ending: a playlist under the name of a
    # video must not make ffmpeg read other files or the network.
    kinds = DEMUXERS.get(path.suffix.lower(), ",".join(dict.fromkeys(DEMUXERS.values())))
    guard = ["-protocol_whitelist", "file,pipe", "-format_whitelist", kinds, "-threads", THREADS]
    source = [*guard, "-xerror", "-i", f"file:{path}", "-an"]
    # The header of yuv4mpeg is one line with the size and the rate of frames, after any rotation.
    with _running(
        *source, "-f", "yuv4mpegpipe", "-pix_fmt", "gray", "-strict", "-1", "pipe:1"
    ) as process:
        assert process.stdout is not None
        header = re.match(
            rb"YUV4MPEG2 W(\d+) H(\d+) F(\d+):(\d+) ", process.stdout.readline(LONGEST_LINE)
        )
    if header is None:
        raise broken
    width, height, above, below = (int(group) for group in header.groups())
    shape = (height, width, 3) if options.colour else (height, width)
    budget = Budget(ALLOWANCE)
    with _running(
        *source, "-f", "rawvideo", "-pix_fmt", "rgb24" if options.colour else "gray", "pipe:1"
    ) as process:
        frames = collect_frames(
            _frames(process, shape, lambda: budget.spend(path, width, height), broken),
            options,
            path,
        )
    rate = above / below if above and below else None
    return Recording([frames], "pictures", [path.stem], rate=rate, value_range=BRIGHTNESS)


def _frames(
    process: subprocess.Popen[bytes],
    shape: tuple[int, ...],
    count: Callable[[], None],
    broken: ValueError,
) -> Iterator[NDArray[Any]]:
    """Yield the frames, each counted before it is read; an end that ffmpeg complains about is an
    error.
    """
    assert process.stdout is not None
    size = prod(shape)
    while True:
        count()
        data = process.stdout.read(size)
        if not data:
            break
        if len(data) < size:
            raise broken
        yield np.frombuffer(data, dtype=np.uint8).reshape(shape)
    if process.wait() != 0:
        raise broken


def write_video(path: Path, frames: list[NDArray[np.uint8]], rate: float) -> None:
    """Write colour frames, each (height, width, 3) with even sides, as a video."""
    height, width = frames[0].shape[:2]
    source = [
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        f"{width}x{height}",
        "-r",
        f"{rate:g}",
        "-i",
        "pipe:0",
    ]
    with _running(
        "-y", *source, "-c:v", "libx264", "-pix_fmt", "yuv420p", f"file:{path}"
    ) as process:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # if ffmpeg gives up, its exit code shows it
            for frame in frames:
                process.stdin.write(np.ascontiguousarray(frame).tobytes())
            process.stdin.close()
        if process.wait() != 0:
            raise OSError(f"ffmpeg could not write {path}.")


@contextmanager
def _running(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run ffmpeg with pipes; it does not outlive the block."""
    command = [
        ffmpeg(),
        "-v",
        "error",
        *([] if "pipe:0" in arguments else ["-nostdin"]),
        *arguments,
    ]
    into, out = (
        subprocess.PIPE if pipe in arguments else subprocess.DEVNULL
        for pipe in ("pipe:0", "pipe:1")
    )
    # When the pipes are closed, their other end may be gone.
    with (
        suppress(BrokenPipeError),
        subprocess.Popen(command, stdin=into, stdout=out, stderr=subprocess.DEVNULL) as process,
    ):
        try:
            yield process
        finally:
            process.kill()
