"""`seqattractor bench`: how fast the exact engine is, measured beside the plain loop in the same run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from seqattractor._files import atomic_write
from seqattractor._suggest import no_such

EXAMPLES = """\b
Examples:
  seqattractor bench random-70 random-150
  seqattractor bench --growth --memory digits -o results.json
  seqattractor bench --kept results.json"""


@click.command(name="bench", epilog=EXAMPLES)
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Threads of both loops.")
@click.option(
    "--seconds", type=click.FloatRange(min=0.1), default=10.0, show_default=True, help="Seconds for the plain loop of each case."
)
@click.option("--growth", is_flag=True, help="Also: how the time grows with N, M and T.")
@click.option(
    "--memory", multiple=True, type=click.Choice(["digits", "large"]), help="Also: peak memory; large is N=65536, T=300."
)
@click.option(
    "--kept",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Also: each ratio beside that in this file, which an earlier -o wrote.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the results to this JSON file.")
def command(
    cases: tuple[str, ...],
    jobs: int,
    seconds: float,
    growth: bool,
    memory: tuple[str, ...],
    kept: Path | None,
    as_json: bool,
    out: Path | None,
) -> None:
    """Measure the exact engine beside the plain online loop, in the same run and with the same number of threads.

    CASE is random-70, random-150, digits or walker; all of them if none is named. The plain loop is PyTorch's if PyTorch is
    installed and numpy's otherwise. It runs for --seconds only; the time it would need for all epochs is computed from that.
    """
    from seqattractor.bench import speed
    from seqattractor.bench.cases import CASES
    from seqattractor.bench.kept import beside, read_ratios
    from seqattractor.bench.memory import peak_memory
    from seqattractor.report.machine import machine

    unknown = [case for case in cases if case not in CASES]
    if unknown:
        raise click.UsageError(no_such("case", unknown[0], CASES))
    before = None if kept is None else read_ratios(kept)  # now: it may be the file that is written in the end
    tell = (lambda _: None) if as_json else click.echo
    results: dict[str, Any] = {"machine": machine(), "cases": []}
    for case in cases or tuple(CASES):
        results["cases"].append(speed.compare(case, n_jobs=jobs, seconds=seconds))
        tell(_case_line(results["cases"][-1]))
    if memory:
        results["memory"] = [peak_memory(case, n_jobs=jobs) for case in memory]
        for line in map(_memory_line, results["memory"]):
            tell(line)
    if growth:
        results["growth"] = speed.growth(n_jobs=jobs)
        for line in map(_growth_line, results["growth"]):
            tell(line)
    if before is not None:
        results["kept"] = [beside(case, before) for case in results["cases"]]
        for line in map(_kept_line, results["kept"]):
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
        f"  exact engine {case['exact_seconds']:.3g} s for {case['epochs']} epochs ({end}), {case['n_jobs']} thread(s)\n"
        f"  {case['plain_loop']} loop {case['plain_seconds_500_epochs']:,.3g} s for 500 epochs, computed from "
        f"{case['plain_measured_epochs']:.1f} measured epochs ({case['ratio']:,.0f} times if it stopped where the engine stops)"
    )


def _memory_line(memory: dict[str, Any]) -> str:
    """Peak memory in words."""
    return (
        f"{memory['case']} (N={memory['N']}, M={memory['M']}, n={memory['n']}): {memory['seconds']:.1f} s for {memory['epochs']} "
        f"epochs, peak {memory['peak_mb']:,.0f} MB, of which the interpreter {memory['interpreter_mb']:,.0f} MB"
    )


def _growth_line(growth: dict[str, Any]) -> str:
    """Growth with one size in words."""
    name, values = growth["varies"], growth["values"]
    return (
        f"time to learn grows as {name}^{growth['exact_exponent']:.2f} for {name} = {values[0]} to {values[-1]} "
        f"(plain loop: {name}^{growth['plain_exponent']:.2f})"
    )


def _kept_line(both: dict[str, Any]) -> str:
    """A ratio both the kept one in words."""
    from seqattractor.bench.kept import is_slower

    now = f"{both['case']}: now {both['now']:,.1f} times as fast as the plain loop"
    if both["kept"] is None:
        return f"{now}; nothing was kept of this case against this plain loop and number of threads"
    line = f"{now}, kept {both['kept']:,.1f}, now/kept {both['now_by_kept']:.2f}"
    if is_slower(both):
        line += f"\n  SLOWER than kept: it takes {1 / both['now_by_kept']:.1f} times as long; measure again on a quiet machine"
    return line
