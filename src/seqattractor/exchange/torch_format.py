"""Torch modules: layers from modules of linear layers with a threshold behind each.
`torch_module.py` has the way out.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from seqattractor._checks import say
from seqattractor.exchange.layers import Floats, PlainLayer, PlainNetwork, needed

_PROBES = 64
_ROUNDING = 16 * 2.0**-53  # a bound for the sums of the module and for ours
_WANTED = (
    "a network here is Linear, sign, and perhaps Linear, sign once more; "
    "sa.networks.from_arrays(U, V) takes weights from elsewhere"
)


def torch_module(net: PlainNetwork) -> Any:
    """Return the ``torch.nn.Module`` of a network; see `seqattractor.networks.to_torch`."""
    needed("torch", "to_torch()", "torch")
    from seqattractor.exchange.torch_module import ThresholdModule

    return ThresholdModule(net)


def layers_of_torch(module: Any) -> list[PlainLayer]:
    """Return the layers of a torch module; see `seqattractor.networks.from_torch`."""
    torch = needed("torch", "from_torch()", "torch")
    from seqattractor.exchange.torch_module import ThresholdLayer, ThresholdModule

    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module must be a torch.nn.Module, but it is {say(module)}.")
    if isinstance(module, ThresholdModule):
        ours = [part for part in module.children() if isinstance(part, ThresholdLayer)]
        return [
            PlainLayer(
                layer.weight.cpu().double().numpy(), layer.bias.cpu().double().numpy(), layer.low
            )
            for layer in ours
        ]
    in_turn = isinstance(module, torch.nn.Sequential)
    linear = [
        part
        for part in (module if in_turn else module.modules())
        if isinstance(part, torch.nn.Linear)
    ]
    if len(linear) not in (1, 2):
        raise ValueError(f"the module has {len(linear)} linear layers, but {_WANTED}.")
    behind = _functions(module, torch) if in_turn else None
    tried = (
        [behind]
        if behind is not None
        else [((low, True),) * len(linear) for low in (-1, 0)[: len(linear)]]
    )
    for functions in tried:
        layers = [_layer(part, *function) for part, function in zip(linear, functions, strict=True)]
        if _agree(layers, module, torch):
            return layers
    raise ValueError(
        "the module does not give what its linear layers with a sign behind each give for random "
        f"states of -1 and +1; {_WANTED}."
    )


def _layer(linear: Any, low: int, at_zero: bool) -> PlainLayer:
    """Return a linear layer in float64, with the threshold function behind it."""
    weights = linear.weight.detach().cpu().double().numpy()
    offset = (
        np.zeros(len(weights))
        if linear.bias is None
        else linear.bias.detach().cpu().double().numpy()
    )
    return PlainLayer(weights, offset, low, at_zero)


def _functions(module: Any, torch: Any) -> tuple[tuple[int, bool], ...]:
    """Return the value below zero of the function behind each linear layer, and whether zero itself
    counts as above.
    """
    parts = list(module)
    kinds = ", ".join(type(part).__name__ for part in parts)
    if not all(isinstance(part, torch.nn.Linear) for part in parts[::2]) or len(parts) % 2:
        raise ValueError(f"the module is {kinds}, but {_WANTED}.")
    found = []
    for part in parts[1::2]:
        probe = torch.tensor([-3.0, -0.5, -1e-3, 0.0, 1e-3, 0.5, 3.0])
        below, zero, above = (
            [float(v) for v in values] for values in part(probe).detach().cpu().split([3, 1, 3])
        )
        if len({*below}) > 1 or len({*above}) > 1 or (below[0], above[0]) not in ((-1, 1), (0, 1)):
            raise ValueError(
                f"{type(part).__name__} is not a threshold at zero: it gives {below[1]:g} at -0.5 "
                f"and {above[1]:g} at 0.5, but -1 and 1, or 0 and 1, are wanted; put a sign there, "
                "if it works as well with one."
            )
        found.append((int(below[0]), zero[0] != below[0]))
    if found and found[-1][0] != -1:
        raise ValueError(
            "the module's last layer gives 0 and 1, but a network's next pattern is of -1 and +1, "
            "as its state is."
        )
    return tuple(found)


def _agree(layers: list[PlainLayer], module: Any, torch: Any) -> bool:
    """Whether layers and module give the same for random states, but for states with a field that
    is zero up to rounding.
    """
    width = layers[0].weights.shape[1]
    states = np.random.default_rng(0).choice(
        np.array([-1, 1], dtype=np.int8), size=(_PROBES, width)
    )
    twin = copy.deepcopy(module).cpu().double().eval()
    try:
        with torch.no_grad():
            answer = np.asarray(twin(torch.as_tensor(states, dtype=torch.float64)))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise ValueError(
            f"the module does not take states of the shape (batch, {width}): "
            f"{' '.join(str(error).split())[:150]}"
        ) from None
    x, sure = states.astype(np.float64), np.ones(_PROBES, dtype=bool)
    for layer in (each.active_at_zero() for each in layers):
        fields = x @ layer.weights.T + layer.offset
        sure &= (np.abs(fields) > _slack(layer)).all(axis=1)
        x = np.where(fields >= 0, 1.0, layer.low)
    return answer.shape == x.shape and bool(np.array_equal(answer[sure] > 0, x[sure] > 0))


def _slack(layer: PlainLayer) -> Floats:
    """Bound how far each field in float64 can be from the true one, shape (neurons,)."""
    total = np.abs(layer.weights).sum(axis=1) + np.abs(layer.offset)
    return np.asarray(_ROUNDING * (layer.weights.shape[1] + 8) * total)
