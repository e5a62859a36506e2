"""Compiled learning: once on each machine it has to be compiled, which must not keep anybody from the page."""

from __future__ import annotations

import os
import subprocess
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning

from seqattractor._children import python_command
from seqattractor.datasets._random import random_periodic
from seqattractor.lab.materials import first_material
from seqattractor.learning.compiled import is_kept
from seqattractor.learning.engines import FEW
from seqattractor.networks._registry import make_network

_KINDS: dict[str, tuple[str, dict[str, Any]]] = {  # small networks; the first kind is what a first visit learns with
    "SequenceAttractor": ("attractor", {"n_hidden": 20, "engine": "exact"}),
    "VisibleNetwork": ("perceptron", {"engine": "exact"}),
    "SparseSequenceAttractor": ("sparse", {"n_hidden": 20, "max_epochs": 2}),
}


class Compiled:
    """Which networks learn with compiled code by now; others wait for it, or do without it if it never comes."""

    ready: ClassVar = {kind: threading.Event() for kind in _KINDS}  # of the whole process, as compiled code is

    def __init__(self) -> None:
        self.child: subprocess.Popen[str] | None = None
        self.at_work = False

    def start(self) -> None:
        """Begin to make all kinds ready, in the background."""
        self.at_work = True
        threading.Thread(target=self.warm_up, name="lab-warm-up", daemon=True).start()

    def warm_up(self) -> None:
        """Make all kinds ready; takes a moment, or some 20 s where nothing is on disk yet."""
        try:
            if not is_cached():
                with suppress(OSError):  # where no process can be started, this one compiles
                    self.child = _compile_apart()
            first_material()
            if self.child is not None:
                with self.child as child:
                    for line in child.stdout or ():
                        if line.strip() in _KINDS:
                            self._load(line.strip())
            for kind in _KINDS:
                self._load(kind)
        finally:
            self.at_work = False

    def _load(self, kind: str) -> None:
        """Load a kind from disk, or compile it."""
        if not self.ready[kind].is_set():
            use(kind)
            self.ready[kind].set()

    def close(self) -> None:
        """End what is under way."""
        if self.child is not None:
            self.child.kill()

    def covers(self, kind: str) -> bool:
        """Whether the class of networks called `kind` learns with compiled code by now, or never does."""
        return kind not in self.ready or self.ready[kind].is_set()

    def wait_for(self, kind: str, given_up: Callable[[], bool]) -> None:
        """Wait as long as a kind is being compiled and wanted."""
        while self.at_work and not self.covers(kind) and not given_up():
            self.ready[kind].wait(0.05)

    def wait(self, seconds: float) -> bool:
        """Wait until all is compiled; tell whether it is."""
        until = time.monotonic() + seconds
        return all(event.wait(max(0.0, until - time.monotonic())) for event in self.ready.values())


def _compile_apart() -> subprocess.Popen[str]:
    """Compile in a process of its own: in a thread of this one it would hold up the page."""
    code = "from seqattractor.lab.compiled import compile_all; compile_all()"
    # In a session of its own, since Ctrl-C ends the lab, which then ends it.
    return subprocess.Popen(python_command(code), stdout=subprocess.PIPE, text=True, start_new_session=True)


def compile_all() -> None:
    """Compile all kinds, giving way to other processes, and print each kind of network that is done."""
    if hasattr(os, "nice"):
        os.nice(5)
    warnings.simplefilter("ignore")  # in the terminal of the lab, they would be about networks that nobody sees
    for kind in _KINDS:
        use(kind)
        print(kind, flush=True)


def is_cached() -> bool:
    """Whether machine code of each kind is kept on disk; if that is of an older version or damaged, it is compiled after all."""
    from seqattractor.learning.exact import kernels, weights_kernels

    return all(any(map(is_kept, vars(module).values())) for module in (kernels, weights_kernels))


def use(kind: str) -> None:
    """Let a small network of a kind learn, in each of the ways in which it can be continued, which compiles what it needs."""
    name, parameters = _KINDS[kind]
    net = make_network(name, random_state=0, **parameters)
    with suppress(ConvergenceWarning):
        net.fit(random_periodic(6, 40, rng=0))
    if "warm_start" in net.get_params(deep=False):  # then long sequences and presentations are learned by other kernels
        net.partial_fit(random_periodic(FEW + 1, 40, rng=0))
