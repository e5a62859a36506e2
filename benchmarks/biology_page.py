"""The tables, paragraphs and figure of docs/biology.rst, from the result of the command that stands
there.

    python benchmarks/biology_page.py OUT...     # each OUT has a biology.json

The rows of several OUTs are put together. The result is saved in benchmarks/biology.json; without
an argument the page is written from it again.
"""

import json
import re
import sys
from pathlib import Path

from rst import list_table, named_parts

from seqattractor.paper.biology import TARGET, longest_of, paragraphs
from seqattractor.paper.target import Result
from seqattractor.report.figures import save

HERE = Path(__file__).parent
KEPT = HERE / "biology.json"
DOCS = HERE.parent / "docs"


def main():
    if sys.argv[1:]:
        parts = [json.loads((Path(out) / "biology.json").read_text()) for out in sys.argv[1:]]
        assert all(part["settings"] == parts[0]["settings"] for part in parts)
        rows = [row for part in parts for row in part["rows"] if row["part"] != "longest"]
        together = {**parts[0], "rows": rows}
        rows += longest_of(Result(together))
        KEPT.write_text(json.dumps(together, indent=1) + "\n")
    result = json.loads(KEPT.read_text())
    (DOCS / "biology_results.inc").write_text(page(result))
    save(lambda: TARGET.figure(Result(result)), DOCS / "images" / "biology.png")


def page(data):
    """All parts of the page that are results, each between two comments that docs/biology.rst
    names.
    """
    result = Result(data)
    constraints, dynamics = TARGET.tables(result)
    return named_parts(
        {"verdict": TARGET.verdict(result).sentence}
        | {re.sub(r"\W+", "_", kind): text for kind, text in paragraphs(result).items()}
        | {"constraints": list_table(constraints), "dynamics": list_table(dynamics)}
    )


if __name__ == "__main__":
    main()
