"""Write the tables and the picture of the stored results (benchmarks/results.json) into the README
and the docs.

    python benchmarks/report.py             # write
    python benchmarks/report.py --check     # fail if a page does not show the stored results

New results, with PyTorch installed:

    python benchmarks/bench.py --growth --memory digits --memory large -o benchmarks/results.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results.json"
README = ROOT / "README.md"
DOCS = ROOT / "docs" / "engine_results.inc"
PICTURE = ROOT / "docs" / "images" / "engine_growth.png"
START, END = "<!-- bench:start -->", "<!-- bench:end -->"


def seconds(value: float) -> str:
    """A time that one can read."""
    if value < 120:
        return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def measured_on(results: dict) -> str:
    """Machine and versions in one sentence."""
    machine, case = results["machine"], results["cases"][0]
    return (
        f"Measured {machine['date']} on {machine['cores']} cores of an {machine['cpu']} (load "
        f"{machine['load']} at the start), Python {machine['python']}, numpy {machine['numpy']}, "
        f"{case['plain_loop']}; {case['n_jobs']} thread{'s' if case['n_jobs'] > 1 else ''} each."
    )


def rows(results: dict) -> list[list[str]]:
    """The comparison, one row per case."""
    return [
        [
            case["what"],
            seconds(case["plain_seconds_500_epochs"]),
            f"{seconds(case['exact_seconds'])} ({case['epochs']} epochs)",
            f"{case['plain_seconds_500_epochs'] / case['exact_seconds']:,.0f}x",
            f"{case['ratio']:,.0f}x",
        ]
        for case in results["cases"]
    ]


HEADER = [
    "learning",
    "plain loop, 500 epochs",
    "exact engine, to zero error",
    "ratio",
    "if the plain loop stopped there, too",
]
NOTE = (
    "The plain loop runs 500 epochs, as in the paper; its time is extrapolated from a few seconds "
    "of it. The engine stops after the first epoch without an error, since all later ones would "
    "change nothing."
)


def markdown(results: dict) -> str:
    """The table for the README."""
    lines = [HEADER, ["---"] * len(HEADER), *rows(results)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{table}\n\n{NOTE} {measured_on(results)} `make bench` measures yours."


def rst(results: dict) -> str:
    """The measured part of docs/engine.rst."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in [HEADER, *rows(results)]:
        lines += [f"   {'*' if k == 0 else ' '} - {cell}" for k, cell in enumerate(row)]
    lines += ["", f"{NOTE} {measured_on(results)}", ""]
    for memory in results.get("memory", []):
        lines.append(
            f"* {memory['case']} (N={memory['N']}, M={memory['M']}, {memory['n']} transitions): "
            f"{seconds(memory['seconds'])} for {memory['epochs']} epochs, peak "
            f"{memory['peak_mb']:,.0f} MB, of which {memory['interpreter_mb']:,.0f} MB are the "
            "interpreter with its libraries."
        )
    for growth in results.get("growth", []):
        name, values = growth["varies"], growth["values"]
        others = ", ".join(f"{key}={value}" for key, value in growth["others"].items())
        lines.append(
            f"* The time to zero error grows as {name} to the power {growth['exact_exponent']:.2f} "
            f"({name} from {values[0]} to {values[-1]}, {others}); that of the plain loop to the "
            f"power {growth['plain_exponent']:.2f}."
        )
    return "\n".join(lines) + "\n"


def stale(page: Path, text: str) -> bool:
    """Whether the part between the markers (or the whole page, if it has none) is not `text`."""
    found = page.read_text() if page.exists() else ""
    return f"{START}\n{text}\n{END}" not in found if START in found else found != text


def put(page: Path, text: str) -> None:
    """Write `text` between the markers of a page, or as the whole page."""
    found = page.read_text() if page.exists() else ""
    if START in found:
        before, rest = found.split(START, 1)
        text = f"{before}{START}\n{text}\n{END}{rest.split(END, 1)[1]}"
    page.write_text(text)


def draw(results: dict) -> None:
    """Seconds against N, M and T, with the fitted exponents."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(results["growth"]), figsize=(10, 3.4), sharey=True, layout="constrained"
    )
    for ax, growth in zip(axes, results["growth"], strict=True):
        name = growth["varies"]
        for kind, label in (("plain", "plain loop"), ("exact", "exact engine")):
            exponent = growth[f"{kind}_exponent"]
            ax.loglog(
                growth["values"],
                growth[f"{kind}_seconds"],
                "o-",
                label=f"{label}, {name}$^{{{exponent:.2f}}}$",
            )
        ax.set_xticks(growth["values"], [str(value) for value in growth["values"]])
        ax.minorticks_off()
        ax.set_xlabel(
            f"{name}   ({', '.join(f'{key}={value}' for key, value in growth['others'].items())})"
        )
        ax.legend(frameon=False, loc="upper left", fontsize=8)
        ax.set_ylim(top=200)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("seconds to zero error")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=130)


def main() -> int:
    """Write the pages, or check them."""
    results = json.loads(RESULTS.read_text())
    pages = [(DOCS, rst(results))]
    if README.exists() and START in README.read_text():
        pages.append((README, markdown(results)))
    if "--check" in sys.argv:
        old = [str(page.relative_to(ROOT)) for page, text in pages if stale(page, text)]
        if old:
            print(
                f"{', '.join(old)}: not the stored results; run python benchmarks/report.py",
                file=sys.stderr,
            )
        return int(bool(old))
    for page, text in pages:
        put(page, text)
    if "growth" in results:
        draw(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
