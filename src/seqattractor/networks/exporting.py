"""Networks for other tools: a torch module, an ONNX model, a NIR graph, or a file in one of these formats."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seqattractor._files import atomic_write, named_path
from seqattractor.exchange import nir_format, onnx_format, torch_format
from seqattractor.exchange.layers import PlainLayer, PlainNetwork, needed
from seqattractor.exchange.safetensors_format import write_safetensors
from seqattractor.networks.model_file import contents, to_json
from seqattractor.networks.traits import NotApplicable

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory

ENDINGS = (".npz", ".safetensors", ".onnx", ".nir")
"""Of the files that `export` writes."""


def torch_module(net: SequenceMemory, dtype: Any = "float64") -> Any:
    """Return the ``torch.nn.Module`` of a network; see `SequenceMemory.to_torch`."""
    return torch_format.torch_module(plain_network(net, "torch"), dtype)


def onnx_model(net: SequenceMemory, dtype: Any = "float64") -> Any:
    """Return the ONNX model of a network; see `SequenceMemory.to_onnx`."""
    return onnx_format.onnx_model(plain_network(net, "ONNX"), dtype)


def nir_graph(net: SequenceMemory) -> Any:
    """Return the NIR graph of a network; see `SequenceMemory.to_nir`."""
    return nir_format.nir_graph(plain_network(net, "NIR"))


def export(net: SequenceMemory, path: str | os.PathLike[str]) -> None:
    """Write a network to a file in the format that its suffix names; see `SequenceMemory.export`."""
    target = named_path(path)
    check_is_fitted(net, "n_features_in_")
    match target.suffix.lower():
        case ".npz":
            net.save(target)
        case ".safetensors":
            write_safetensors(target, *contents(net))
        case ".onnx":
            _write(target, net.to_onnx().SerializeToString())
        case ".nir":
            graph, buffer = net.to_nir(), io.BytesIO()
            needed("nir", "a .nir file", "nir").write(buffer, graph)
            _write(target, buffer.getvalue())
        case ".pt" | ".pth":
            raise ValueError(
                f"{target} would be a pickle, which can run code when it is read: export to .safetensors or .onnx, or write "
                "torch.save(net.to_torch().state_dict(), path) yourself."
            )
        case _:
            raise ValueError(f"{target} has an ending that stands for no format; the endings are {', '.join(ENDINGS)}.")


def _write(path: os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all."""
    with atomic_write(path) as file:
        file.write(content)


def plain_network(net: SequenceMemory, tool: str) -> PlainNetwork:
    """Return the layers, sizes and description of a network that is made of threshold neurons, and reject all others.

    Examples
    --------
    >>> import seqattractor as sa
    >>> plain_network(sa.zoo.LookupMemory().fit(sa.datasets.xor()), "ONNX")
    Traceback (most recent call last):
    seqattractor.networks.traits.NotApplicable: LookupMemory cannot be written for ONNX: only layers of threshold neurons that
    see the last patterns alone can, and its next state follows otherwise; ask supports_certificate(net) first.
    """
    from seqattractor import __version__

    check_is_fitted(net, "n_features_in_")
    layers = net.layers()
    N, order = int(net.n_features_in_), int(net.order_)
    if layers is None or len(layers) > 2 or net.start(np.ones((1, N * order), dtype=np.int8)) is not None:
        raise NotApplicable(
            f"{type(net).__name__} cannot be written for {tool}: only layers of threshold neurons that see the last patterns "
            "alone can, and its next state follows otherwise; ask supports_certificate(net) first."
        )
    parameters = {}
    for name, value in net.get_params(deep=False).items():
        try:
            parameters[name] = to_json(value, name)
        except TypeError:  # such as a user's own rule, which recall does not need
            parameters[name] = repr(value)
    about = {"seqattractor": __version__, "class": type(net).__name__, "parameters": parameters, "n_visible": N, "order": order}
    return PlainNetwork([PlainLayer(layer.weights, layer.offset, layer.low) for layer in layers], N, order, about)
