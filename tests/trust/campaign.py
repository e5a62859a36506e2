"""What the trust campaigns share: every case ends in one verdict, and the counts of a full campaign are kept.

A campaign is a function of a number of cases and a seed. `make test` runs a few cases of each, `make trust` all of them and
keeps what it counted in `tests/trust/results`, from which `table.py` writes the table of docs/trust.rst.
"""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

RESULTS = Path(__file__).parent / "results"


class Hang(BaseException):
    """A case took longer than its limit. Not an Exception, so that no `except Exception` of the package can swallow it."""


@dataclass
class Campaign:
    """The verdicts of one campaign.

    Every case is counted once: `answered` (a right answer), `refused` (one sentence, the right kind of error), or one of the
    three that must not happen: `wrong` (an answer that is not true), `crashes` (any other error), `hangs`.
    """

    name: str
    answered: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    largest_memory: int = 0  # bytes, of this process or of one that it started
    memory_taken: int = 0  # the same, without what earlier tests had left in this process
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        """The number of cases."""
        return self.answered + self.refused + len(self.wrong) + len(self.crashes) + len(self.hangs)

    @contextlib.contextmanager
    def case(
        self, what: str, *, refusals: tuple[type[Exception], ...] = (ValueError, TypeError), seconds: int = 300
    ) -> Iterator[None]:
        """Run one case, in the main thread, and count its verdict.

        The body returns for an answer, raises one of `refusals` for a refusal, or `AssertionError` for an answer that is not
        true. `what` must be enough to run the case again. The limit is far beyond what a case takes on a busy machine.
        """

        def stop(signum: int, frame: FrameType | None) -> None:
            raise Hang(what)

        before = signal.signal(signal.SIGALRM, stop)
        signal.alarm(seconds)
        try:
            yield
        except Hang:
            self.hangs.append(what)
        except AssertionError as error:
            self.wrong.append(f"{what}: {error}")
        except refusals as error:
            self.refuse(what, str(error))
        except Exception as error:  # whatever else escapes is a crash
            self.crashes.append(f"{what}: {type(error).__name__}: {error}")
        else:
            self.answered += 1
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    def refuse(self, what: str, sentence: str) -> None:
        """Count a refusal, if it is one sentence that a person can read."""
        if not sentence.strip() or "\n" in sentence.strip() or "Traceback" in sentence:
            self.crashes.append(f"{what}: not one sentence: {sentence!r}")
        else:
            self.refused += 1

    def finish(self, cases: int, *, keep: bool) -> None:
        """Fail if a case was left out or ended badly; keep the counts of a full campaign."""
        bad = [f"{kind}: {case}" for kind in ("wrong", "crashes", "hangs") for case in getattr(self, kind)]
        assert not bad, f"{len(bad)} of {self.tried} cases of {self.name!r}, the first ten:\n" + "\n".join(bad[:10])
        assert self.tried == cases, f"{self.tried} verdicts for {cases} cases"
        assert self.refused, "a campaign in which nothing is refused tries nothing"
        if keep:
            RESULTS.mkdir(exist_ok=True)
            counts = {
                **{"name": self.name, "tried": self.tried, "answered": self.answered, "refused": self.refused},
                **{"wrong": len(self.wrong), "crashes": len(self.crashes), "hangs": len(self.hangs)},
                **{"largest_memory": self.largest_memory, "seconds": round(self.seconds)},
            }
            (RESULTS / f"{self.name.replace(' ', '_')}.json").write_text(json.dumps(counts, indent=1) + "\n")


@contextlib.contextmanager
def campaign(name: str) -> Iterator[Campaign]:
    """A campaign that watches its time and memory; call `finish` after it."""
    verdicts = Campaign(name)
    start, children = time.monotonic(), _peak_of_children()
    _forget_peak()
    before = _peak()
    with _watched_children() as seen:
        yield verdicts
    verdicts.seconds = time.monotonic() - start
    # What is no more than before was a child of an earlier test. What is no more than this process has may be what this process
    # had when it started the child, since Linux counts that for the child, too; then what was seen of the children counts.
    of_children = _peak_of_children() if _peak_of_children() > max(children, _peak()) else max(seen, default=0)
    verdicts.largest_memory = max(verdicts.largest_memory, _peak(), of_children)
    verdicts.memory_taken = max(_peak() - before, of_children)


def _forget_peak() -> None:
    """Let the high-water mark of this process's memory start anew (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


_UNIT = 1 if sys.platform == "darwin" else 1024


@contextlib.contextmanager
def _watched_children() -> Iterator[list[int]]:
    """Look at the processes that this one has started, a hundred times a second, and list their largest memory (Linux)."""
    seen: list[int] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.01):
            for children in Path("/proc/self/task").glob("*/children"):
                for pid in _text(children).split():
                    seen[:] = [max([*seen, _high_water(pid)])]

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def _text(path: Path) -> str:
    """Return the text of a file, none if it is gone."""
    with contextlib.suppress(OSError):
        return path.read_text()
    return ""


def _high_water(process: str) -> int:
    """Return the largest memory of a process in bytes since it began its program, 0 where nobody tells (Linux)."""
    lines = _text(Path(f"/proc/{process}/status")).splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


def _peak() -> int:
    """Return the largest memory of this process in bytes."""
    if found := _high_water("self"):
        return found
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def _peak_of_children() -> int:
    """Return the largest memory in bytes of a process that this one started and that has ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _UNIT
