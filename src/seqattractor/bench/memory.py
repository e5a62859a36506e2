"""Peak memory of large fits."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from seqattractor._children import python_command

_MEMORY = """
import json, pathlib, resource, sys, time
import numpy as np
from seqattractor.bench.cases import make_problem, random_problem, sizes
from seqattractor.learning.exact import engine
def peak():
    status = pathlib.Path("/proc/self/status")  # what getrusage says counts the parent process, too
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
started = peak()
if sys.argv[1] == "digits":
    problem = make_problem("digits")
else:
    rng = np.random.default_rng(0)
    problem = random_problem(65536, 1000, 300, rng)
    P = rng.standard_normal(problem.U.shape)
began = time.perf_counter()
learned = engine.learn(problem, n_jobs=int(sys.argv[2]))
print(json.dumps({**sizes(problem), "epochs": learned.n_iter, "converged": learned.converged,
                  "seconds": time.perf_counter() - began, "interpreter_mb": started, "peak_mb": peak()}))
"""


def peak_memory(case: str, *, n_jobs: int) -> dict[str, Any]:
    """Learn "digits", or "large" (N=65536, M=1000, T=300), in a process of its own; its time and peak memory.

    The peak counts everything: the interpreter, the patterns, U, V and, for "large", a P of the same size.
    """
    done = subprocess.run([*python_command(_MEMORY), case, str(n_jobs)], capture_output=True, text=True, check=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return {"case": case, **measured}
