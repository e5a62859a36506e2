"""Networks from torch modules: ours, and those of linear layers with a sign, or another threshold at zero, behind each."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from seqattractor._checks import say
from seqattractor.exchange.extras import needed
from seqattractor.exchange.foreign import Found, network_of_layers
from seqattractor.networks.given import ThresholdNetwork

_PROBES = 64
_WANTED = "a network here is Linear, sign, and perhaps Linear, sign once more; sa.networks.from_arrays(U, V) takes any weights"


def from_torch(module: Any) -> ThresholdNetwork:
    """Make a network from a torch module that is one: then everything that looks at a trained network can look at it.

    Parameters
    ----------
    module : torch.nn.Module
        What `SequenceMemory.to_torch` gave; or ``nn.Sequential`` of one or two ``nn.Linear``, each with a threshold function
        behind it; or another module with one or two ``nn.Linear``, of which it makes the same use. A threshold function gives
        one value below zero and another above: -1 and 1, or, for hidden neurons, 0 and 1. Where it gives the lower one at exactly
        zero, the offset is lowered by less than the smallest step between two fields; where it gives neither, as ``torch.sign``
        does, zero counts as above, as everywhere here.

    Returns
    -------
    ThresholdNetwork
        With the module's weights, as they are. It is refused unless it gives what the module gives, computed in float64, for 64
        random states, but for fields that are zero up to rounding.

    Examples
    --------
    >>> import torch, seqattractor as sa  # doctest: +SKIP
    >>> class Sign(torch.nn.Module):  # doctest: +SKIP
    ...     def forward(self, x):
    ...         return torch.where(x >= 0, 1.0, -1.0)
    >>> module = torch.nn.Sequential(torch.nn.Linear(50, 100), Sign(), torch.nn.Linear(100, 50), Sign())  # doctest: +SKIP
    >>> sa.exchange.from_torch(module)  # doctest: +SKIP
    ThresholdNetwork(n_hidden=100)
    """
    torch = needed("torch", "from_torch()", "torch")
    from seqattractor.exchange.torch_module import ThresholdLayer, ThresholdModule

    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module must be a torch.nn.Module, but it is {say(module)}.")
    if isinstance(module, ThresholdModule):
        ours = [part for part in module.children() if isinstance(part, ThresholdLayer)]
        return network_of_layers([Found(*layer.limbs().weights(), layer.low) for layer in ours])
    in_turn = isinstance(module, torch.nn.Sequential)
    linear = [part for part in (module if in_turn else module.modules()) if isinstance(part, torch.nn.Linear)]
    if len(linear) not in (1, 2):
        raise ValueError(f"the module has {len(linear)} linear layers, but {_WANTED}.")
    behind = _functions(module, torch) if in_turn else None
    tried = [behind] if behind is not None else [((low, True),) * len(linear) for low in (-1, 0)[: len(linear)]]
    for functions in tried:
        net = network_of_layers([_found(part, *function) for part, function in zip(linear, functions, strict=True)])
        if _agree(net, module, torch):
            return net
    raise ValueError(
        f"the module does not give what its linear layers with a sign behind each give for random states of -1 and +1; {_WANTED}."
    )


def _found(linear: Any, low: int, at_zero: bool) -> Found:
    """A linear layer in float64, with the threshold function behind it."""
    weights = linear.weight.detach().cpu().double().numpy()
    offset = np.zeros(len(weights)) if linear.bias is None else linear.bias.detach().cpu().double().numpy()
    return Found(weights, offset, low, at_zero)


def _functions(module: Any, torch: Any) -> tuple[tuple[int, bool], ...]:
    """What stands behind each linear layer of a sequence: the value below zero, and whether zero itself counts as above."""
    parts = list(module)
    kinds = ", ".join(type(part).__name__ for part in parts)
    if not all(isinstance(part, torch.nn.Linear) for part in parts[::2]) or len(parts) % 2:
        raise ValueError(f"the module is {kinds}, but {_WANTED}.")
    found = []
    for part in parts[1::2]:
        probe = torch.tensor([-3.0, -0.5, -1e-3, 0.0, 1e-3, 0.5, 3.0])
        below, zero, above = ([float(v) for v in values] for values in part(probe).detach().cpu().split([3, 1, 3]))
        if len({*below}) > 1 or len({*above}) > 1 or (below[0], above[0]) not in ((-1, 1), (0, 1)):
            raise ValueError(
                f"{type(part).__name__} is not a threshold at zero: it gives {below[1]:g} at -0.5 and {above[1]:g} at 0.5, but "
                "-1 and 1, or 0 and 1, are wanted; put a sign there, if it works as well with one."
            )
        found.append((int(below[0]), zero[0] != below[0]))
    if found and found[-1][0] != -1:
        raise ValueError("the module's last layer gives 0 and 1, but a network's next pattern is of -1 and +1, as its state is.")
    return tuple(found)


def _agree(net: ThresholdNetwork, module: Any, torch: Any) -> bool:
    """Whether network and module give the same for random states, but for states with a field that is zero up to rounding."""
    width = net.n_features_in_ * net.order_
    states = np.random.default_rng(0).choice(np.array([-1, 1], dtype=np.int8), size=(_PROBES, width))
    twin = copy.deepcopy(module).cpu().double().eval()
    try:
        with torch.no_grad():
            answer = np.asarray(twin(torch.as_tensor(states, dtype=torch.float64)))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise ValueError(
            f"the module does not take states of the shape (batch, {width}): {' '.join(str(error).split())[:150]}"
        ) from None
    x, sure = states, np.ones(_PROBES, dtype=bool)
    for layer in net.layers():
        fields = layer.fields(x)
        sure &= (np.abs(fields) > layer.slack).all(axis=1)
        x = layer.states(fields)
    return answer.shape == x.shape and bool(np.array_equal(answer[sure] > 0, x[sure] > 0))
