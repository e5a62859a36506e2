"""What the pages that are written from kept results share: tables in reStructuredText, and a file
of named parts to include, and writing them.
"""

import json
import sys
from pathlib import Path

from seqattractor.paper.target import Result
from seqattractor.report.figures import save

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"


def list_table(table):
    """A table of a report in reStructuredText."""
    lines = [f".. list-table:: {table.caption}", "   :header-rows: 1", "   :stub-columns: 1", ""]
    for row in (table.columns, *table.rows):  # a dash alone would begin a list
        lines += [
            f"   {'* -' if k == 0 else '  -'} {'–' if cell == '-' else cell}"
            for k, cell in enumerate(row)
        ]
    return "\n".join(lines)


def named_parts(parts):
    """Texts by their names, each between two comments that a page can name (`:start-after: .. begin
    name`).
    """
    return "\n".join(
        f".. begin {name}\n\n{text}\n\n.. end {name}\n" for name, text in parts.items()
    )


def write_page(target, page):
    """Write the parts and the picture of a target of `seqattractor reproduce` for its page, from
    its saved result; a folder on the command line has a new one.
    """
    kept = HERE / f"{target.name}.json"
    if sys.argv[1:]:
        kept.write_text((Path(sys.argv[1]) / kept.name).read_text())
    result = json.loads(kept.read_text())
    (DOCS / f"{target.name}_results.inc").write_text(page(result))
    save(lambda: target.figure(Result(result)), DOCS / "images" / f"{target.name}.png")
