"""Compiled learning: once on each machine it has to be compiled, which must keep nobody from the page."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

from sklearn.exceptions import ConvergenceWarning

from seqattractor.lab.materials import walking
from seqattractor.networks.base import SequenceMemory

__all__ = ["Compiled"]

_KINDS = ("SequenceAttractor", "VisibleNetwork", "SparseSequenceAttractor")  # the first is what a first visit learns with


class Compiled:
    """Which networks learn with compiled code by now; those that can do without it do the same in a plain loop until then."""

    _ready: ClassVar = {kind: threading.Event() for kind in _KINDS}  # of the whole process, as compiled code is

    def warm_up(self) -> None:
        """Compile what learning needs, or load it from numba's cache; for a thread that gives way to all others."""
        if sys.platform == "linux":  # where a thread has a priority of its own
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 5)
        walking()  # the first picture that a visitor sees
        for kind in _KINDS:
            _use(kind)
            self._ready[kind].set()

    def covers(self, kind: str) -> bool:
        """Whether the class of networks called `kind` learns with compiled code by now, or never does."""
        return kind not in self._ready or self._ready[kind].is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until all is compiled; tell whether it is."""
        until = time.monotonic() + seconds
        return all(event.wait(max(0.0, until - time.monotonic())) for event in self._ready.values())


def _use(kind: str) -> None:
    """Let a small network of a kind learn, which compiles what it needs."""
    import seqattractor as sa

    makers: dict[str, Callable[[], SequenceMemory]] = {
        "SequenceAttractor": lambda: sa.SequenceAttractor(20, engine="exact", random_state=0),
        "VisibleNetwork": lambda: sa.VisibleNetwork(engine="exact", random_state=0),
        "SparseSequenceAttractor": lambda: sa.SparseSequenceAttractor(20, max_epochs=2, random_state=0),
    }
    with suppress(ConvergenceWarning):
        makers[kind]().fit(sa.datasets.random_periodic(6, 40, rng=0))
