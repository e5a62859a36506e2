"""Ctrl-C at any moment of a kernel: it is a KeyboardInterrupt, always, and never the end of
Python.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from interrupted import LOST, PATHS, READY, STOPPED

SCRIPT = Path(__file__).parent / "interrupted.py"


class Python:
    """A process that calls kernels, and is started again when it has died."""

    def __init__(self):
        self.process = None

    def stop(self, path, seconds):
        """Let it work on a path, send SIGINT after so many seconds, and return what became of
        it.
        """
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
        self.process.stdin.write(bytes([list(PATHS).index(path)]))
        assert self.process.stdout.read(1) == READY
        time.sleep(seconds)
        os.kill(self.process.pid, signal.SIGINT)
        verdict = self.process.stdout.read(1)
        if not verdict:
            return f"ended with {self.end()}"
        return {STOPPED: "stopped", LOST: "lost"}[verdict]

    def end(self):
        """Let it end; returns its exit code."""
        process, self.process = self.process, None
        with process:
            process.stdin.close()
        return process.returncode


@pytest.fixture(scope="module")
def python():
    python = Python()
    yield python
    if python.process is not None:
        assert python.end() == 0


@pytest.mark.parametrize("presses", [5, pytest.param(500, marks=pytest.mark.trust)])
@pytest.mark.parametrize("path", PATHS)
def test_ctrl_c_from_another_process_stops_kernels_and_never_python(python, path, presses):
    rng = np.random.default_rng([29, presses])
    verdicts = Counter(
        python.stop(path, rng.uniform(0.001, 0.03)) for _ in range(presses)
    )  # at random moments
    assert verdicts == {"stopped": presses}
