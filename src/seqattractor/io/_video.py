"""Video through ffmpeg, which the extra `video` brings: ``pip install "seqattractor[video]"``."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
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
    """Find the program, or say how to get it."""
    try:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise ValueError('videos need ffmpeg; install it with: pip install "seqattractor[video]".') from None


def read_video(path: Path, options: Options) -> Recording:
    """Read the frames of a video as grey values or in colour."""
    broken = ValueError(f"{path} cannot be read as a video; it is damaged, cut short, or unknown to ffmpeg.")
    # Only this file may be opened, and only as what its name says: a playlist under the name of a video must not make ffmpeg
    # read other files or the network.
    # yuv4mpeg is plain frames behind one line that tells their size and rate, after any rotation.
    kinds = DEMUXERS.get(path.suffix.lower(), ",".join(dict.fromkeys(DEMUXERS.values())))
    guard = ["-protocol_whitelist", "file,pipe", "-format_whitelist", kinds, "-threads", THREADS]
    source = [*guard, "-xerror", "-i", f"file:{path}"]
    budget = Budget(ALLOWANCE)
    with _running(*source, "-an", "-f", "yuv4mpegpipe", "-pix_fmt", "gray", "-strict", "-1", "pipe:1") as process:
        assert process.stdout is not None
        line = process.stdout.readline(LONGEST_LINE)
        header = re.match(rb"YUV4MPEG2 W(\d+) H(\d+) F(\d+):(\d+) ", line)
        if header is None:
            raise broken
        width, height, above, below = (int(group) for group in header.groups())

        def collected(decoded: Iterator[NDArray[Any]]) -> NDArray[Any]:
            return collect_frames(_counted(decoded, lambda: budget.spend(path, width, height)), options, path)

        frames = None if options.colour else collected(_frames(process, width, height, broken))
    if frames is None:  # yuv4mpeg has no red, green and blue; its header has told the size of plain ones
        with _running(*source, "-an", "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1") as process:
            frames = collected(_colour_frames(process, width, height, broken))
    rate = above / below if above and below else None
    return Recording([frames], "pictures", [path.stem], rate=rate, value_range=BRIGHTNESS)


def _counted(frames: Iterator[NDArray[Any]], count: Callable[[], None]) -> Iterator[NDArray[Any]]:
    """Count each frame before it is read."""
    count()
    for frame in frames:
        yield frame
        count()


def write_video(path: Path, frames: list[NDArray[np.uint8]], rate: float) -> None:
    """Write colour frames, each (height, width, 3) with even sides, as a video."""
    height, width = frames[0].shape[:2]
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{rate:g}", "-i", "pipe:0"]
    with _running("-y", *source, "-c:v", "libx264", "-pix_fmt", "yuv420p", f"file:{path}") as process:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # if ffmpeg gives up, its exit code says so
            for frame in frames:
                process.stdin.write(np.ascontiguousarray(frame).tobytes())
            process.stdin.close()
        if process.wait() != 0:
            raise OSError(f"ffmpeg could not write {path}.")


@contextmanager
def _running(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run ffmpeg with pipes; it does not outlive the block."""
    command = [ffmpeg(), "-v", "error", *([] if "pipe:0" in arguments else ["-nostdin"]), *arguments]
    into, out = (subprocess.PIPE if pipe in arguments else subprocess.DEVNULL for pipe in ("pipe:0", "pipe:1"))
    # When the pipes are closed, their other end may be gone.
    with suppress(BrokenPipeError), subprocess.Popen(command, stdin=into, stdout=out, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def _frames(process: subprocess.Popen[bytes], width: int, height: int, broken: ValueError) -> Iterator[NDArray[Any]]:
    """Go through the frames, each of shape (height, width); an end that ffmpeg complains about is an error."""
    assert process.stdout is not None
    while line := process.stdout.readline(LONGEST_LINE):
        data = process.stdout.read(width * height)
        if not line.startswith(b"FRAME") or len(data) < width * height:
            raise broken
        yield np.frombuffer(data, dtype=np.uint8).reshape(height, width)
    if process.wait() != 0:
        raise broken


def _colour_frames(process: subprocess.Popen[bytes], width: int, height: int, broken: ValueError) -> Iterator[NDArray[Any]]:
    """Go through the frames, each of shape (height, width, 3)."""
    assert process.stdout is not None
    while data := process.stdout.read(3 * width * height):
        if len(data) < 3 * width * height:
            raise broken
        yield np.frombuffer(data, dtype=np.uint8).reshape(height, width, 3)
    if process.wait() != 0:
        raise broken
