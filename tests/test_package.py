"""The package as a whole: quick to import, layered, documented."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import seqattractor as sa

SOURCE = Path(sa.__file__).parent
# The floors of the house, lowest first: a module imports from its own floor and those below, also inside functions.
FLOORS = [
    ("_checks", "_faces", "_files", "sequences", "noise"),
    ("learning",),
    ("networks",),
    ("datasets", "io"),
    ("analysis",),
    ("plots",),
    ("experiments",),
    ("tasks",),
    ("report",),
    ("paper",),
    ("bench", "cli", "lab"),
]
FLOOR_OF = {name: k for k, names in enumerate(FLOORS) for name in names}


def imports_of(path):
    """The parts of the package that a file imports, also inside functions, each as the first part of its name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("seqattractor."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.ImportFrom) and node.module == "seqattractor":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("seqattractor."))


def test_imports_point_down():
    upward = []
    seen = 0
    for path in SOURCE.rglob("*.py"):
        part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if part.startswith("__"):
            continue
        for name in imports_of(path):
            if name == "__version__":
                continue
            seen += 1
            if FLOOR_OF[name] > FLOOR_OF[part]:
                upward.append(f"{path.relative_to(SOURCE)} imports {name}")
    assert upward == []
    assert seen > 100


@pytest.mark.parametrize("heavy", ["matplotlib", "numba", "sklearn", "scipy", "PIL", "rich"])
def test_importing_the_package_loads_nothing_heavy(heavy):
    code = f"import sys, seqattractor, seqattractor.cli; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_public_name_exists_and_is_documented():
    for name in sa.__all__:
        assert getattr(sa, name).__doc__, name


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no_such_thing"):
        sa.no_such_thing  # noqa: B018
