"""One table of two versions of this package: learning, long sequences, recall of many cues, going on, memory and growth.

    python benchmarks/old_and_new.py --measure OLD_SRC [CASE ...]  # all cases: about 6 min; writes old_and_new.json and the page
    python benchmarks/old_and_new.py                               # only writes docs/old_and_new.inc from the kept results

OLD_SRC is the folder `src` of a checkout of the older version. Every case is a process of its own, with one thread, and counts
with processor time. One that needs more than LIMIT seconds, or more memory than ROOM, is given up.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rst import list_table

from seqattractor.report.page import Table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "old_and_new.json"
PAGE = ROOT / "docs" / "old_and_new.inc"
LIMIT = 60
"""Seconds of processor time."""
ROOM = 8 * 2**30
"""Bytes of address space."""

CASES = {
    "random-70": "learning, N=100, M=500, T=70",
    "random-150": "learning, N=100, M=500, T=150, 500 epochs",
    "digits": "learning, moving digits, N=4096, M=1000, 20 sequences of 20",
    "walker": "learning, walking figure, N=11264, M=200, T=104",
    "large": "learning, N=65536, M=1000, T=300",
    "long-20000": "an epoch, N=200, M=2000, T=20,000",
    "long-100000": "an epoch, N=200, M=2000, T=100,000",
    "recall": "recall of 10,000 cues, 50 steps, N=100, M=500, T=70",
    "fit": "an epoch of fit, N=100, M=500, T=400",
    "go on": "an epoch of going on, the same",
}
GROWTH = {"N": "N, from 400 to 6400", "M": "M, from 200 to 3200", "T": "T, from 20 to 320", "cues": "cues, from 100 to 10,000"}


def seconds(work: Callable[[], Any]) -> float:
    """Processor time of some work."""
    started = time.process_time()
    work()
    return time.process_time() - started


def per_epoch(net: Any, learn: Callable[[Any], Any], epochs: int) -> float:
    """Processor time of an epoch after the first one."""
    ends: list[float] = []
    learn(lambda *epoch: ends.append(time.process_time()))
    return (ends[-1] - ends[0]) / (epochs - 1)


def recall_seconds(net: Any, X: Any, cues: int) -> float:
    """Seconds for recall of some cues."""
    import seqattractor as sa

    rng = np.random.default_rng(0)
    states = sa.noise.flip(X[rng.integers(0, len(X), cues)], 10, rng=rng)
    return min(seconds(lambda: net.recall(states, steps=50)) for _ in range(3))


def measure(case: str) -> Any:
    """The seconds of one of `CASES`, or the exponents of `GROWTH`, with the version that is imported."""
    import warnings

    import seqattractor as sa
    from seqattractor.bench import cases, speed

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    if case in cases.CASES or case == "large":
        problem = cases.make_problem(case) if case in cases.CASES else cases.random_problem(65536, 1000, 300, rng)
        speed.exact_seconds(cases.make_problem("random-70"), 1)  # import and load
        return min(speed.exact_seconds(problem, 1)[0] for _ in range(1 if case == "large" else 5))
    if case == "growth":
        laws = {law["varies"]: law["exact_exponent"] for law in speed.growth(seconds=0.01)}
        X = np.asarray(sa.datasets.random_periodic(70, 100, rng=0))
        net, cues = sa.SequenceAttractor(500, random_state=0).fit(X), (100, 1000, 10_000)
        took = [recall_seconds(net, X, many) for many in cues]
        return laws | {"cues": float(np.polyfit(np.log(cues), np.log(took), 1)[0])}
    if case == "recall":
        X = np.asarray(sa.datasets.random_periodic(70, 100, rng=0))
        return recall_seconds(sa.SequenceAttractor(500, random_state=0).fit(X), X, 10_000)
    sa.SequenceAttractor(40, random_state=0, max_epochs=2).fit(sa.datasets.random_periodic(40, 30, rng=0))  # import and load
    if case.startswith("long-"):
        X = np.where(rng.random((int(case.removeprefix("long-")), 200), dtype=np.float32) < 0.5, np.int8(1), np.int8(-1))
        net = sa.SequenceAttractor(2000, random_state=0, max_epochs=3)
        return per_epoch(net, lambda callback: net.fit(X, callback=callback), 3)
    X = np.where(rng.random((400, 100)) < 0.5, 1, -1)
    sa.SequenceAttractor(500, random_state=0, max_epochs=2).fit(X)  # the other form of the engine may have kernels of its own
    if case == "fit":
        net = sa.SequenceAttractor(500, random_state=0, max_epochs=100)
        return seconds(lambda: net.fit(X)) / 100
    if "warm_start" in sa.SequenceAttractor().get_params():
        net = sa.SequenceAttractor(500, random_state=0, max_epochs=100, warm_start=True).fit(X)
        return seconds(lambda: net.fit(X)) / 100
    net = sa.SequenceAttractor(500, random_state=0, max_epochs=2).fit(X)
    return seconds(lambda: [net.partial_fit(X) for _ in range(3)]) / 3


def run_case(case: str, source: Path) -> dict[str, Any]:
    """Measure a case with the package in a folder, in a process with limits."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT if case != "growth" else 10 * LIMIT,) * 2)
        resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))

    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--case", case]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, preexec_fn=limited, check=False)
    if done.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
        return {"given_up": f"given up after {LIMIT} s"}
    if done.returncode:
        if "MemoryError" in done.stderr:
            return {"given_up": f"does not fit into {ROOM // 2**30} GB"}
        raise SystemExit(done.stderr)
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def peak_mb() -> float:
    """The most memory that this process has had, in MB."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def measure_all(old: Path, chosen: list[str]) -> None:
    """Measure cases with both versions, and keep the results after each, beside those of other cases."""
    sources = {"old": old, "new": ROOT / "src"}
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for case in chosen:
        about = {"date": time.strftime("%Y-%m-%d"), "load": round(os.getloadavg()[0], 1)}
        results[case] = about | {version: run_case(case, source) for version, source in sources.items()}
        print(case, results[case], flush=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def told(measured: dict[str, Any]) -> str:
    """A time that one can read, or why there is none."""
    if "given_up" in measured:
        return str(measured["given_up"])
    took = measured["result"]
    return f"{1e3 * took:.3g} ms" if took < 1 else f"{took:.3g} s"


def times_as_fast(old: dict[str, Any], new: dict[str, Any]) -> str:
    """How many times as fast the new version is."""
    if "given_up" in new or "given_up" in old:
        return "–"
    return f"{old['result'] / new['result']:.3g}"


def memory(measured: dict[str, Any]) -> str:
    """Peak memory in words."""
    return "–" if "given_up" in measured else f"{measured['peak_mb']:,.0f} MB"


def page(results: dict[str, Any]) -> str:
    """What docs/engine.rst shows."""
    rows = [
        [
            what,
            told(results[case]["old"]),
            told(results[case]["new"]),
            times_as_fast(results[case]["old"], results[case]["new"]),
            memory(results[case]["old"]),
            memory(results[case]["new"]),
        ]
        for case, what in CASES.items()
        if case in results
    ]
    columns = ["one thread", "before", "now", "times as fast", "peak memory before", "peak memory now"]
    parts = [list_table(Table(columns=columns, rows=rows, caption="Two versions of this package"))]
    if "growth" in results:
        laws = [results["growth"][version]["result"] for version in ("old", "new")]
        growth = [[what, *(f"{law[name]:.2f}" for law in laws)] for name, what in GROWTH.items()]
        grows = Table(columns=["the time grows with", "before", "now"], rows=growth, caption="Exponents of fitted power laws")
        parts.append(list_table(grows))
    loads = [case["load"] for case in results.values()]
    dates = sorted({case["date"] for case in results.values()})
    parts.append(
        f"Measured {' and '.join(dates)} with a load of {min(loads)} to {max(loads)}: processor time of the best of some turns. "
        "Memory counts the whole process, with the interpreter and its libraries."
    )
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str]) -> None:
    """Measure if asked to, and write the page."""
    if arguments[:1] == ["--case"]:
        result = measure(arguments[1])
        print(json.dumps({"result": result, "peak_mb": peak_mb()}))
        return
    if arguments[:1] == ["--measure"]:
        measure_all(Path(arguments[1]), arguments[2:] or [*CASES, "growth"])
    PAGE.write_text(page(json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main(sys.argv[1:])
