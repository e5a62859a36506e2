"""The exact engine beside the plain loop, in the same run and with the same number of threads; and
how both grow.

The plain loop is the paper's: one transition at a time on the whole weight matrices, in float32, by
PyTorch if it is installed and by numpy otherwise. Every transition costs it the same, whatever has
been learned, so a few epochs tell what 500 would take.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from cases import CASES, ETA, KAPPA, MAX_EPOCHS, make_problem, random_problem, sizes
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from seqattractor._children import python_command
from seqattractor.engine.exact import engine
from seqattractor.engine.problem import Learned, Problem
from seqattractor.rule import learn_transition

_ROUNDS = 5
_BASE = {"N": 800, "M": 400, "T": 40}
_VALUES = {
    "N": (400, 800, 1600, 3200, 6400),
    "M": (200, 400, 800, 1600, 3200),
    "T": (20, 40, 80, 160, 320),
}


def compare(name: str, *, n_jobs: int, seconds: float) -> dict[str, Any]:
    """Measure one of `CASES`; the plain loop gets about `seconds`, in turns with the engine, and
    each counts with its best turn.

    The engine runs up to the first epoch without an error, or 500 epochs. The plain loop's time for
    500 epochs (as in the paper) and for as many as the engine runs is computed from the transitions
    that it was measured on.
    """
    problem = make_problem(name)
    with threadpool_limits(n_jobs):
        exact_seconds(
            problem, n_jobs
        )  # a whole run, so that every kernel is loaded; a single epoch would learn in another form
        exact, plain, transitions = [], [], 0
        for _ in range(_ROUNDS):
            loop, per_transition, measured = plain_seconds(problem, n_jobs, seconds / _ROUNDS)
            plain.append(per_transition)
            transitions += measured
            taken, learned = exact_seconds(problem, n_jobs)
            exact.append(taken)
    n = len(problem.inputs)
    per_epoch = min(plain) * n
    return {
        "case": name,
        "what": CASES[name],
        **sizes(problem),
        "n_jobs": n_jobs,
        "clock": clock_for(n_jobs).__name__,
        "epochs": learned.n_iter,
        "converged": learned.converged,
        "exact_seconds": min(exact),
        "plain_loop": loop,
        "plain_measured_epochs": transitions / n,
        "plain_seconds": per_epoch * learned.n_iter,
        "plain_seconds_500_epochs": per_epoch * MAX_EPOCHS,
        "ratio": per_epoch * learned.n_iter / min(exact),
        "ratio_500_epochs": per_epoch * MAX_EPOCHS / min(exact),
    }


def growth(*, n_jobs: int = 1, seconds: float = 0.3) -> list[dict[str, Any]]:
    """For each of N, M and T: sizes, seconds of both loops up to zero error, and the exponents of
    fitted power laws.

    The other two sizes stay at N=800, M=400 and T=40.
    """
    laws = []
    for name, values in _VALUES.items():
        exact, plain, epochs = [], [], []
        for value in values:
            problem = random_problem(**{**_BASE, name: value}, rng=np.random.default_rng(0))
            taken, learned = min(
                (exact_seconds(problem, n_jobs) for _ in range(3)), key=lambda run: run[0]
            )
            _, per_transition, _ = plain_seconds(problem, n_jobs, seconds)
            exact.append(taken)
            plain.append(per_transition * len(problem.inputs) * learned.n_iter)
            epochs.append(learned.n_iter)
        laws.append(
            {
                "varies": name,
                "others": {key: value for key, value in _BASE.items() if key != name},
                "values": list(values),
                "epochs": epochs,
                "exact_seconds": exact,
                "plain_seconds": plain,
                "exact_exponent": _exponent(values, exact),
                "plain_exponent": _exponent(values, plain),
            }
        )
    return laws


def _exponent(values: tuple[int, ...], seconds: list[float]) -> float:
    """The slope of log time against log size."""
    return float(np.polyfit(np.log(values), np.log(seconds), 1)[0])


def exact_seconds(problem: Problem, n_jobs: int) -> tuple[float, Learned]:
    """Time of one fit by the exact engine (weights given, as for the plain loop), and what it
    learned.
    """
    assert problem.U is not None
    problem, clock = replace(problem, U=problem.U.copy(), V=problem.V.copy()), clock_for(n_jobs)
    started = clock()
    learned = engine.learn(problem, n_jobs=n_jobs)
    return clock() - started, learned


def plain_seconds(problem: Problem, n_jobs: int, seconds: float) -> tuple[str, float, int]:
    """The plain loop's name, its time for one transition and the number of transitions measured,
    for about this many seconds.
    """
    loop: TorchLoop | NumpyLoop
    try:
        loop = TorchLoop(problem, n_jobs)
    except ModuleNotFoundError:
        loop = NumpyLoop(problem)
    for _ in range(min(len(problem.inputs), 20)):
        loop.step()
    clock = clock_for(n_jobs)
    done, started = 0, clock()
    while (taken := clock() - started) < seconds or not done:
        loop.step()
        done += 1
    return loop.name, taken / done, done


def clock_for(n_jobs: int) -> Callable[[], float]:
    """The clock that both loops are measured with.

    With one thread it is the processor time of this process, which other work on the machine
    disturbs less; on an idle machine it is wall-clock time.
    """
    return time.process_time if n_jobs == 1 else time.perf_counter


def arrays_of(problem: Problem) -> list[NDArray[np.float32]]:
    """U, V, x(t), x(t+1) and z(t+1) of a problem, as the plain loop takes them: weights times
    eta.
    """
    assert problem.U is not None
    assert problem.hidden_targets is not None
    arrays = (
        problem.U * ETA,
        problem.V * ETA,
        problem.inputs,
        problem.targets,
        problem.hidden_targets,
    )
    return [array.astype(np.float32) for array in arrays]


class NumpyLoop:
    """Equations (5)-(9) as they stand in `rule`, on weights U and V in float32."""

    name = f"numpy {np.__version__}"

    def __init__(self, problem: Problem) -> None:
        self.U, self.V, *arrays = arrays_of(problem)
        self._transitions = cycle(list(zip(*arrays, strict=True)))

    def step(self) -> None:
        """Learn the next transition."""
        learn_transition(self.U, self.V, *next(self._transitions), kappa=KAPPA, eta=ETA)


class TorchLoop:
    """The same equations in PyTorch."""

    def __init__(self, problem: Problem, n_jobs: int) -> None:
        import torch

        torch.set_num_threads(n_jobs)
        self.name = f"PyTorch {torch.__version__}"
        self.U, self.V, *arrays = map(torch.tensor, arrays_of(problem))
        self._transitions = cycle(list(zip(*arrays, strict=True)))
        self._torch: Any = torch
        self._one = torch.tensor(1.0)

    def step(self) -> None:
        """Learn the next transition."""
        torch, one = self._torch, self._one
        x, x_next, z = next(self._transitions)
        mu = torch.heaviside(KAPPA - z * (self.U @ x), one)  # eq. (5)
        self.U += ETA * torch.outer(mu * z, x)  # eq. (6)
        y = torch.where(self.U @ x >= 0, 1.0, -1.0)  # eq. (7)
        nu = torch.heaviside(KAPPA - x_next * (self.V @ y), one)  # eq. (8)
        self.V += ETA * torch.outer(nu * x_next, y)  # eq. (9)


_MEMORY = """
import json, pathlib, resource, sys, time
import numpy as np
sys.path.insert(0, sys.argv[3])
from cases import make_problem, random_problem, sizes
from seqattractor.engine.exact import engine
def peak():
    status = pathlib.Path("/proc/self/status")  # what getrusage says counts the parent process, too
    if status.exists():
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
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
                  "seconds": time.perf_counter() - began,
                  "interpreter_mb": started, "peak_mb": peak()}))
"""


def peak_memory(case: str, *, n_jobs: int) -> dict[str, Any]:
    """Learn "digits", or "large" (N=65536, M=1000, T=300), in a process of its own; its time and
    peak memory.

    The peak counts everything: the interpreter, the patterns, U, V and, for "large", a P of the
    same size.
    """
    done = subprocess.run(
        [*python_command(_MEMORY), case, str(n_jobs), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
    )
    measured: dict[str, Any] = json.loads(done.stdout)
    return {"case": case, **measured}
