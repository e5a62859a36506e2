"""Pages of the documentation that scripts in benchmarks write from saved results."""

import importlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def script(name):
    """Import a script of benchmarks."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def parts_written(results):
    """The names of the parts of a file of results."""
    return sorted(re.findall(r"^\.\. begin (\w+)$", (DOCS / results).read_text(), re.MULTILINE))


def parts_shown(page, results):
    """The names of the parts of a file of results that a page shows."""
    return sorted(
        re.findall(
            rf"include:: {results}\n +:start-after: \.\. begin (\w+)", (DOCS / page).read_text()
        )
    )
