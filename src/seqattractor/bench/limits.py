"""Peak memory of large fits, and how far the kernels run from the machine's limit."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

import numpy as np

from seqattractor._children import python_command
from seqattractor.bench.cases import ETA, KAPPA, MAX_EPOCHS, make_problem
from seqattractor.learning.exact import kernels
from seqattractor.learning.exact.blocks import LayerBlock
from seqattractor.learning.exact.column_lanes import ROWS
from seqattractor.learning.exact.fields import Gram, Inputs, aligned_zeros, gram
from seqattractor.learning.exact.lanes import LANES

_TURNS = 5

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
    done = subprocess.run([*python_command(_MEMORY), case, str(n_jobs)], capture_output=True, text=True, check=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return {"case": case, **measured}


def kernel_limit() -> dict[str, float]:
    """Updates per second of the hidden phase (N=100, M=500, T=150, 500 epochs), and of a loop that only adds such int16 rows.

    Both run in turns, and each counts with its best turn.
    """
    problem = make_problem("random-150")
    inputs, K = Inputs(problem.inputs), Gram(gram(problem.inputs))
    f, flip = aligned_zeros((2, ROWS, K.K.shape[1]), K.K.dtype)
    blocks = np.random.default_rng(0).integers(0, len(K.K) // LANES, 200_000)
    kernels.add_all(f, flip, K.K, blocks[:10])
    learning, adding, updates = [], [], 0
    for _ in range(_TURNS):
        block = LayerBlock(problem.U, inputs, problem.hidden_targets, K, kappa=KAPPA, eta=ETA)
        started = time.process_time()
        updates = int(block.advance(MAX_EPOCHS)[0].sum())
        ended = time.process_time()
        kernels.add_all(f, flip, K.K, blocks)
        learning.append(ended - started)
        adding.append(time.process_time() - ended)
    reached, limit = updates / min(learning), LANES * len(blocks) / min(adding)
    return {"updates_per_second": reached, "plain_adds_per_second": limit, "fraction": reached / limit}
