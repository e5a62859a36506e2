"""What of a network goes to other tools: its layers of threshold neurons, and a few words about it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from seqattractor._checks import check_choice
from seqattractor.exchange.limbs import DIGITS
from seqattractor.networks.model_file import to_json
from seqattractor.networks.traits import Layer, NotApplicable

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory


def threshold_layers(net: SequenceMemory, tool: str) -> tuple[Layer, ...]:
    """Give the layers of a network that is made of them, and refuse all others.

    Examples
    --------
    >>> import seqattractor as sa
    >>> threshold_layers(sa.zoo.LookupMemory().fit(sa.datasets.xor()), "ONNX")
    Traceback (most recent call last):
    seqattractor.networks.traits.NotApplicable: LookupMemory cannot be written for ONNX: only layers of threshold neurons that
    see the last patterns alone can, and its next state follows otherwise; ask supports_certificate(net) first.
    """
    check_is_fitted(net, "n_features_in_")
    layers = net.layers()
    states = np.ones((1, net.n_features_in_ * net.order_), dtype=np.int8)
    if layers is None or len(layers) > 2 or net.start(states) is not None:
        raise NotApplicable(
            f"{type(net).__name__} cannot be written for {tool}: only layers of threshold neurons that see the last patterns "
            "alone can, and its next state follows otherwise; ask supports_certificate(net) first."
        )
    return layers


def layer_names(layers: tuple[Any, ...]) -> tuple[str, ...]:
    """What the layers are called: hidden and visible, or visible alone."""
    return ("hidden", "visible")[-len(layers) :]


def about(net: SequenceMemory) -> dict[str, Any]:
    """What a file in another format tells of the network: class, parameters, sizes."""
    from seqattractor import __version__

    parameters = {}
    for name, value in net.get_params(deep=False).items():
        try:
            parameters[name] = to_json(value, name)
        except TypeError:  # such as a rule of the user's, which recall does not need
            parameters[name] = repr(value)
    return {
        "seqattractor": __version__,
        "class": type(net).__name__,
        "parameters": parameters,
        "n_visible": int(net.n_features_in_),
        "order": int(net.order_),
    }


def digest_of(text: str, arrays: dict[str, NDArray[Any]]) -> str:
    """Give a digest of a text and of arrays, with their names, types and shapes."""
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def type_name(dtype: Any) -> str:
    """Give the name of a floating-point type, which may be numpy's, torch's or a word.

    Examples
    --------
    >>> type_name(np.float32), type_name("float64")
    ('float32', 'float64')
    >>> type_name("float16")
    Traceback (most recent call last):
    ValueError: dtype must be one of 'float64', 'float32', but it is 'float16'.
    """
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", None) or str(dtype).removeprefix("torch.")
    return check_choice(name, "dtype", tuple(DIGITS))
