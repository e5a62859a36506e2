"""The tables and the figure of docs/continual.rst, from the result of the command that stands
there.

    python benchmarks/continual_page.py OUT      # OUT has continual.json

The result is saved in benchmarks/continual.json; without an argument the page is written from it
again.
"""

import json
import sys
from pathlib import Path

from rst import list_table, named_parts

from seqattractor.paper.continual import TARGET
from seqattractor.paper.target import Result
from seqattractor.report.figures import save

HERE = Path(__file__).parent
KEPT = HERE / "continual.json"
DOCS = HERE.parent / "docs"


def main():
    if sys.argv[1:]:
        KEPT.write_text((Path(sys.argv[1]) / "continual.json").read_text())
    result = json.loads(KEPT.read_text())
    (DOCS / "continual_results.inc").write_text(page(result))
    save(lambda: TARGET.figure(Result(result)), DOCS / "images" / "continual.png")


def page(data):
    """All parts of the page that are results, each between two comments that docs/continual.rst
    names.
    """
    result = Result(data)
    memories, limits, long = TARGET.tables(result)
    return named_parts(
        {
            "paragraph": TARGET.verdict(result).sentence,
            "memories": list_table(memories),
            "limits": list_table(limits),
            "long": list_table(long),
        }
    )


if __name__ == "__main__":
    main()
