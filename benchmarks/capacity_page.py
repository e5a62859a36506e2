"""The tables and figures of docs/capacity.rst, from the results of `seqattractor reproduce capacity`.

    seqattractor reproduce capacity --out OUT [--quick] [--trials 10] [--jobs 2]
    python benchmarks/capacity_page.py OUT/capacity.json

The results are kept in benchmarks/capacity.json; without an argument the page is written from them again.
"""

import argparse
import json
from pathlib import Path

from seqattractor.paper.capacity import FULL, TARGET
from seqattractor.paper.target import Result
from seqattractor.report.figures import save

HERE = Path(__file__).parent
KEPT = HERE / "capacity.json"
DOCS = HERE.parent / "docs"
TABLES = ("lengths", "ablations", "limits", "starts", "robustness", "scaling", "digits")
"""Names of the tables of the target, in its order."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path, default=KEPT)
    text = parser.parse_args().results.read_text()
    KEPT.write_text(text)
    result = Result(json.loads(text))
    (DOCS / "capacity_results.inc").write_text(page(result))
    save(lambda: TARGET.figure(result), DOCS / "images" / "capacity_success.png")
    for word, (_, draw) in TARGET.more_figures(result).items():
        save(draw, DOCS / "images" / f"capacity_{word}.png")


def page(result):
    """The sentence, where it comes from, and all tables, each between two comments that docs/capacity.rst names."""
    parts = {"verdict": TARGET.verdict(result).sentence, "source": source(result)}
    parts |= {name: list_table(table) for name, table in zip(TABLES, TARGET.tables(result), strict=True)}
    return "\n".join(f".. begin {name}\n\n{text}\n\n.. end {name}\n" for name, text in parts.items())


def source(result):
    """Which command gave the results, with how many trials."""
    s, most = result.data["settings"], {}
    for row in result.data["rows"]:
        most.setdefault(row["part"], []).append(row["trials"])
    counts = ", ".join(f"{part} {min(n)}" if min(n) == max(n) else f"{part} {min(n)} to {max(n)}" for part, n in most.items())
    quick = "" if (s["N"], s["M"]) == (FULL.N, FULL.M) else " --quick"
    return (
        f"``seqattractor reproduce capacity{quick} --seed {s['seed']}``: N = {s['N']}, M = {s['M']}, {s['flips']} flips. "
        f"Trials in a cell: {counts} (for scaling a trial is a search of up to {s['search_trials']} networks)."
    )


def list_table(table):
    """A table of the report in reStructuredText."""
    lines = [f".. list-table:: {table.caption}", "   :header-rows: 1", "   :stub-columns: 1", ""]
    for row in (table.columns, *table.rows):
        lines += [f"   {'* -' if k == 0 else '  -'} {cell}" for k, cell in enumerate(row)]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
