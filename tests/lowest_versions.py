"""Print a pip constraint for each direct dependency of the package: the lowest version that
pyproject.toml allows.
"""

import itertools
import re
import tomllib
from pathlib import Path

# Of packages that ours need: newer ones warn of what the lowest versions do, and in tests a warning
# is an error.
INDIRECT = ["pyparsing<3.3"]  # matplotlib 3.9


def lowest_versions():
    """The lines `name==version`, of the dependencies and of all extras; a lower bound that stands
    nowhere is an error.
    """
    project = tomllib.loads(
        (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    lines = set()
    for requirement in itertools.chain(
        project["dependencies"], *project["optional-dependencies"].values()
    ):
        name, bound = re.fullmatch(
            r"([\w.-]+)(?:\[[\w,-]+\])?(?:(?:>=|==)([\d.]+))?(?:,.*)?", requirement
        ).groups()
        if name != project["name"]:
            assert bound, f"{requirement!r} in pyproject.toml has no lower bound"
            lines.add(f"{name}=={bound}")
    return sorted(lines) + INDIRECT


if __name__ == "__main__":
    print("\n".join(lowest_versions()))
