"""The parameters of a network, read from the source of its class: to know them, nothing that learns need be imported."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any


def read_parameters(module: str, cls: str) -> dict[str, Any] | None:
    """Give the parameters of a class of this package with their defaults; None if only the class itself can tell them.

    It can where `__init__` stands in the class, and every parameter has a default that is written out.

    Examples
    --------
    >>> read_parameters("zoo.lookup", "LookupMemory")
    {'order': 1, 'on_conflict': 'raise'}
    """
    try:
        tree = ast.parse(Path(__file__).parents[1].joinpath(*module.split(".")).with_suffix(".py").read_bytes())
    except OSError:  # an installation without sources
        return None
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == cls)
    methods = (node for found in classes for node in found.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    init = next(methods, None)
    if init is None or init.args.vararg is not None or init.args.kwarg is not None:
        return None
    positional = [*init.args.posonlyargs, *init.args.args][1:]  # without self
    names = [each.arg for each in (*positional, *init.args.kwonlyargs)]
    defaults = [value for value in (*init.args.defaults, *init.args.kw_defaults) if value is not None]
    if len(defaults) != len(names):
        return None
    try:
        return {name: ast.literal_eval(value) for name, value in zip(names, defaults, strict=True)}
    except ValueError:  # a name or a call
        return None
