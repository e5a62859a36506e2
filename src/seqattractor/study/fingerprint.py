"""Which code a trial runs: a digest of its module and of everything of this package that it imports, directly or not."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_PACKAGE = _ROOT.name
# Tables whose other lines are of no concern to a trial: what it uses of them goes into its fingerprint separately.
_TABLES = {f"{_PACKAGE}.networks._registry": "REGISTRY"}
# Modules that call compiled code, and the folder of its sources, which is installed with them: the same digest on every platform.
_COMPILED = {f"{_PACKAGE}.learning.kernels": "csrc"}


@cache
def fingerprint(modules: frozenset[str], also: str = "") -> str:
    """Give a digest (12 hexadecimal digits) of the sources of modules of this package, of all that they import, at the top or
    inside functions, and of anything `also`.

    Examples
    --------
    >>> one = frozenset({"seqattractor.noise"})
    >>> fingerprint(one) == fingerprint(one), fingerprint(one) == fingerprint(frozenset({"seqattractor.learning.rule"}))
    (True, False)
    """
    seen: set[str] = set()
    todo = set(modules)
    while todo:
        seen |= todo
        todo = {name for module in todo for name in imported_by(module)} - seen
    digest = hashlib.sha256(also.encode())
    for module in sorted(seen):
        digest.update(module.encode() + b"\0" + _read(module)[1])
    return digest.hexdigest()[:12]


@cache
def imported_by(module: str) -> frozenset[str]:
    """Give the modules of this package that a module imports itself; those for type checkers only do not count.

    Examples
    --------
    >>> "seqattractor._checks" in imported_by("seqattractor.noise")
    True
    """
    path = _file_of(module)
    if path is None or path.with_suffix(".pyi").exists():  # a package that loads its names when they are asked for
        return frozenset()
    return frozenset(name for name in _read(module)[0] if _file_of(name) is not None and name != _PACKAGE)


def _names_in(tree: ast.AST, package: str) -> Iterator[str]:
    """Everything that could be a module of this package in the import statements of a tree."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from _names_in(other, package)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)
        elif not isinstance(node, ast.expr):  # which holds no statement, and there are many
            yield from _names_in(node, package)


@cache
def _read(module: str) -> tuple[frozenset[str], bytes]:
    """What a module imports, of this package or not, and its source: without the table, and with the C, that are named above."""
    path = _file_of(module)
    if path is None:
        raise ValueError(f"{module} is not a module of {_PACKAGE}.")
    source = path.read_bytes()
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == _TABLES.get(module):
            lines = source.splitlines(keepends=True)
            source = b"".join(lines[: node.lineno - 1] + lines[node.end_lineno :])
    if module in _COMPILED:
        sources = sorted(path.with_name(_COMPILED[module]).glob("*.[ch]"))
        source += b"".join(file.name.encode() + b"\0" + file.read_bytes() for file in sources)
    names = _names_in(tree, module if path.name == "__init__.py" else module.rpartition(".")[0])
    return frozenset(names), source  # the tree goes: to keep dozens would let the garbage collector take as long as the parser


@cache
def _file_of(module: str) -> Path | None:
    """The file of a module of this package, or None."""
    first, *rest = module.split(".")
    place = _ROOT.joinpath(*rest)
    if first != _PACKAGE:
        return None
    return next((p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file()), None)
