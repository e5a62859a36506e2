"""Networks for other tools: a torch module, an ONNX model, a NIR graph, or a file in one of these formats."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from seqattractor._files import atomic_write, named_path
from seqattractor.exchange.extras import needed
from seqattractor.exchange.nir_graph import nir_graph as nir_graph
from seqattractor.exchange.onnx_model import onnx_model as onnx_model
from seqattractor.exchange.safetensors_file import write_safetensors
from seqattractor.exchange.threshold_layers import about, layer_names, threshold_layers, type_name
from seqattractor.networks.model_file import contents

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory

ENDINGS = (".npz", ".safetensors", ".onnx", ".nir")
"""Of the files that `export` writes."""


def torch_module(net: SequenceMemory, dtype: Any = "float64") -> Any:
    """Return the ``torch.nn.Module`` of a network; see `SequenceMemory.to_torch`."""
    layers, name = threshold_layers(net, "torch"), type_name(dtype)
    needed("torch", "to_torch()", "torch")
    from seqattractor.exchange.torch_module import ThresholdModule

    named = dict(zip(layer_names(layers), layers, strict=True))
    return ThresholdModule(named, net.n_features_in_, net.order_, about(net), name)


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
