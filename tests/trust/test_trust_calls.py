"""Hostile calls of everything public: answered truly, or rejected with a sentence. What is tried
stands in calls.py.
"""

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from campaign import campaign

CALLS = Path(__file__).parent / "calls.py"
PATIENCE = 600  # seconds for one case in which nothing comes back, also on a busy machine
SEED = 577


@pytest.mark.parametrize("cases", [300, pytest.param(20_000, marks=pytest.mark.trust)])
def test_hostile_calls_are_rejected_or_answered(cases):
    with campaign("calls") as verdicts:
        done = 0
        while done < cases:
            done = _until_it_ends(done, cases, verdicts)
    verdicts.finish(cases, keep=cases == 20_000)


def _until_it_ends(first, last, verdicts):
    """Let a process do cases, and count its answers; if it dies or hangs, that is the verdict on
    the case it was at.
    """
    command = [sys.executable, "-W", "ignore", str(CALLS), str(SEED), str(first), str(last)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        lines, complaints = queue.Queue(), []
        threading.Thread(target=_pass_on, args=(process.stdout, lines), daemon=True).start()
        listener = threading.Thread(target=lambda: complaints.extend(process.stderr), daemon=True)
        listener.start()
        at = None
        while True:
            try:
                line = lines.get(timeout=PATIENCE)
            except queue.Empty:
                process.kill()
                verdicts.hangs.append(f"case {at} of seed {SEED}")
                return at + 1
            if not line:
                process.wait()
                listener.join()
                complaint = "".join(complaints)[-2000:]
                assert at is not None, f"no call was tried: {complaint}"
                verdicts.crashes.append(
                    f"case {at} of seed {SEED}: the process died ({process.returncode}): "
                    f"{complaint}"
                )
                return at + 1
            message = json.loads(line)
            if "begins" in message:
                at = message["begins"]
            elif "done" in message:
                verdicts.largest_memory = max(verdicts.largest_memory, message["memory"])
                return last
            else:
                verdicts.answered += message.get("answered", 0)
                verdicts.rejected += message.get("rejected", 0)
                for kind in ("wrong", "crashes", "hangs"):
                    getattr(verdicts, kind).extend(message.get(kind, []))


def _pass_on(stream, lines):
    """Hand over lines as they come, and an empty one at the end."""
    for line in stream:
        lines.put(line)
    lines.put("")
