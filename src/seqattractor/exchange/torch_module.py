"""A network as a torch module. Importing this file takes seconds; `to_torch` does it when it is
called.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqattractor._checks import check_count
from seqattractor.exchange.layers import PlainLayer, PlainNetwork


class ThresholdLayer(nn.Module):
    """Threshold neurons, active where weights . input + bias >= 0.

    The buffers ``weight`` (neurons, inputs) and ``bias`` (neurons,) are of float64.
    """

    weight: Tensor
    bias: Tensor

    def __init__(self, layer: PlainLayer) -> None:
        super().__init__()
        self.low, self.high = layer.low, layer.high
        self.register_buffer("weight", torch.tensor(layer.weights))
        self.register_buffer("bias", torch.tensor(layer.offset))

    def forward(self, x: Tensor) -> Tensor:
        """Return the states of the neurons: (B, inputs) -> (B, neurons)."""
        with torch.autocast(x.device.type, enabled=False):  # a narrower type would round
            fields = nn.functional.linear(x.to(self.weight.dtype), self.weight, self.bias)
            return torch.where(fields >= 0, float(self.high), float(self.low)).to(self.weight.dtype)

    def extra_repr(self) -> str:
        """Return what is shown of a layer."""
        neurons, inputs = self.weight.shape
        return f"{inputs} inputs, {neurons} neurons of {self.low} and {self.high}"


class ThresholdModule(nn.Module):
    """A network of threshold neurons, as `seqattractor.networks.to_torch` returns it."""

    def __init__(self, net: PlainNetwork) -> None:
        super().__init__()
        for name, layer in net.named().items():
            self.add_module(name, ThresholdLayer(layer))
        self.n_visible, self.order, self.about = net.n_visible, net.order, net.about

    def forward(self, states: Tensor) -> Tensor:
        """Return the next patterns.

        Parameters
        ----------
        states : Tensor of -1 and +1, shape (N,) or (B, N); with an order k > 1 (k, N) or (B, k, N),
        oldest first

        Returns
        -------
        Tensor, shape (N,) or (B, N)
            Of -1.0 and +1.0, in the type of `states` if that is a floating-point type, else in the
            module's.
        """
        batch, single = self._as_batch(states, "states")
        following = self._next(batch.flatten(1)).to(_floating(states, self))
        return following[0] if single else following

    @torch.no_grad()
    def recall(self, cue: Tensor, steps: int) -> Tensor:
        """Let the network run from a cue, or from many at once.

        Parameters
        ----------
        cue : Tensor of -1 and +1, shape (order, N) or (B, order, N), oldest first; with order 1
        also (N,), or (B, N) with B > 1 steps : int

        Returns
        -------
        Tensor, shape (order + steps, N) or (B, order + steps, N)
            The cue, then the patterns that follow, as `SequenceMemory.recall` returns them.
        """
        steps = check_count(steps, "steps", 0)
        batch, single = self._as_batch(cue, "cue")
        single = single or cue.shape == batch.shape[1:]
        path = torch.empty(
            (len(batch), self.order + steps, self.n_visible),
            dtype=_floating(cue, self),
            device=batch.device,
        )
        path[:, : self.order] = batch
        for t in range(self.order, self.order + steps):
            path[:, t] = self._next(path[:, t - self.order : t].flatten(1))
        return path[0] if single else path

    def _next(self, x: Tensor) -> Tensor:
        """Return the next patterns of flat states: (B, order * N) -> (B, N)."""
        for layer in self.children():
            x = layer(x)
        return x

    def _as_batch(self, states: Tensor, name: str) -> tuple[Tensor, bool]:
        """Return states as (B, order, N), and whether there was only one."""
        if not isinstance(states, Tensor):
            raise TypeError(
                f"{name} must be a torch tensor, but it is a {type(states).__name__}; use "
                f"torch.as_tensor({name})."
            )
        batch = states.unsqueeze(-2) if self.order == 1 and states.ndim in (1, 2) else states
        if batch.ndim not in (2, 3) or tuple(batch.shape[-2:]) != (self.order, self.n_visible):
            many = f"{self.n_visible}" if self.order == 1 else f"{self.order}, {self.n_visible}"
            raise ValueError(
                f"the {name} have the shape {tuple(states.shape)}, but this network takes "
                f"({many}), or (batch, {many})."
            )
        if not torch.compiler.is_compiling() and not bool((states.abs() == 1).all()):
            raise ValueError(
                f"the {name} must hold only -1 and +1; torch.where({name} > 0, 1.0, -1.0) makes "
                "them so."
            )
        return batch.reshape(-1, self.order, self.n_visible), batch.ndim == 2


def _floating(states: Tensor, module: nn.Module) -> torch.dtype:
    """Return the type of the answer to some states."""
    return states.dtype if states.is_floating_point() else next(module.buffers()).dtype
