"""Peak memory of large fits, and how far the kernels run from the machine's limit."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import numpy as np

from seqattractor.bench.cases import ETA, KAPPA, make_problem
from seqattractor.learning.exact import kernels
from seqattractor.learning.exact.blocks import LayerBlock
from seqattractor.learning.exact.fields import Gram, Inputs, gram

_MEMORY = """
import json, pathlib, resource, sys, time
import numpy as np
from seqattractor.bench.cases import ETA, KAPPA, MAX_EPOCHS, make_problem, random_problem
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
learned = engine.learn(*problem.data, U=problem.U, V=problem.V,
                       kappa=KAPPA, eta=ETA, max_epochs=MAX_EPOCHS, n_jobs=int(sys.argv[2]))
print(json.dumps({**problem.sizes, "epochs": learned.n_iter, "converged": learned.converged,
                  "seconds": time.perf_counter() - began, "interpreter_mb": started, "peak_mb": peak()}))
"""


def memory(case: str, *, n_jobs: int) -> dict[str, Any]:
    """Learn "digits", or "large" (N=65536, M=1000, T=300), in a process of its own; its time and peak memory.

    The peak counts everything: the interpreter, the patterns, U, V and, for "large", a P of the same size.
    """
    done = subprocess.run([sys.executable, "-c", _MEMORY, case, str(n_jobs)], capture_output=True, text=True, check=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return {"case": case, **measured}


def kernel_limit() -> dict[str, float]:
    """Updates per second of the hidden phase (N=100, M=500, T=150), and of a loop that only adds the same int16 rows."""
    problem = make_problem("random-150")
    K = Gram(gram(problem.inputs))
    errors = 0
    best = np.inf
    for _ in range(3):
        block = LayerBlock(problem.U, Inputs(problem.inputs), problem.hidden_targets, K, kappa=KAPPA, eta=ETA)
        started = time.process_time()
        counted, _ = block.advance(100)
        best, errors = min(best, time.process_time() - started), int(counted.sum())
    f, flip = np.zeros((2, 8, K.K.shape[1]), dtype=np.int16)
    rows = np.random.default_rng(0).integers(0, len(K.K), 1_000_000)
    kernels.add_rows(f, flip, K.K, rows[:10])
    alone = []
    for _ in range(3):
        started = time.process_time()
        kernels.add_rows(f, flip, K.K, rows)
        alone.append(time.process_time() - started)
    limit = len(rows) / min(alone)
    return {"updates_per_second": errors / best, "plain_adds_per_second": limit, "fraction": errors / best / limit}
