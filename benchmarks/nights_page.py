"""The paragraphs, tables and figures of docs/nights.rst, from the results of the command that
stands there.

    python benchmarks/nights_page.py OUT      # OUT has nights.json and sleep.json

Results are saved in benchmarks/nights.json; without an argument the page is written from them
again.
"""

import json
import sys
from pathlib import Path

from rst import list_table, named_parts

from seqattractor.paper import nights, sleep
from seqattractor.paper.target import Result
from seqattractor.report.figures import save

HERE = Path(__file__).parent
KEPT = HERE / "nights.json"
DOCS = HERE.parent / "docs"
TARGETS = {"nights": nights.TARGET, "sleep": sleep.TARGET}


def main():
    if sys.argv[1:]:
        found = {
            name: json.loads((Path(sys.argv[1]) / f"{name}.json").read_text()) for name in TARGETS
        }
        KEPT.write_text(json.dumps(found, indent=1) + "\n")
    results = json.loads(KEPT.read_text())
    (DOCS / "nights_results.inc").write_text(page(results))
    for name, target in TARGETS.items():
        save(
            lambda target=target, name=name: target.figure(Result(results[name])),
            DOCS / "images" / f"{name}.png",
        )


def page(results):
    """A paragraph and a table for each target, each between two comments that docs/nights.rst
    names.
    """
    parts = {}
    for name, target in TARGETS.items():
        result = Result(results[name])
        [table] = target.tables(result)
        parts[name] = target.verdict(result).sentence
        parts[f"{name}_table"] = list_table(table)
    return named_parts(parts)


if __name__ == "__main__":
    main()
