"""The exact engine beside the plain loop, in the same run and with the same number of threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from seqattractor.bench.cases import CASES, ETA, KAPPA, MAX_EPOCHS, Problem, make_problem
from seqattractor.bench.plain import plain_loop
from seqattractor.learning.exact import engine
from seqattractor.learning.result import Learned

_ROUNDS = 3


def compare(name: str, *, n_jobs: int, seconds: float) -> dict[str, Any]:
    """Measure one of `CASES`; the plain loop gets about `seconds`, in turns with the engine, and each counts with its best turn.

    The engine runs up to the first epoch without an error, or 500 epochs. The plain loop's time for 500 epochs (as in the paper)
    and for as many as the engine runs is computed from the transitions that it was measured on.
    """
    problem = make_problem(name)
    with threadpool_limits(n_jobs):
        exact_seconds(problem, n_jobs, max_epochs=1)  # load the kernels
        exact, plain, transitions = [], [], 0
        for _ in range(_ROUNDS):
            loop, per_transition, measured = plain_seconds(problem, n_jobs, seconds / _ROUNDS)
            plain.append(per_transition)
            transitions += measured
            taken, learned = exact_seconds(problem, n_jobs)
            exact.append(taken)
    n = problem.sizes["n"]
    plain_total = min(plain) * n * learned.n_iter
    return {
        "case": name,
        "what": CASES[name],
        **problem.sizes,
        "n_jobs": n_jobs,
        "clock": clock_for(n_jobs).__name__,
        "epochs": learned.n_iter,
        "converged": learned.converged,
        "exact_seconds": min(exact),
        "plain_loop": loop,
        "plain_measured_epochs": transitions / n,
        "plain_seconds": plain_total,
        "plain_seconds_500_epochs": min(plain) * n * MAX_EPOCHS,
        "ratio": plain_total / min(exact),
        "ratio_500_epochs": min(plain) * n * MAX_EPOCHS / min(exact),
    }


def exact_seconds(problem: Problem, n_jobs: int, max_epochs: int = MAX_EPOCHS) -> tuple[float, Learned]:
    """Time of one fit by the exact engine (weights given, as for the plain loop), and what it learned."""
    U, V = problem.U.copy(), problem.V.copy()
    clock = clock_for(n_jobs)
    started = clock()
    learned = engine.learn(
        problem.inputs,
        problem.targets,
        problem.hidden_targets,
        U=U,
        V=V,
        kappa=KAPPA,
        eta=ETA,
        max_epochs=max_epochs,
        n_jobs=n_jobs,
    )
    return clock() - started, learned


def plain_seconds(problem: Problem, n_jobs: int, seconds: float) -> tuple[str, float, int]:
    """The plain loop's name, its time for one transition and the number of transitions measured."""
    loop = plain_loop(problem, n_jobs)
    for _ in range(min(len(problem.inputs), 20)):
        loop.step()
    taken, done = _repeat(loop.step, seconds, clock_for(n_jobs))
    return loop.name, taken / done, done


def clock_for(n_jobs: int) -> Callable[[], float]:
    """The clock that both loops are measured with.

    With one thread it is the processor time of this process, which other work on the machine disturbs less; on an idle machine
    it is the time on the wall.
    """
    return time.process_time if n_jobs == 1 else time.perf_counter


def _repeat(step: Callable[[], None], seconds: float, clock: Callable[[], float]) -> tuple[float, int]:
    """Repeat for about so many seconds; returns the time taken and the number of repetitions."""
    done, started = 0, clock()
    while (taken := clock() - started) < seconds or not done:
        step()
        done += 1
    return taken, done
