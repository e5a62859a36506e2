"""The package as a whole: quick to import, layered, documented."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import seqattractor as sa

SOURCE = Path(sa.__file__).parent
# The layers of the package, lowest first: a module imports from its own layer and those below, also
# inside functions.
LAYERS = [
    (
        "_checks",
        "_children",
        "_dask",
        "_faces",
        "_files",
        "_named_axes",
        "_progress",
        "_suggest",
        "_unchanged",
        "sequences",
        "noise",
    ),
    ("rule", "rules", "constraints", "engine", "exchange"),
    ("networks",),
    ("zoo",),
    ("encoders",),
    ("datasets", "io"),
    ("analysis", "theory"),
    ("model_selection", "plots", "zoo.experiments"),
    ("study",),
    ("replay",),
    ("tasks",),
    ("report",),
    ("paper",),
    ("cli", "lab"),
]
LAYER_OF = {name: k for k, names in enumerate(LAYERS) for name in names}


def layer_of(module):
    """Return the layer of a module: that of its folder, or of the folder inside it that has a layer
    of its own.
    """
    folder, *inner = module.split(".")[1:]
    return LAYER_OF.get(".".join([folder, *inner[:1]]), LAYER_OF[folder])


def module_name(path):
    """seqattractor.x.y for a file."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in SOURCE.rglob("*.py")}


def executed(tree):
    """All nodes of a file but those under `if TYPE_CHECKING`, which never run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from executed(node)


def imports_of(path):
    """The modules of the package that a file imports, at its top or inside functions."""
    for node in executed(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] == "seqattractor"
        ):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module
        elif isinstance(node, ast.Import):
            yield from (
                alias.name for alias in node.names if alias.name.startswith("seqattractor.")
            )


IMPORTS = {
    name: sorted(set(imports_of(path)) - {"seqattractor", name}) for name, path in MODULES.items()
}


def test_imports_point_down():
    upward = []
    for name, imported in IMPORTS.items():
        if name.count(".") == 0 or name.endswith("__main__"):
            continue
        layer = layer_of(name)
        upward += [f"{name} imports {other}" for other in imported if layer_of(other) > layer]
    assert upward == []
    assert sum(map(len, IMPORTS.values())) > 300


def test_no_imports_go_round():
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            path.append(name)
            for other in IMPORTS[name]:
                visit(other)
            path.pop()
            done.add(name)

    for name in IMPORTS:
        visit(name)


COMPUTING = [
    *("sequences", "engine", "networks", "encoders", "datasets", "io"),
    *("analysis", "model_selection", "study", "replay", "tasks", "zoo", "exchange"),
]


def loaded_by(code, modules):
    """Which of some modules a new Python has imported after running code."""
    code = f"import sys\n{code}\nprint(*[name for name in {modules} if name in sys.modules])"
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()


def test_what_computes_imports_neither_a_terminal_nor_a_server_nor_pictures():
    modules = [name for name in MODULES if name.split(".")[1:2] and name.split(".")[1] in COMPUTING]
    assert {name.split(".")[1] for name in modules} == set(COMPUTING)
    code = f"import importlib\nfor name in {modules}: importlib.import_module(name)"
    assert loaded_by(code, ("click", "rich", "starlette", "uvicorn", "matplotlib")) == []


PUBLIC_PACKAGES = ("encoders", "datasets", "io", "analysis", "plots", "model_selection")
PUBLIC_PACKAGES += ("replay", "sequences")


def test_modules_of_public_packages_are_marked_private():
    inside = [
        name
        for name in MODULES
        if name.split(".")[1:2] and name.split(".")[1] in PUBLIC_PACKAGES and name.count(".") > 1
    ]
    assert [name for name in inside if not name.split(".")[2].startswith("_")] == []
    assert set(PUBLIC_PACKAGES) - {"sequences"} <= set(sa.__all__)


def test_tests_read_nothing_private():
    """What a test needs of an object or a module has a name without an underscore; only modules may
    be private.
    """
    private = []
    for path in Path(__file__).parents[1].glob("*/test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("seqattractor"):
                names = [
                    f"{node.module}.{alias.name}"
                    for alias in node.names
                    if alias.name.startswith("_")
                ]
                private += [f"{path.name}: {name}" for name in names if name not in MODULES]
            elif (
                isinstance(node, ast.Attribute)
                and node.attr.startswith("_")
                and not node.attr.startswith("__")
            ):
                owner = ast.unparse(node.value)
                if node.attr not in ("_repr_html_", "_exit", "_replace") and owner not in (
                    "self",
                    "sys",
                ):
                    private.append(f"{path.name}: {owner}.{node.attr}")
            elif isinstance(node, ast.Attribute) and node.attr in ("__closure__", "__code__"):
                private.append(f"{path.name}: {node.attr}")
    assert private == []


def test_importing_the_package_loads_nothing_heavy():
    assert (
        loaded_by(
            "import seqattractor, seqattractor.cli",
            ("matplotlib", "sklearn", "scipy", "PIL", "rich"),
        )
        == []
    )


def test_the_process_that_reads_a_file_starts_quickly():
    assert (
        loaded_by(
            "import seqattractor.io._subprocess", ("matplotlib", "sklearn", "scipy", "pandas")
        )
        == []
    )


def test_every_public_name_exists_and_is_documented():
    for name in sa.__all__:
        assert getattr(sa, name).__doc__, name


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no_such_thing"):
        sa.no_such_thing  # noqa: B018


def written_by_hand(path):
    """The calls of a file that write a file under its own name at once, so that it can be left
    half-written.
    """
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        modes = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
        writes = any(
            isinstance(mode, ast.Constant) and str(mode.value) in ("w", "a", "x", "wb", "ab", "xb")
            for mode in modes
        )
        if name in ("write_text", "write_bytes", "mkstemp") or (name == "open" and writes):
            yield ast.unparse(node)


def test_every_file_is_written_whole_or_not_at_all():
    """Only `_files.py` opens files to write; uploads of the lab go into a temporary folder of their
    own, and so does an exported page, which takes the place of an older one when it is complete.
    """
    found = {
        str(path.relative_to(SOURCE)): list(written_by_hand(path)) for path in MODULES.values()
    }
    assert {name for name, calls in found.items() if calls} - {"networks/model_file.py"} == {
        "_files.py",
        "lab/export.py",
        "lab/uploads.py",
    }
