"""A model in a safetensors file: all arrays of the network as they are, and its settings as text.
Nothing in it can be run.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_memory
from seqattractor._files import atomic_write
from seqattractor.exchange.layers import RejectedFile, digest_of, needed

FORMAT = "seqattractor-safetensors"
VERSION = "1"


def write_safetensors(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write arrays and the header of a model file, with a digest of both."""
    save = needed("safetensors.numpy", "a .safetensors file", "safetensors").save
    whole = {name: np.ascontiguousarray(array) for name, array in sorted(arrays.items())}
    text = json.dumps(header, sort_keys=True)
    facts = {"format": FORMAT, "version": VERSION, "class": str(header["class"]), "header": text}
    content = save(whole, {**facts, "digest": digest_of(text, whole)})
    with atomic_write(path) as file:
        file.write(content)


def read_safetensors(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read header and arrays that `write_safetensors` wrote. The package checks that arrays fit the
    file.
    """
    package = needed("safetensors", "a .safetensors file", "safetensors")
    check_memory(2 * path.stat().st_size, f"the model in {path}")
    try:
        with package.safe_open(path, framework="numpy") as file:
            facts = file.metadata() or {}
            if facts.get("format") != FORMAT:
                raise RejectedFile(
                    f"{path} was not written by seqattractor; read its arrays with "
                    "safetensors.numpy.load_file, and give them to sa.networks.from_arrays(U, V)."
                )
            if facts.get("version") != VERSION:
                raise RejectedFile(
                    f"{path} is of version {str(facts.get('version'))[:20]!r}, but this "
                    f"seqattractor reads {VERSION}."
                )
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 it is no dict
    except package.SafetensorError as error:
        raise ValueError(str(error)) from None
    text = facts.get("header", "")
    if facts.get("digest") != digest_of(text, arrays):
        raise ValueError("its contents are not what was saved")
    header = json.loads(text)
    if not isinstance(header, dict) or not all(
        isinstance(header.get(part), dict) for part in ("parameters", "values")
    ):
        raise ValueError("its header has no settings")
    return header, arrays
