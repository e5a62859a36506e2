"""Write the table of docs/trust.rst from the saved results of `make trust`.

python tests/trust/table.py             # write
python tests/trust/table.py --check     # fail if the page does not show the saved results
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
RESULTS = Path(__file__).parent / "results"
DOCS = ROOT / "docs" / "trust_results.inc"
COLUMNS = ["tried", "answered", "rejected", "wrong", "crashes", "hangs"]
HEADER = [
    "campaign",
    "tried",
    "answered rightly",
    "rejected in one sentence",
    "silently wrong",
    "crashes",
    "hangs",
    "largest memory",
]


def table() -> str:
    """Return the table, one row per campaign."""
    results = sorted(
        (json.loads(path.read_text()) for path in RESULTS.glob("*.json")),
        key=lambda counts: counts["name"],
    )
    rows = [
        [
            counts["name"],
            *(f"{counts[column]:,}" for column in COLUMNS),
            f"{counts['largest_memory'] / 1e6:,.0f} MB",
        ]
        for counts in results
    ]
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in [HEADER, *rows]:
        lines += [f"   {'* -' if not n else '  -'} {cell}" for n, cell in enumerate(row)]
    return "\n".join([".. Written by tests/trust/table.py; do not edit.", "", *lines, ""])


def main() -> None:
    """Write the table, or check it."""
    if "--check" not in sys.argv:
        DOCS.write_text(table())
    elif not DOCS.exists() or DOCS.read_text() != table():
        sys.exit(
            f"{DOCS.relative_to(ROOT)} does not show the saved results: run python "
            "tests/trust/table.py"
        )


if __name__ == "__main__":
    main()
