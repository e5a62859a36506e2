"""The package as a whole: quick to import, layered, documented."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import seqattractor as sa

SOURCE = Path(sa.__file__).parent
# Imports point one way: a module may import from its own layer and those to its left.
LAYERS = ["sequences", "learning", "networks", "analysis", "experiments", "paper", "cli"]
BOTTOM = ["checks", "successors", "loops", "noise", "storage", "datasets"]
LAYER_OF = {name: k for k, name in enumerate(LAYERS)} | dict.fromkeys(BOTTOM, 0) | {"lab": 6, "bench": 6}
LAYER_OF |= {"plots": 4}  # imported only by paper, cli and lab


def imports_of(path):
    """The modules of the package that a file imports, also inside functions, as the first part of their name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("seqattractor."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.ImportFrom) and node.module == "seqattractor":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("seqattractor."))


def test_imports_point_one_way():
    seen = 0
    for path in SOURCE.rglob("*.py"):
        part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if part.startswith("__"):
            continue
        layer = LAYER_OF[part]
        for name in imports_of(path):
            if name not in LAYER_OF:  # a public name of the package, which is re-exported from anywhere
                assert name in ("__version__", *sa.__all__)
                continue
            seen += 1
            assert LAYER_OF[name] <= layer, f"{path.relative_to(SOURCE)} imports {name}"
            assert name != "plots" or layer >= LAYER_OF["plots"], f"{path.relative_to(SOURCE)} imports plots"
    assert seen > 20


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
