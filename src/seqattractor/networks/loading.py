"""Reading a saved network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._files import named_path
from seqattractor.exchange.layers import RejectedFile
from seqattractor.exchange.onnx_format import read_onnx
from seqattractor.exchange.safetensors_format import read_safetensors
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.given import from_layers
from seqattractor.networks.model_file import (
    check_fitted,
    check_model_file,
    from_json,
    read_model,
    rejecting,
)
from seqattractor.networks.own_learning import from_text
from seqattractor.networks.registry import package_class
from seqattractor.networks.run import Run

_MOST_UNITS = 10**7  # of a state that is made up


def load(path: str | os.PathLike[str]) -> SequenceMemory:
    """Read a network that was saved with `SequenceMemory.save`, or written with
    `SequenceMemory.export`.

    Parameters
    ----------
    path : str or path
        A model file, or a file with the ending ``.safetensors`` or ``.onnx``.

    Returns
    -------
    SequenceMemory
        Of the class that was saved, ready to recall or to continue learning. A file for ONNX holds
        threshold neurons without how they were found: it gives a `ThresholdNetwork`.

    Examples
    --------
    >>> import tempfile, pathlib, seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.npz"
    >>> sa.OneHotNetwork().fit(X).save(path)
    >>> sa.load(path).score(X)
    1.0
    """
    target = named_path(path)
    ending = target.suffix.lower()
    if ending not in (".safetensors", ".onnx", ".nir"):  # an npz by any name
        content = read_model(target)
        with rejecting(target):
            return _network(*content, target)
    check_model_file(target)
    with rejecting(target):
        if ending == ".nir":  # HDF5, whose reader can be made to run for ever
            raise RejectedFile(
                f"{target} is read by NIR's own package: "
                f"sa.networks.from_nir(nir.read({str(target)!r}))."
            )
        return (
            from_layers(read_onnx(target))
            if ending == ".onnx"
            else _network(*read_safetensors(target), target)
        )


def _network(header: dict[str, Any], arrays: dict[str, NDArray[Any]], path: Path) -> SequenceMemory:
    """Return the network of a header and arrays that fit each other."""
    name, parameters = (
        str(header["class"]),
        {k: from_json(v) for k, v in header["parameters"].items()},
    )
    values = {k: from_json(v) for k, v in header["values"].items()}
    cls = package_class(name) or SequenceMemory._of_users.get(name)
    if cls is None:
        raise RejectedFile(
            f"{path} holds a network of class {name!r}, which is not known here; import the module "
            "that defines it first."
        )
    net = cls(**parameters)
    check_fitted(net, parameters, values, arrays)
    if "feature_names_in_" in values:
        values["feature_names_in_"] = np.array(values["feature_names_in_"], dtype=object)
    for attribute, value in {**values, **arrays}.items():
        setattr(net, attribute, value)
    for parameter in {"rule", "constraints"} & set(parameters):
        if isinstance(text := parameters[parameter], str):
            several = from_text(text, parameter)
            one = parameter == "rule" and len(several) == 1
            net.set_params(**{parameter: several[0] if one else several})
    if not cls.__module__.startswith("seqattractor."):
        _try_a_step(net)
    return net


def _try_a_step(net: SequenceMemory) -> None:
    """Let a network make one step: classes of users list no shapes."""
    if (width := net.n_features_in_ * net.order_) <= _MOST_UNITS:
        Run(net, np.ones((1, width), dtype=np.int8)).step()
