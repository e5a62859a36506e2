"""Read people's files in a subprocess with limits of memory and time.

A picture of a few kilobytes can keep a decoder busy for hours, or crash it. The subprocess answers
with JSON and bits, never with objects: whatever a file does to it, the caller gets patterns or a
message.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import IO, Any

import numpy as np

from seqattractor._children import python_command
from seqattractor._files import named_path
from seqattractor.io._load import NoPicturesError, join, load
from seqattractor.io._options import NoEpochsError, Terms, TooLargeError, on_terms, shrink_it
from seqattractor.io._recording import MAX_VALUES
from seqattractor.sequences import Sequences
from seqattractor.sequences._patterns import as_signs

MAX_LINE = 2**26  # bytes of JSON in an answer: names of units and sequences
_KINDS = (
    ValueError,
    TypeError,
    OSError,
    FileNotFoundError,
    NoEpochsError,
    NoPicturesError,
    TooLargeError,
)
_ERRORS: dict[str, type[Exception]] = {kind.__name__: kind for kind in _KINDS}
_PROGRAM = "import json; job = json.load(sys.stdin.buffer); from {} import work; work(job)"
_THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_running: set[subprocess.Popen[bytes]] = set()
_lock = threading.Lock()


@dataclass(frozen=True)
class Bounds:
    """How long a file may be read, and how much memory that may take."""

    seconds: float = 600.0  # per file, of time that passes and of work
    memory: int = 2**32
    """Bytes, where the system can limit them (Linux); elsewhere the limits of sizes and of time
    hold.
    """


def load_in_subprocess(
    paths: Sequence[str | os.PathLike[str]],
    options: dict[str, Any],
    *,
    terms: Terms,
    bounds: Bounds,
    several: bool = True,
) -> Sequences:
    """Read files as `load_all` does, or one as `load` does (`several=False`), in a process with
    bounds.

    Its errors and warnings are passed on. The process ends with this call, whatever happens: Ctrl-C
    too.
    """
    seconds = bounds.seconds * max(1, len(paths))
    job: dict[str, Any] = {
        "paths": [os.fspath(named_path(path)) for path in paths],
        "several": several,
        "options": options,
    }
    job |= {"terms": asdict(terms), "memory": bounds.memory, "seconds": seconds}
    command = python_command(_PROGRAM.format(__name__))
    environment = {
        **os.environ,
        **_THREADS,
        "MALLOC_ARENA_MAX": "2",
    }  # each thread would reserve memory that counts
    with tempfile.TemporaryFile() as answer:
        late = False
        pipes: dict[str, Any] = {
            "stdin": subprocess.PIPE,
            "stdout": answer,
            "stderr": subprocess.DEVNULL,
        }
        process = subprocess.Popen(
            command, **pipes, env=environment, start_new_session=True
        )  # so that ffmpeg ends with it
        try:
            with _lock:
                _running.add(process)
            process.communicate(json.dumps(job).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            _kill(process)
            with suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
            process.wait()
            with _lock:
                _running.discard(process)
        answer.seek(0)
        with on_terms(terms):
            return _understand(
                answer, process.returncode, late, bounds, str(next(iter(paths), "it"))
            )


def stop_reading() -> None:
    """End all processes that read files for this one; their callers get an error at once."""
    with _lock:
        for process in _running:
            _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with all that it started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _understand(answer: IO[bytes], code: int, late: bool, bounds: Bounds, first: str) -> Sequences:
    """Return the sequences of an answer, or raise its error; one that ends early is explained by
    how the process ended.
    """
    path, started = first, False
    while line := answer.readline(MAX_LINE):
        try:
            said = json.loads(line)
        except ValueError:  # cut off in the middle
            break
        if "reading" in said:
            path, started = str(said["reading"]), True
        elif "warning" in said:
            warnings.warn(str(said["warning"]), UserWarning, stacklevel=3)
        elif said.get("error") == "MemoryError":
            raise _too_much_memory(path, bounds)
        elif "error" in said:
            raise _ERRORS.get(said["error"], RuntimeError)(str(said["sentence"]))
        else:
            return _sequences(said, answer)
    if late or code == -getattr(signal, "SIGXCPU", 0):
        raise TooLargeError(
            f"{path} takes longer than {bounds.seconds:g} seconds to read; {shrink_it()}."
        )
    if code == -getattr(signal, "SIGKILL", 0):
        raise _too_much_memory(path, bounds)
    if not started:
        raise OSError(
            f"the process that should read {path} did not start (exit code {code}); check the "
            "installation of Python."
        )
    raise ValueError(
        f"{path} cannot be read: what decodes it broke down (exit code {code}); it is damaged, so "
        "save it again."
    )


def _too_much_memory(path: str, bounds: Bounds) -> TooLargeError:
    """Return the error of a process that was ended because of its memory."""
    return TooLargeError(
        f"{path} takes more than {bounds.memory / 1e9:.1f} GB of memory to read; {shrink_it()}."
    )


def _sequences(said: dict[str, Any], answer: IO[bytes]) -> Sequences:
    """Unpack the bits behind the last line; they are checked like any input."""
    rows, units = said.pop("rows"), said.pop("columns")
    bits = answer.read(MAX_VALUES // 8 + rows + 1)
    packed = np.frombuffer(bits, dtype=np.uint8).reshape(rows, -(-units // 8))
    patterns = as_signs(np.unpackbits(packed, axis=1, count=units) > 0)
    return Sequences(patterns, **{**said, "lengths": np.array(said["lengths"], dtype=np.int64)})


def work(job: dict[str, Any]) -> None:
    """Read files in the subprocess, and write the answer to what was its standard output."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), 1
        )  # a library that prints must not disturb the answer

        def answer(**said: Any) -> None:
            out.write(json.dumps(said).encode() + b"\n")
            out.flush()

        _limit(job["memory"], job["seconds"])
        parts = []
        try:
            with warnings.catch_warnings(), on_terms(Terms(**job["terms"])):
                warnings.simplefilter("default")
                warnings.showwarning = lambda message, *_: answer(warning=str(message))
                for path in job["paths"]:
                    answer(reading=path)
                    parts.append(load(path, **job["options"]))
                data = join(job["paths"], parts) if job["several"] else parts[0]
                known = {
                    field.name: getattr(data, field.name)
                    for field in fields(data)
                    if field.name != "patterns"
                }
                bits = np.packbits(data.patterns > 0, axis=1).tobytes()
            known |= {
                "lengths": data.lengths.tolist(),
                "code": None if data.code is None else data.code.to_dict(),
            }
            answer(rows=len(data), columns=data.shape[1], **known)
            out.write(bits)
        except MemoryError:
            parts.clear()  # to free memory for the message
            answer(error="MemoryError")
        except OSError as error:
            sentence = (
                f"{error.filename}: {error.strerror.lower()}."
                if error.filename and error.strerror
                else str(error)
            )
            answer(
                error="FileNotFoundError" if isinstance(error, FileNotFoundError) else "OSError",
                sentence=sentence,
            )
        except Exception as error:
            known_kind = type(error).__name__ in _ERRORS
            answer(
                error=type(error).__name__,
                sentence=str(error) if known_kind else f"{type(error).__name__}: {error}",
            )


def _limit(memory: int, seconds: float) -> None:
    """Let the system end this process when it takes too much memory or time, or writes too much;
    not all systems can.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    # Linux counts in DATA what a process can write to; AS counts libraries and reservations too,
    # hence the allowance.
    limits = {
        "CORE": 0,
        "FSIZE": MAX_VALUES // 8 + MAX_LINE,
        "CPU": int(seconds) + 1,
        "DATA": memory,
        "AS": memory + 2**31,
    }
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        with suppress(OSError, ValueError):
            hard = resource.getrlimit(kind)[1]
            resource.setrlimit(
                kind, (most, most) if hard == resource.RLIM_INFINITY else (min(most, hard), hard)
            )
