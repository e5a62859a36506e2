"""The lab as static files that need no server: `seqattractor lab --export DIR` writes them.

The page is the one that the server sends; its requests are answered by a worker in the browser
(`static/playground/`), which runs the C core as WebAssembly. What it cannot compute itself comes
along as data: sequences of the library, and the tables of numpy's normal sampler.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from seqattractor import __version__
from seqattractor.datasets._moving_digits import BOX, GLYPH, _small_digits
from seqattractor.datasets._small import PITCHES, toy, tune, xor
from seqattractor.datasets._walker import walker
from seqattractor.engine import kernels
from seqattractor.lab.bundle import SCRIPT, STATIC, bundle
from seqattractor.lab.choices import NETWORKS
from seqattractor.lab.materials import CATALOGUE
from seqattractor.lab.requests import Limits, pack
from seqattractor.sequences import Sequences
from seqattractor.zoo.dense import MOST_DEGREE

# The networks that the worker computes; the others are no networks of the core.
OFFERED = ("attractor", "sparse", "perceptron", "attractor-V", "attractor-hebbian")
# Of the page, beside its script; the modules are those that the worker imports, too.
_FILES = ("index.html", "style.css", "icon.svg", "bits.js", "names.js")
_BESIDE = '<meta name="color-scheme"'  # in the page
# Settings come in links, which anybody may have written: no script runs but the page's own.
_POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"
)
_PCG64 = 0x2360ED051FC65DA44385DF649FCCF645  # the multiplier of numpy's generator


def core_path() -> Path:
    """Return where the core for WebAssembly is, or should be."""
    return kernels.library_path().with_name("_core.wasm")


def why_missing(core: Path) -> str:
    """Return why the core for WebAssembly cannot be used, and what to do; empty if it can be."""
    what = "the page without a server needs the core for WebAssembly, and"
    remedy = (
        "wheels bring it along; in the sources, `pip install ziglang` and `python hatch_build.py "
        "wasm` make it."
    )
    if not core.exists():
        return f"{what} {core} is missing: {remedy}"
    if kernels.digest_of_sources().encode() not in core.read_bytes():
        return f"{what} {core} was compiled from other sources: {remedy}"
    return ""


def export(folder: Path, core: Path | None = None) -> list[Path]:
    """Write the page into a folder, which it creates; files of an older export are replaced.

    Parameters
    ----------
    folder : Path
    core : Path, optional
        The core for WebAssembly; by default that of this installation.

    Returns
    -------
    list of Path
        The files.
    """
    core = core or core_path()
    if why := why_missing(core):
        raise ValueError(why)
    if folder.exists() and not _is_ours(folder):
        raise ValueError(
            f"{folder} holds other files; give a folder that is new, empty or of an older export."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Complete, or not at all: beside the folder first, and then in its place.
    with tempfile.TemporaryDirectory(prefix=".lab-", dir=folder.parent) as scratch:
        made = Path(scratch, "page")
        _write(made, core)
        if folder.exists():
            shutil.rmtree(folder)
        made.chmod(0o755)
        made.rename(folder)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _is_ours(folder: Path) -> bool:
    """Return whether a folder is empty, or was written by an export before."""
    return folder.is_dir() and (
        not any(folder.iterdir()) or (folder / "playground" / "data.json").is_file()
    )


def _write(folder: Path, core: Path) -> None:
    """Write all files."""
    static = Path(str(STATIC))
    folder.mkdir()
    for name in _FILES:
        shutil.copyfile(static / name, folder / name)
    (folder / SCRIPT).write_text(bundle(), encoding="utf-8")
    shutil.copytree(
        static / "playground", folder / "playground", ignore=shutil.ignore_patterns("sw.js")
    )
    page = (folder / "index.html").read_text(encoding="utf-8")
    more = (
        f'<meta http-equiv="content-security-policy" content="{_POLICY}">\n'
        f'<meta name="playground" content="{__version__}">\n'
    )
    (folder / "index.html").write_text(page.replace(_BESIDE, more + _BESIDE, 1), encoding="utf-8")
    (folder / "playground" / "data.json").write_text(
        json.dumps(playground_data(), separators=(",", ":")), encoding="utf-8"
    )
    shutil.copyfile(core, folder / "playground" / "core.wasm")
    _write_service_worker(folder, static / "playground" / "sw.js")


def _write_service_worker(folder: Path, source: Path) -> None:
    """Write the script that keeps the page for times without a connection: it names all files, and
    changes whenever one of them does.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    names = ["./", *(path.relative_to(folder).as_posix() for path in paths)]
    about = f"const VERSION = {digest.hexdigest()[:16]!r};\nconst FILES = {json.dumps(names)};\n"
    (folder / "sw.js").write_text(about + source.read_text(encoding="utf-8"), encoding="utf-8")


def playground_data() -> dict[str, Any]:
    """Return what the worker takes from the library: catalogue, limits, sequences, tables."""
    limits = Limits()
    shown = {
        name: getattr(limits, name)
        for name in ("units", "frames", "hidden", "epochs", "order", "upload")
    }
    catalogue = {
        "version": __version__,
        "sequences": list(CATALOGUE),
        "networks": [{"name": name, **asdict(NETWORKS[name])} for name in OFFERED],
        "limits": {**shown, "degree": MOST_DEGREE},
    }
    fixed = {"tune": tune(), "1": toy(1), "2": toy(2), "xor": xor()}
    margin = (BOX - GLYPH) // 2
    inner = slice(margin, BOX - margin)
    glyphs = _small_digits()[:, inner, inner]
    return {
        "catalogue": catalogue,
        "limits": {name: getattr(limits, name) for name in (*shown, "weights", "steps", "states")},
        "fixed": {name: _packed(data) for name, data in fixed.items()},
        "pitches": list(PITCHES),
        "walker": {
            size: {"shape": list(film.frame_shape), "bits": pack(film.patterns[:-1])}
            for size, film in (("small", walker(shrink=4)), ("medium", walker(shrink=2)))
        },
        "glyphs": {"count": len(glyphs), "bits": pack(np.where(glyphs > 0.5, 1, -1))},
        "normal": {name: _in_base64(table) for name, table in normal_tables().items()},
    }


def _packed(data: Sequences) -> dict[str, Any]:
    """Return a sequence as bits."""
    return {"frames": len(data), "N": data.shape[1], "bits": pack(data.patterns)}


def _in_base64(numbers: ArrayLike) -> str:
    """Return numbers as float64 in base64."""
    return base64.b64encode(np.asarray(numbers, dtype="<f8").tobytes()).decode("ascii")


def normal_tables() -> dict[str, list[float]]:
    """Return the tables of numpy's normal sampler, read off its answers, each of 256 numbers.

    It is a ziggurat: of 64 random bits 8 choose a layer, one the sign, and 52 a place in it. The
    place times ``width`` is the number, at once if the place is below ``inside``; else another
    draw is compared with the ``height`` of the density. Since a step of PCG64 can be undone, the
    sampler can be given any bits.

    Examples
    --------
    >>> tables = normal_tables()
    >>> sorted(tables), tables["inside"][1], tables["height"][0]
    (['height', 'inside', 'width'], 0, 1.0)
    """
    generator = np.random.Generator(np.random.PCG64(0))
    source = generator.bit_generator
    state: dict[str, Any] = dict(source.state)
    increment = state["state"]["inc"]
    undo = pow(_PCG64, -1, 2**128)

    def draw(bits: int) -> tuple[float, bool]:
        """Return the number that 64 bits lead to, and whether they alone did."""
        before = (bits - increment) * undo % 2**128
        source.state = state | {"state": {"state": before, "inc": increment}}
        return generator.standard_normal(), source.state["state"]["state"] == bits

    width = [draw(layer | 1 << 9)[0] for layer in range(256)]
    inside: list[float] = []
    for layer in range(256):
        low, high = 0, 2**52
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if draw(layer | middle << 9)[1] else (low, middle)
        inside.append(low)
    edges = np.array(width) * 2.0**52
    height = [1.0, *np.exp(-0.5 * edges[1:] ** 2).tolist()]
    return {"width": width, "inside": inside, "height": height}
