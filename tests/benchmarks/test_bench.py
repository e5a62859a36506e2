"""The benchmark measures what it says it measures, and the README shows what was measured."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import cases
import numpy as np
import pytest
import speed
from bench import command
from click.testing import CliRunner

import seqattractor as sa
from quiet import fit_quietly
from seqattractor.engine import reference
from seqattractor.engine.exact import engine

ROOT = Path(__file__).parents[2]


def small_problem():
    return cases.random_problem(20, 30, 8, np.random.default_rng(0))


def test_the_plain_loop_of_the_benchmark_learns_what_the_engine_learns():
    problem = small_problem()
    loop = speed.NumpyLoop(problem)
    for _ in range(3 * len(problem.inputs)):
        loop.step()
    for module in (engine, reference):
        learned = module.learn(
            replace(problem, U=problem.U.copy(), V=problem.V.copy(), max_epochs=3)
        )
        assert np.allclose(loop.U, learned.U * cases.ETA, atol=1e-4)
        assert np.allclose(loop.V, learned.V * cases.ETA, atol=1e-4)


def test_a_comparison_counts_the_same_epochs_for_both_loops():
    taken, learned = speed.exact_seconds(small_problem(), 1)
    assert learned.converged
    assert taken > 0
    loop, per_transition, measured = speed.plain_seconds(small_problem(), 1, 0.05)
    assert measured >= 1
    assert per_transition * measured >= 0.05 * (1 - 1e-9)  # as long as it was told to measure
    assert loop.split()[0] in ("numpy", "PyTorch")


def test_bench_prints_and_writes_the_same_results(tmp_path):
    done = CliRunner().invoke(
        command, ["random-70", "--seconds", "0.3", "--json", "-o", str(tmp_path / "results.json")]
    )
    assert done.exit_code == 0, done.output
    results = json.loads((tmp_path / "results.json").read_text())
    assert json.loads(done.stdout) == results
    (case,) = results["cases"]
    assert case["ratio"] == pytest.approx(case["plain_seconds"] / case["exact_seconds"])
    assert case["converged"]
    assert {"cpu", "cores", "python", "numpy", "scipy", "date"} <= results["machine"].keys()


def test_bench_says_that_the_plain_time_is_computed_from_a_few_epochs():
    done = CliRunner().invoke(command, ["random-70", "--seconds", "0.3"])
    assert "times as fast" in done.output
    assert "measured epochs" in done.output


def test_an_unknown_case_is_rejected_with_the_one_that_was_meant_or_all():
    for word, said in (("digit", "'digits'"), ("zebra", "random-70, random-150, digits, walker")):
        done = CliRunner().invoke(command, [word])
        assert done.exit_code == 2
        assert said in done.output


def test_the_tables_in_readme_and_docs_are_those_of_the_saved_results():
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "report.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_stale_table_is_noticed(tmp_path):
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import report
    finally:
        sys.path.pop(0)
    page = tmp_path / "README.md"
    page.write_text(f"# x\n{report.START}\nold\n{report.END}\nrest\n")
    assert report.stale(page, "new")
    report.put(page, "new")
    assert not report.stale(page, "new")
    assert page.read_text() == f"# x\n{report.START}\nnew\n{report.END}\nrest\n"


@pytest.mark.slow
def test_the_exact_engine_is_much_faster_than_the_plain_loop():
    """More than twenty times, by processor time in one run; `make bench` measures how much on the
    cases of the README.
    """
    X = sa.datasets.random_periodic(70, 100, rng=0)

    def seconds(engine, max_epochs):
        net = sa.SequenceAttractor(
            n_hidden=500, engine=engine, max_epochs=max_epochs, n_jobs=1, random_state=0
        )
        start = time.process_time()
        fit_quietly(net, X)
        return (time.process_time() - start) / net.n_iter_

    seconds("exact", 1)  # imported and loaded
    plain, exact = seconds("reference", 5), min(seconds("exact", 500) for _ in range(3))
    assert plain > 20 * exact
