"""Taking a network to other tools: as a torch module, an ONNX model, a NIR graph, or arrays in a safetensors file."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seqattractor._files import atomic_write, named_path
from seqattractor.exchange.layers import PlainLayer, PlainNetwork, needed
from seqattractor.exchange.nir_format import nir_graph
from seqattractor.exchange.onnx_format import onnx_model
from seqattractor.exchange.safetensors_format import write_safetensors
from seqattractor.exchange.torch_format import torch_module
from seqattractor.networks.hooks import Hooks
from seqattractor.networks.plain_values import to_json
from seqattractor.networks.saving import Saving
from seqattractor.networks.traits import NotApplicable

ENDINGS = (".npz", ".safetensors", ".onnx", ".nir")
"""Of the files that `export` writes."""


class Exporting(Saving):
    """A network that other tools can take over, as far as it is made of threshold neurons."""

    def to_torch(self, *, dtype: Any = "float64") -> Any:
        """Give the network as a ``torch.nn.Module``, for recall of many cues at once and on any device.

        The module decides by exact arithmetic: weights are whole numbers in a unit for each neuron, in limbs so short that no sum
        is rounded. So it gives the same answers on every device, in every batch, and they are those of this network wherever
        these do not depend on rounding: always where weights are whole numbers or multiples of a power of two whose sums float64
        holds (`HebbianMemory`, `OneHotNetwork`, `SparseSequenceAttractor`, `SparseDistributedMemory`, learning from zero weights
        with an `eta` that is a power of two), ties included; and for all other weights unless a field is nearer to zero than
        float64 may err in adding it up (`Layer.slack`, about 1e-13 of the sum of all weights). Such fields are ties of the
        real numbers: they do not happen by chance, but they do if weights are multiples of a number like 0.001, as after learning
        from zero weights with the usual `eta`. There this network itself may answer a batch otherwise than a single cue.

        Parameters
        ----------
        dtype : {"float64", "float32"} or torch dtype
            The type in which whole numbers are added up. Answers are the same; float32 takes more limbs, and is for devices that
            have no float64, or a slow one. Its products must not be shortened to TF32, which torch does only if told to.

        Returns
        -------
        torch.nn.Module
            ``module(states)`` gives the next patterns as floats of -1 and +1, (B, N) -> (B, N), and ``module.recall(cue, steps)``
            what `recall` gives. ``module.to("cuda")`` moves it; ``module.visible.weight`` and ``.bias`` are the float64 weights
            of a layer.

        See Also
        --------
        seqattractor.networks.from_torch : the way back.

        Examples
        --------
        >>> import torch, seqattractor as sa  # doctest: +SKIP
        >>> X = sa.datasets.random_periodic(20, 50, rng=0)  # doctest: +SKIP
        >>> net = sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X)  # doctest: +SKIP
        >>> module = net.to_torch()  # doctest: +SKIP
        >>> cues = torch.as_tensor(sa.noise.flip(X.patterns, 3, rng=1))  # doctest: +SKIP
        >>> module.recall(cues, steps=30).shape  # doctest: +SKIP
        torch.Size([20, 31, 50])
        """
        return torch_module(plain_network(self, "torch"), dtype)

    def to_onnx(self, *, dtype: Any = "float64") -> Any:
        """Give the network as an ONNX model, which takes states and gives the next patterns.

        It computes as the module of `to_torch` does, without rounding, so that every runtime gives the same answers.

        Parameters
        ----------
        dtype : {"float64", "float32"}
            The type in which whole numbers are added up, as in `to_torch`.

        Returns
        -------
        onnx.ModelProto
            Of opset 17, with the input ``states`` (batch, N), or (batch, order, N) for an order above 1, and the output
            ``next_patterns`` (batch, N), both float32 of -1 and +1. Class, parameters and sizes stand in its metadata.

        Examples
        --------
        >>> import seqattractor as sa
        >>> model = sa.OneHotNetwork().fit(sa.datasets.xor()).to_onnx()  # doctest: +SKIP
        >>> [node.name for node in model.graph.input]  # doctest: +SKIP
        ['states']
        """
        return onnx_model(plain_network(self, "ONNX"), dtype)

    def to_nir(self) -> Any:
        """Give the network as a NIR graph, for neuromorphic hardware and simulators of spiking neurons.

        Each layer is an affine map and leaky integrate-and-fire neurons with the threshold 1 and a time constant of 0.1 ms, which
        must be the time step of the simulator (snnTorch takes it; ``norse.torch.from_nir(graph, dt=1e-4)``). Input and output are
        spikes: 1 for a unit that is +1, and 0 for -1; with an order k > 1 the input holds the last k patterns side by side,
        oldest first. To let the network run, feed its output back.

        Our neurons are active at a field of exactly zero. Therefore weights are multiples of a unit for each neuron, a power of
        two, and fields are lifted by half a unit: sums are exact in float64, and none lies at a threshold. Weights that are no
        such multiples, with sums of at most 50 bits, are rounded to them; ``graph.metadata["exact"]`` tells whether none was. A
        rounded network differs from this one only for fields that are nearer to zero than float64 may err in adding them up
        (`Layer.slack`). Simulators compute in float32, which is exact, too, if sums have at most 21 bits
        (``graph.metadata["exact_in_float32"]``).

        Returns
        -------
        nir.NIRGraph

        Examples
        --------
        >>> import seqattractor as sa
        >>> graph = sa.OneHotNetwork().fit(sa.datasets.xor()).to_nir()  # doctest: +SKIP
        >>> list(graph.nodes)  # doctest: +SKIP
        ['input', 'hidden_sum', 'hidden', 'visible_sum', 'visible', 'output']
        """
        return nir_graph(plain_network(self, "NIR"))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file for other tools, in the format that its ending says; whole or not at all.

        Parameters
        ----------
        path : str or path
            ``.safetensors`` holds all that ``.npz``, the model file of `save`, does, and any network. ``.onnx`` (`to_onnx`) and
            ``.nir`` (`to_nir`) hold the layers of networks of threshold neurons. `sa.load` reads all of them but ``.nir`` files,
            which ``sa.networks.from_nir(nir.read(path))`` does.

        Examples
        --------
        >>> import tempfile, pathlib, seqattractor as sa
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
        >>> sa.OneHotNetwork().fit(sa.datasets.xor()).export(path)
        >>> sa.load(path)
        OneHotNetwork()
        """
        target = named_path(path)
        check_is_fitted(self, "n_features_in_")
        match target.suffix.lower():
            case ".npz":
                self.save(target)
            case ".safetensors":
                write_safetensors(target, *self._contents())
            case ".onnx":
                _write(target, self.to_onnx().SerializeToString())
            case ".nir":
                graph, buffer = self.to_nir(), io.BytesIO()
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


def plain_network(net: Hooks, tool: str) -> PlainNetwork:
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
