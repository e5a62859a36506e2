"""Networks for other tools: a torch module, an ONNX model, a NIR graph, or a file in one of these
formats.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seqattractor._files import atomic_write, named_path
from seqattractor.exchange.layers import PlainLayer, PlainNetwork, needed
from seqattractor.exchange.nir_format import nir_graph
from seqattractor.exchange.onnx_format import onnx_model
from seqattractor.exchange.safetensors_format import write_safetensors
from seqattractor.exchange.torch_format import torch_module
from seqattractor.networks.model_file import contents, to_json
from seqattractor.networks.traits import Layer, NotApplicable

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory

ENDINGS = (".npz", ".safetensors", ".onnx", ".nir")
"""Of the files that `export` writes."""


def to_torch(net: SequenceMemory) -> Any:
    """Return a network as a ``torch.nn.Module``, for recall of many cues at once and on any device.

    Parameters
    ----------
    net : SequenceMemory
        Of threshold neurons that see the last patterns alone (`SequenceMemory.layers`).

    Returns
    -------
    torch.nn.Module
        In float64. ``module(states)`` returns the next patterns as floats of -1 and +1, (B, N) ->
        (B, N), and ``module.recall(cue, steps)`` the same as `SequenceMemory.recall`.
        ``module.to("cuda")`` moves it; ``module.visible.weight`` and ``.bias`` are the weights of a
        layer.

    See Also
    --------
    from_torch : the way back.

    Examples
    --------
    >>> import torch, seqattractor as sa  # doctest: +SKIP
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)  # doctest: +SKIP
    >>> net = sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X)  # doctest: +SKIP
    >>> cues = torch.as_tensor(sa.noise.flip(X.patterns, 3, rng=1))  # doctest: +SKIP
    >>> sa.networks.to_torch(net).recall(cues, steps=30).shape  # doctest: +SKIP
    torch.Size([20, 31, 50])
    """
    return torch_module(plain_network(net, "torch"))


def to_onnx(net: SequenceMemory) -> Any:
    """Return a network as an ONNX model that maps states to the next patterns, computed in float64.

    Parameters
    ----------
    net : SequenceMemory
        As in `to_torch`.

    Returns
    -------
    onnx.ModelProto
        Of opset 17, with the input ``states`` (batch, N), or (batch, order, N) for an order above
        1, and the output ``next_patterns`` (batch, N), both float32 of -1 and +1. Class, parameters
        and sizes are in its metadata.

    Examples
    --------
    >>> import seqattractor as sa
    >>> net = sa.OneHotNetwork().fit(sa.datasets.xor())
    >>> model = sa.networks.to_onnx(net)  # doctest: +SKIP
    >>> [node.name for node in model.graph.input]  # doctest: +SKIP
    ['states']
    """
    return onnx_model(plain_network(net, "ONNX"))


def to_nir(net: SequenceMemory) -> Any:
    """Return a network as a NIR graph, for neuromorphic hardware and simulators of spiking neurons.

    Each layer is an affine map and leaky integrate-and-fire neurons with the threshold 1 and a time
    constant of 0.1 ms, which must be the time step of the simulator (snnTorch takes it;
    ``norse.torch.from_nir(graph, dt=1e-4)``). Input and output are spikes: 1 for a unit that is +1,
    and 0 for -1; with an order k > 1 the input holds the last k patterns side by side, oldest
    first.

    Parameters
    ----------
    net : SequenceMemory
        As in `to_torch`.

    Returns
    -------
    nir.NIRGraph
        ``graph.metadata["exact"]`` and ``["exact_in_float32"]`` are true if no weight was rounded,
        and if no simulator in float32 rounds a sum.

    Examples
    --------
    >>> import seqattractor as sa
    >>> graph = sa.networks.to_nir(sa.OneHotNetwork().fit(sa.datasets.xor()))  # doctest: +SKIP
    >>> list(graph.nodes)  # doctest: +SKIP
    ['input', 'hidden_sum', 'hidden', 'visible_sum', 'visible', 'output']
    """
    return nir_graph(plain_network(net, "NIR"))


def export(net: SequenceMemory, path: str | os.PathLike[str]) -> None:
    """Write a network to a file in the format that its suffix names; see
    `SequenceMemory.export`.
    """
    target = named_path(path)
    check_is_fitted(net, "n_features_in_")
    match target.suffix.lower():
        case ".npz":
            net.save(target)
        case ".safetensors":
            write_safetensors(target, *contents(net))
        case ".onnx":
            _write(target, to_onnx(net).SerializeToString())
        case ".nir":
            graph, buffer = to_nir(net), io.BytesIO()
            needed("nir", "a .nir file", "nir").write(buffer, graph)
            _write(target, buffer.getvalue())
        case ".pt" | ".pth":
            raise ValueError(
                f"{target} would be a pickle, which can run code when it is read: export to "
                ".safetensors or .onnx, or write "
                "torch.save(sa.networks.to_torch(net).state_dict(), path) yourself."
            )
        case _:
            raise ValueError(
                f"{target} has an ending that stands for no format; the endings are "
                f"{', '.join(ENDINGS)}."
            )


def _write(path: os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all."""
    with atomic_write(path) as file:
        file.write(content)


def threshold_layers(net: SequenceMemory, what: str) -> tuple[Layer, ...]:
    """Return the layers of a network that is made of threshold neurons, and reject all others,
    which cannot do `what`.
    """
    check_is_fitted(net, "n_features_in_")
    layers = net.layers()
    n_inputs = int(net.n_features_in_) * int(net.order_)
    if (
        layers is None
        or len(layers) > 2
        or net.start(np.ones((1, n_inputs), dtype=np.int8)) is not None
    ):
        raise NotApplicable(
            f"{type(net).__name__} cannot {what}: only layers of threshold neurons "
            "that see the last patterns alone can, and its next state follows otherwise; ask "
            "supports_certificate(net) first."
        )
    return layers


def plain_network(net: SequenceMemory, tool: str) -> PlainNetwork:
    """Return the layers, sizes and description of a network that is made of threshold neurons, and
    reject all others.
    """
    from seqattractor import __version__

    layers = threshold_layers(net, f"be written for {tool}")
    N, order = int(net.n_features_in_), int(net.order_)
    parameters = {}
    for name, value in net.get_params(deep=False).items():
        try:
            parameters[name] = to_json(value, name)
        except TypeError:  # such as a user's own rule, which recall does not need
            parameters[name] = repr(value)
    about = {
        "seqattractor": __version__,
        "class": type(net).__name__,
        "parameters": parameters,
        "n_visible": N,
        "order": order,
    }
    return PlainNetwork(
        [PlainLayer(layer.weights, layer.offset, layer.low) for layer in layers], N, order, about
    )
