"""What the trust campaigns share: every case ends in one verdict, and the counts of a full campaign
are saved.

A campaign is a function of a number of cases and a seed. `make test` runs a few cases of each,
`make trust` all of them and keeps what it counted in `tests/trust/results`, from which `table.py`
writes the table of docs/trust.rst.
"""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any

RESULTS = Path(__file__).parent / "results"


class Hang(BaseException):
    """A case took longer than its limit. Not an Exception, so that no `except Exception` of the
    package can swallow it.
    """


@dataclass
class Campaign:
    """The verdicts of one campaign.

    Every case is counted once: `answered` (a right answer), `rejected` (one sentence, the right
    kind of error), or one of the three that must not happen: `wrong` (an answer that is not true),
    `crashes` (any other error), `hangs`.
    """

    name: str
    answered: int = 0
    rejected: int = 0
    wrong: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    largest_memory: int = 0  # bytes, of its process or of one that it started
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        """The number of cases."""
        return self.answered + self.rejected + len(self.wrong) + len(self.crashes) + len(self.hangs)

    @contextlib.contextmanager
    def case(
        self,
        what: str,
        *,
        rejections: tuple[type[Exception], ...] = (ValueError, TypeError),
        seconds: int = 300,
    ) -> Iterator[None]:
        """Run one case, in the main thread, and count its verdict.

        The body returns for an answer, raises one of `rejections` for a rejection, or
        `AssertionError` for an answer that is not true. `what` must be enough to run the case
        again. The limit is far beyond what a case takes on a busy machine.
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
        except rejections as error:
            self.reject(what, str(error))
        except Exception as error:  # whatever else escapes is a crash
            self.crashes.append(f"{what}: {type(error).__name__}: {error}")
        else:
            self.answered += 1
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    def reject(self, what: str, sentence: str) -> None:
        """Count a rejection, if it is one sentence that a person can read."""
        if not sentence.strip() or "\n" in sentence.strip() or "Traceback" in sentence:
            self.crashes.append(f"{what}: not one sentence: {sentence!r}")
        else:
            self.rejected += 1

    def finish(self, cases: int, *, keep: bool) -> None:
        """Fail if a case was left out or ended badly; keep the counts of a full campaign."""
        bad = [
            f"{kind}: {case}"
            for kind in ("wrong", "crashes", "hangs")
            for case in getattr(self, kind)
        ]
        assert not bad, (
            f"{len(bad)} of {self.tried} cases of {self.name!r}, the first ten:\n"
            + "\n".join(bad[:10])
        )
        assert self.tried == cases, f"{self.tried} verdicts for {cases} cases"
        assert self.rejected, "a campaign in which nothing is rejected tries nothing"
        if keep:
            RESULTS.mkdir(exist_ok=True)
            counts = {
                **{
                    "name": self.name,
                    "tried": self.tried,
                    "answered": self.answered,
                    "rejected": self.rejected,
                },
                **{
                    "wrong": len(self.wrong),
                    "crashes": len(self.crashes),
                    "hangs": len(self.hangs),
                },
                **{"largest_memory": self.largest_memory, "seconds": round(self.seconds)},
            }
            (RESULTS / f"{self.name.replace(' ', '_')}.json").write_text(
                json.dumps(counts, indent=1) + "\n"
            )


@contextlib.contextmanager
def campaign(name: str) -> Iterator[Campaign]:
    """A campaign that watches its time and the memory of its process; run it by `alone`, and call
    `finish` after it.
    """
    verdicts = Campaign(name)
    start = time.monotonic()
    yield verdicts
    verdicts.seconds = time.monotonic() - start
    verdicts.largest_memory = max(verdicts.largest_memory, peak_memory())


def alone(run: Callable[..., Campaign], *arguments: Any) -> Campaign:
    """Run a campaign in a new process, so that neither earlier tests nor later ones share its
    memory, and return its verdicts.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(run, *arguments).result()


def peak_memory() -> int:
    """Return the largest memory in bytes that this process, or one that it started and that has
    ended, has taken.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if (
        status := Path("/proc/self/status")
    ).exists():  # without what the parent had when it started this process (Linux)
        own = next(
            int(line.split()[1])
            for line in status.read_text().splitlines()
            if line.startswith("VmHWM")
        )
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) * unit
