"""The page's modules joined into one script, so that a browser asks for one file instead of two
dozen.
"""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable

STATIC: Traversable = files("seqattractor.lab").joinpath("static")
SCRIPT = "lab.js"  # under which `index.html` asks for it

_IMPORT = re.compile(
    r'^import (?:\{(?P<names>[^{}]*)\}|\* as (?P<all>\w+)) from "\./(?P<file>[\w-]+\.js)";$',
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export (?=(?:async function\*?|function\*?|class|const) ?(?P<name>[\w$]+))", re.MULTILINE
)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def bundle(entry: str = "main.js", folder: Traversable = STATIC) -> str:
    """Return one classic script that does what the module `entry` does with all that it imports.

    Each module becomes a function that is called once and gives its exports, after those that it
    imports. That is the same as modules do as long as imports go round in no circle and exports do
    not change, so only functions, classes and constants can be exported, under their own names;
    anything else raises ValueError.
    """
    scripts: dict[str, str] = {}

    def visit(file: str, above: tuple[str, ...]) -> None:
        if file in above:
            raise ValueError(
                f"modules import each other in a circle: {' -> '.join(above)} -> {file}"
            )
        if file in scripts:
            return
        text = folder.joinpath(file).read_text(encoding="utf-8")
        for found in _IMPORT.finditer(text):
            visit(found["file"], (*above, file))
        scripts[file] = _as_function(file, text)

    visit(entry, ())
    return '"use strict";\n{\n' + "\n".join(scripts.values()) + "}\n"


def _as_function(file: str, text: str) -> str:
    """Return a module as a constant that holds its exports."""
    names = [found["name"] for found in _EXPORT.finditer(text)]
    body = _EXPORT.sub("", _IMPORT.sub(_as_constant, text))
    if rest := _OTHER.search(body):
        raise ValueError(f"{file} has a line that the bundle does not understand: {rest[0]}")
    exports = f"return {{ {', '.join(names)} }};\n" if names else ""
    return f"// {file}\nconst {_variable(file)} = (() => {{\n{body}{exports}}})();\n"


def _as_constant(found: re.Match[str]) -> str:
    """Return an import as a constant."""
    names = " ".join((found["names"] or "").split()).replace(" as ", ": ")
    return f"const {found['all'] or f'{{ {names} }}'} = {_variable(found['file'])};"


def _variable(file: str) -> str:
    """Return the name of the constant that holds the exports of a module."""
    return "$" + file.removesuffix(".js").replace("-", "_")
