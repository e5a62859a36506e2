"""The map of capacity of the paper's rule in docs/sweeps.rst: run the searches and write the table
and the figure.

    python benchmarks/capacity_map.py --study map.db [--max-trials 600]

The study keeps the trials, so that the script can be stopped and goes on.
"""

import argparse
from datetime import date
from pathlib import Path

from seqattractor.report.figures import capacity_figure, save
from seqattractor.report.machine import software_words
from seqattractor.study.capacity import measure_capacity

DOCS = Path(__file__).parents[1] / "docs"
N = (50, 100, 200)
M = (100, 200, 500, 1000)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", required=True)
    parser.add_argument("--max-trials", type=int, default=600)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    found = measure_capacity(
        n=list(N),
        m=list(M),
        flips="10%",
        max_trials=options.max_trials,
        t_max=1000,
        jobs=options.jobs,
        study=options.study,
    )
    save(lambda: capacity_figure(found), DOCS / "images" / "capacity_map.png")
    (group,), (law,) = found.groups, found.laws
    (DOCS / "capacity_map.inc").write_text(table(group, law))


def table(found, law):
    rows = {(each.settings["n"], each.settings["m"]): each for each in found}
    lines = [
        ".. list-table:: The longest T with 95 % success of the paper's rule, N/10 flips in the "
        "cue, and 95 % intervals"
    ]
    lines += ["   :header-rows: 1", "", "   * - "] + [f"     - M = {m}" for m in M]
    for n in N:
        cells = [f"{rows[n, m].t} ({rows[n, m].low} to {rows[n, m].high})" for m in M]
        lines += [f"   * - N = {n}"] + [f"     - {cell}" for cell in cells]
    trials = sum(each.trials for each in found)
    lines += ["", f"Law: {law}.", ""]
    lines += [
        f"{trials} trials, seed {found[0].settings['seed']}, {date.today()}; {software_words()}."
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
