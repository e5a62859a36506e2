"""How fast the exact engine is, measured beside the plain loop in the same run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import speed
from cases import CASES

from seqattractor._files import atomic_write
from seqattractor._suggest import no_such
from seqattractor.report.machine import machine

EXAMPLES = """\b
Examples:
  python benchmarks/bench.py random-70 random-150
  python benchmarks/bench.py --growth --memory digits -o results.json
  python benchmarks/bench.py --baseline results.json"""


@click.command(name="bench", epilog=EXAMPLES)
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Threads of both loops.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=10.0,
    show_default=True,
    help="Seconds for the plain loop of each case.",
)
@click.option("--growth", is_flag=True, help="Also: how the time grows with N, M and T.")
@click.option(
    "--memory",
    multiple=True,
    type=click.Choice(["digits", "large"]),
    help="Also: peak memory; large is N=65536, T=300.",
)
@click.option(
    "--baseline",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Also: each ratio beside that in this file, which an earlier -o wrote.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the results to this JSON file.",
)
def command(
    cases: tuple[str, ...],
    jobs: int,
    seconds: float,
    growth: bool,
    memory: tuple[str, ...],
    baseline: Path | None,
    as_json: bool,
    out: Path | None,
) -> None:
    """Measure the exact engine beside the plain online loop, in the same run and with the same
    number of threads.

    CASE is random-70, random-150, digits or walker; all of them if none is named. The plain loop is
    PyTorch's if PyTorch is installed and numpy's otherwise. It runs for --seconds only; the time it
    would need for all epochs is computed from that.
    """
    unknown = [case for case in cases if case not in CASES]
    if unknown:
        raise click.UsageError(no_such("case", unknown[0], CASES))
    before = (
        None if baseline is None else read_ratios(baseline)
    )  # now: it may be the file that is written in the end
    tell = (lambda _: None) if as_json else click.echo
    results: dict[str, Any] = {"machine": machine(), "cases": []}
    for case in cases or tuple(CASES):
        results["cases"].append(speed.compare(case, n_jobs=jobs, seconds=seconds))
        tell(_case_line(results["cases"][-1]))
    if memory:
        results["memory"] = [speed.peak_memory(case, n_jobs=jobs) for case in memory]
        for line in map(_memory_line, results["memory"]):
            tell(line)
    if growth:
        results["growth"] = speed.growth(n_jobs=jobs)
        for line in map(_growth_line, results["growth"]):
            tell(line)
    if before is not None:
        results["baseline"] = [beside(case, before) for case in results["cases"]]
        for line in map(_baseline_line, results["baseline"]):
            tell(line)
    if as_json:
        click.echo(json.dumps(results, indent=1))
    if out is not None:
        with atomic_write(out) as file:
            file.write((json.dumps(results, indent=1) + "\n").encode())


def _case_line(case: dict[str, Any]) -> str:
    """One case in words."""
    end = "to zero error" if case["converged"] else "not converged"
    return (
        f"{case['what']}: {case['ratio_500_epochs']:,.0f} times as fast\n"
        f"  exact engine {case['exact_seconds']:.3g} s for {case['epochs']} epochs ({end}), "
        f"{case['n_jobs']} thread(s)\n"
        f"  {case['plain_loop']} loop {case['plain_seconds_500_epochs']:,.3g} s for 500 epochs, "
        f"computed from {case['plain_measured_epochs']:.1f} measured epochs ({case['ratio']:,.0f} "
        "times if it stopped where the engine stops)"
    )


def _memory_line(memory: dict[str, Any]) -> str:
    """Peak memory in words."""
    return (
        f"{memory['case']} (N={memory['N']}, M={memory['M']}, n={memory['n']}): "
        f"{memory['seconds']:.1f} s for {memory['epochs']} epochs, peak {memory['peak_mb']:,.0f} "
        f"MB, of which the interpreter {memory['interpreter_mb']:,.0f} MB"
    )


def _growth_line(growth: dict[str, Any]) -> str:
    """Growth with one size in words."""
    name, values = growth["varies"], growth["values"]
    return (
        f"time to learn grows as {name}^{growth['exact_exponent']:.2f} for {name} = {values[0]} to "
        f"{values[-1]} (plain loop: {name}^{growth['plain_exponent']:.2f})"
    )


def _baseline_line(both: dict[str, Any]) -> str:
    """A ratio and its baseline in words."""
    now = f"{both['case']}: now {both['now']:,.1f} times as fast as the plain loop"
    if both["baseline"] is None:
        return f"{now}; the baseline has no such case against this plain loop with as many threads"
    line = f"{now}, baseline {both['baseline']:,.1f}, now/baseline {both['now_by_baseline']:.2f}"
    if is_slower(both):
        line += (
            f"\n  SLOWER than the baseline: it takes {1 / both['now_by_baseline']:.1f} times as "
            "long; measure again"
        )
    return line


TOLERANCE = 4 / 3
"""How many times the baseline's time a case may take before it is called slower: times vary by some
tenths.
"""


def read_ratios(path: Path) -> dict[str, dict[str, Any]]:
    """The cases of a file that -o wrote, by their names."""
    try:
        cases = {case["case"]: case for case in json.loads(path.read_text())["cases"]}
        ratios = [float(case["ratio"]) for case in cases.values()]
        if not all(0 < ratio < float("inf") for ratio in ratios):
            raise ValueError("a ratio is not above 0")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(
            f"{path} is not a file of results; write one with `python benchmarks/bench.py -o "
            f"{path}`."
        ) from None
    return cases


def beside(case: dict[str, Any], baseline: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The ratio of a case now and in the baseline, or None if that was against another plain loop
    or with other threads.
    """
    before = baseline.get(case["case"])
    both: dict[str, Any] = {"case": case["case"], "now": case["ratio"], "baseline": None}
    if before is not None and _rivals(before) == _rivals(case):
        both |= {"baseline": before["ratio"], "now_by_baseline": case["ratio"] / before["ratio"]}
    return both


def is_slower(both: dict[str, Any]) -> bool:
    """Whether a case takes more than `TOLERANCE` times as long as in the baseline, counted in the
    plain loop's time.
    """
    return both["baseline"] is not None and bool(both["now_by_baseline"] * TOLERANCE < 1)


def _rivals(case: dict[str, Any]) -> tuple[str, Any]:
    """What a ratio is against: numpy or PyTorch (of any version), and the number of threads."""
    return str(case.get("plain_loop", "")).split(" ")[0], case.get("n_jobs")


if __name__ == "__main__":
    command()
