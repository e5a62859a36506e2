"""Time and memory of the two forms of the exact engine, around the point where one overtakes the
other and for long sequences.

    python benchmarks/long_sequences.py             # both forms, and what `choose_form` expects
    python benchmarks/long_sequences.py --long      # `fit` of 20,000 and 100,000 patterns in a file
    python benchmarks/long_sequences.py --continue  # an epoch of `fit`, warm start, `partial_fit`

Random patterns, the settings of the paper. One thread, processor time per epoch; the forms take
turns.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import seqattractor as sa
from seqattractor.engine.exact import engine
from seqattractor.engine.grid import on_grid
from seqattractor.engine.problem import Problem

SIZES = [(100, 500), (200, 2000), (1000, 1000)]
LENGTHS = [0.5, 1.0, 2.0, 3.0, 5.0]
"""Transitions, in units of N."""
EPOCHS = 100
LONG = [(20_000, 5), (100_000, 3)]
"""Patterns, and epochs to time."""

FIT = """
import resource, sys, time, warnings
import numpy as np, seqattractor as sa
path, epochs = sys.argv[1], int(sys.argv[2])
warnings.simplefilter("ignore")
# so that everything is imported and loaded
sa.SequenceAttractor(40, random_state=0, max_epochs=1).fit(np.load(path, mmap_mode="r")[:40])
ends, started = [], time.process_time()
net = sa.SequenceAttractor(2000, random_state=0, max_epochs=epochs)
net.fit(np.load(path, mmap_mode="r"), callback=lambda *epoch: ends.append(time.process_time()))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(ends[0] - started, min(np.diff(ends)), time.process_time() - started, peak)
"""


def patterns(rng: np.random.Generator, T: int, N: int) -> Any:
    """Random patterns of +-1, shape (T, N)."""
    return np.where(rng.random((T, N), dtype=np.float32) < 0.5, np.int8(1), np.int8(-1))


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of some work, and what it gives."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def crossover() -> None:
    """Print milliseconds per epoch of both forms, and which one is chosen."""
    rng = np.random.default_rng(0)
    print(
        "    N     M      n epochs  fields  weights  (ms per epoch)  errors  chosen (fields, "
        "weights by the model)"
    )
    for N, M in SIZES:
        for n in (int(N * length) for length in LENGTHS):
            epochs = EPOCHS if n <= 3 * N else 10
            took, learned = both_forms(N, M, n, epochs, rng)
            layers = [(M, N), (N, M)]
            model = [1e-6 * cost(n, layers) for cost in (engine.fields_cost, engine.weights_cost)]
            rate = learned.hidden_errors.mean() / n / M
            chosen = engine.choose_form(n, layers, 500)
            print(
                f"{N:5} {M:5} {n:6} {learned.n_iter:6}  {1e3 * took['fields']:6.1f}  "
                f"{1e3 * took['weights']:7.1f}  {rate:20.2f}  {chosen} ({model[0]:.1f}, "
                f"{model[1]:.1f})",
                flush=True,
            )


def both_forms(
    N: int, M: int, n: int, epochs: int, rng: np.random.Generator
) -> tuple[dict[str, float], Any]:
    """Seconds per epoch of each form for n transitions, and what was learned."""
    X = patterns(rng, n + 1, N)
    U, V, P = (
        on_grid(rng.standard_normal(shape)) for shape in ((M, N), (N, M), (M, N))
    )  # as init_scale = eta = 1e-3
    z = np.where(X[1:] @ P.T >= 0, 1, -1).astype(np.int8)

    def learn(form: Any, max_epochs: int = epochs) -> Any:
        problem = Problem(X[:-1], X[1:], V.copy(), 1000.0, max_epochs, U=U.copy(), hidden_targets=z)
        return engine.learn(problem, form=form)

    learn("fields", 2), learn("weights", 2)
    times = {form: seconds(lambda form=form: learn(form)) for form in ("fields", "weights")}
    learned = times["weights"][1]
    return {form: took / learned.n_iter for form, (took, _) in times.items()}, learned


def long() -> None:
    """Print seconds per epoch and peak memory of `fit` on a file of random patterns, N=200,
    M=2000.
    """
    with tempfile.TemporaryDirectory() as folder:
        for T, epochs in LONG:
            path = Path(folder) / f"{T}.npy"
            np.save(path, patterns(np.random.default_rng(0), T, 200))
            done = subprocess.run(
                [sys.executable, "-c", FIT, str(path), str(epochs)],
                capture_output=True,
                text=True,
                check=True,
            )
            first, later, total, peak = map(float, done.stdout.split())
            print(
                f"T={T}: first epoch {first:.2f} s, later ones {later:.2f} s, {epochs} epochs "
                f"{total:.1f} s, peak {peak:.2f} GiB"
            )


def go_on() -> None:
    """Print milliseconds per epoch of `fit`, of a warm start and of `partial_fit`."""
    warnings.simplefilter("ignore")
    for N, M, T in ((100, 500, 70), (100, 500, 400), (200, 2000, 2000)):
        each = epochs_of_each_way(N, M, T, epochs=100 if T < 1000 else 10)
        told = ", ".join(f"{way} {1e3 * took:.2f} ms" for way, took in each.items())
        print(f"N={N}, M={M}, T={T}, per epoch: {told}")


def epochs_of_each_way(N: int, M: int, T: int, epochs: int) -> dict[str, float]:
    """Seconds per epoch of `fit`, of a warm start and of `partial_fit`; the first must leave
    errors.
    """
    X = patterns(np.random.default_rng(0), T, N)
    net = sa.SequenceAttractor(M, random_state=0, max_epochs=epochs, warm_start=True)
    sa.SequenceAttractor(M, random_state=0, max_epochs=2).fit(X).partial_fit(X)
    fit, _ = seconds(lambda: net.fit(X))
    first = net.n_iter_
    more, _ = seconds(lambda: net.fit(X))
    second = net.n_iter_
    part, _ = seconds(lambda: net.partial_fit(X))
    return {"fit": fit / first, "warm start": more / (second - first), "partial_fit": part}


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--long", action="store_true", help="20,000 and 100,000 patterns")
    parser.add_argument(
        "--continue",
        action="store_true",
        dest="go_on",
        help="an epoch of fit, of a warm start, and of partial_fit",
    )
    chosen = parser.parse_args()
    if chosen.long:
        long()
    elif chosen.go_on:
        go_on()
    else:
        crossover()


if __name__ == "__main__":
    main()
