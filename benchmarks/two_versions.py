"""Learning by two versions of this package, in turns: `python benchmarks/two_versions.py OLD_SRC
[case ...]`.

Each version runs in a process of its own, from the folder with its package; the other is `src` of
this repository. They learn the same problems one after the other, with one thread, and each counts
with the processor time of its best turn: a busy machine disturbs both alike. The errors of all
epochs and the weights of both must be the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROUNDS = 7

LEARNER = """
import hashlib, json, sys
sys.path.insert(0, sys.argv[2])
from cases import make_problem
from speed import exact_seconds
for line in sys.stdin:
    problem = make_problem(line.strip())
    exact_seconds(problem, 1)  # import and load
    for _ in range(int(sys.argv[1])):
        seconds, learned = exact_seconds(problem, 1)
        weights = hashlib.sha256(learned.U.tobytes() + learned.V.tobytes()).hexdigest()
        errors = [learned.hidden_errors.tolist(), learned.visible_errors.tolist()]
        print(json.dumps([seconds, *errors, weights]), flush=True)
        sys.stdin.readline()
"""


class Version:
    """A process that learns with the package in a folder."""

    def __init__(self, source: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", LEARNER, str(ROUNDS), str(Path(__file__).parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def say(self, line: str) -> None:
        """Name a case, or ask for the next turn."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def turn(self) -> tuple[float, list[object]]:
        """The seconds of a turn and what was learned."""
        assert self._process.stdout is not None
        seconds, *learned = json.loads(self._process.stdout.readline())
        return float(seconds), learned


def main(old_source: Path, cases: list[str]) -> None:
    """Print the seconds of both versions for each case, and their ratio."""
    versions = [Version(old_source), Version(Path(__file__).parents[1] / "src")]
    for case in cases:
        best = [float("inf")] * 2
        for turn in range(ROUNDS):
            results = []
            for which, version in enumerate(versions):
                version.say(case if turn == 0 else "")
                seconds, learned = version.turn()
                best[which] = min(best[which], seconds)
                results.append(learned)
            if results[0] != results[1]:
                raise SystemExit(f"{case}: the two versions learn different things.")
        for version in versions:
            version.say("")
        old, new = best
        print(
            f"{case}: {1000 * old:.1f} ms before, {1000 * new:.1f} ms now, {old / new:.2f} times "
            "as fast; same errors and weights"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or ["random-70", "random-150", "digits", "walker"])
