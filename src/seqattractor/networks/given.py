"""ThresholdNetwork: threshold neurons whose weights come from elsewhere; `from_arrays`,
`from_torch` and `from_nir` make one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_finite, is_count, say
from seqattractor.engine.firing import respond
from seqattractor.engine.problem import ProgressCallback
from seqattractor.exchange.layers import PlainLayer
from seqattractor.exchange.nir_format import layers_of_nir
from seqattractor.exchange.torch_format import layers_of_torch
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.traits import Layer, Traits
from seqattractor.sequences import Patterns, Transitions, check_frame_shape

Weights = NDArray[np.float64]


@final
@dataclass(eq=False, repr=False)
class ThresholdNetwork(SequenceMemory):
    """A network of threshold neurons with weights that were trained elsewhere; `from_arrays` and
    `from_torch` make one.

    Visible neurons xi drive hidden neurons zeta, which drive the next visible state, or without
    hidden neurons themselves::

        zeta = sign(U xi + b)      xi' = sign(V zeta + c)                  xi' = sign(W xi + c)

    It can be analysed like any trained network, but it does not learn, and has no `n_iter_`,
    `converged_` or margin.

    Parameters
    ----------
    n_hidden : int
        M, the number of hidden neurons; 0 for none.
    silent : {-1, 0}
        The state of a hidden neuron that is not active: -1 as in the paper, or 0 as in
        `SparseSequenceAttractor`.
    order : int
        How many past patterns the network looks at.
    on_conflict : {"raise", "learn"}
        Has no effect here, since nothing is learned; every network has it.

    Attributes
    ----------
    U_ : ndarray, shape (M, order * N)
        Weights from visible to hidden neurons, if there are hidden neurons.
    hidden_bias_ : ndarray, shape (M,)
        b, if there are hidden neurons.
    V_ : ndarray, shape (N, M)
        Weights from hidden to visible neurons, if there are hidden neurons.
    W_ : ndarray, shape (N, order * N)
        Weights between visible neurons, if there are no hidden ones.
    visible_bias_ : ndarray, shape (N,)
        c.
    n_features_in_, order_ : int

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> trained = sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X)
    >>> net = sa.networks.from_arrays(trained.U_, trained.V_)
    >>> net, net.score(X)
    (ThresholdNetwork(n_hidden=100), 1.0)
    """

    n_hidden: int = 0
    _: KW_ONLY
    silent: Literal[-1, 0] = -1
    order: int = 1
    on_conflict: Literal["raise", "learn"] = "raise"

    deterministic = True
    _arrays: ClassVar[dict[str, str]] = {
        "U_": "float M kN if n_hidden",
        "hidden_bias_": "float M if n_hidden",
        "V_": "float N M if n_hidden",
        "W_": "float N kN if not n_hidden",
        "visible_bias_": "float N",
    }

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> None:
        """Raise an error, since this network has the weights that it was given."""
        raise TypeError(
            "a ThresholdNetwork has the weights that sa.networks.from_arrays or "
            "sa.networks.from_torch gave it, and does not learn; let another network learn, such "
            "as sa.SequenceAttractor(...).fit(X)."
        )

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, eqs. (1)-(3): (B, order * N) -> (B, N)."""
        if self.n_hidden:
            return respond(self.V_, self._hidden_states(states), self.visible_bias_)
        return respond(self.W_, states, self.visible_bias_)

    def _hidden_states(self, states: Patterns) -> Patterns:
        """Return the hidden states of a batch, eq. (2): (B, order * N) -> (B, M)."""
        return respond(self.U_, states, self.hidden_bias_, silent=int(self.silent))

    def layers(self) -> tuple[Layer, ...]:
        """Return the hidden layer, if there is one, and the visible one."""
        if not self.n_hidden:
            return (Layer.of(self.W_, self.visible_bias_),)
        hidden = Layer.of(self.U_, self.hidden_bias_, low=int(self.silent), high=1)
        return hidden, Layer.of(self.V_, self.visible_bias_)

    def traits(self) -> Traits:
        """Return the traits; how the weights were found is unknown."""
        weights = (
            ("U_", "hidden_bias_", "V_", "visible_bias_")
            if self.n_hidden
            else ("W_", "visible_bias_")
        )
        return Traits(weights=weights, note="weights that were trained elsewhere")

    def check_parameters(self) -> None:
        """Raise an error if parameters make no sense."""
        check_count(self.n_hidden, "n_hidden", 0)
        check_count(self.order, "order")
        if not is_count(self.silent, -1) or self.silent > 0:
            raise ValueError(
                "silent must be -1 or 0, the state of a hidden neuron that is not active, but it "
                f"is {say(self.silent)}."
            )

    def _check_learned(self, arrays: dict[str, NDArray[Any]]) -> None:
        if "U_" in arrays and len(arrays["U_"]) != self.n_hidden:
            raise ValueError(f"n_hidden is {self.n_hidden}, but U_ has {len(arrays['U_'])} rows")


def from_arrays(
    U: ArrayLike,
    V: ArrayLike | None = None,
    *,
    theta: ArrayLike = 0.0,
    hidden_bias: ArrayLike = 0.0,
    visible_bias: ArrayLike = 0.0,
    silent: Literal[-1, 0] = -1,
    order: int | None = None,
    frame_shape: int | Sequence[int] | None = None,
) -> ThresholdNetwork:
    """Make a network of threshold neurons from weights that were trained elsewhere.

    Parameters
    ----------
    U : array of shape (M, order * N)
        Weights from visible to hidden neurons: zeta = sign(U xi - theta + hidden_bias). With an
        order k > 1 a row stands for the last k patterns side by side, oldest first. Without `V`, an
        array W of shape (N, order * N): weights between visible neurons.
    V : array of shape (N, M), optional
        Weights from hidden to visible neurons: xi' = sign(V zeta + visible_bias).
    theta, hidden_bias : number, or array of shape (M,)
        The threshold of hidden neurons, and their bias. One of them is enough: a bias is a
        threshold below 0.
    visible_bias : number, or array of shape (N,)
    silent : {-1, 0}
        The state of a hidden neuron that is not active. An active one is 1, and a field of exactly
        0 makes it active.
    order : int, optional
        How many past patterns the network looks at; by default the order that fits the shapes.
    frame_shape : int or sequence of int, optional
        The shape of one pattern, for pictures: its product is N.

    Returns
    -------
    ThresholdNetwork
        With the weights as float64. Whole numbers and float32 come through unchanged.

    See Also
    --------
    from_torch : the same from a torch module.

    Examples
    --------
    >>> import numpy as np, seqattractor as sa
    >>> U = np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]])  # each hidden neuron active in one state
    >>> V = np.array([[1, 1, -1, -1], [-1, 1, 1, -1]])      # and what follows it
    >>> net = sa.networks.from_arrays(U, V, theta=2, silent=0)
    >>> net.recall([1, 1], steps=3).tolist()
    [[1, 1], [1, -1], [-1, 1], [1, 1]]
    >>> sa.certify(net, net.recall([1, 1], steps=3)).radius
    array([0, 0, 0])
    """
    first = check_finite(U, "U", "neurons", "inputs")
    last = first if V is None else check_finite(V, "V", "visible neurons", "hidden neurons")
    M, N = (0 if V is None else len(first)), len(last)
    if M and last.shape[1] != M:
        raise ValueError(
            f"U has {M} rows, one for each hidden neuron, but V has {last.shape[1]} columns; they "
            "must be as many."
        )
    k, left = divmod(first.shape[1], N)
    if left or not k:
        whole = f"{N} visible neurons, the rows of {'V' if M else 'U'}"
        raise ValueError(
            f"U has {first.shape[1]} columns, which is not a whole multiple of {whole}; is it "
            "transposed?"
        )
    if order is not None and check_count(order, "order") != k:
        raise ValueError(
            f"order is {order}, but U has {first.shape[1]} columns: {k} patterns of {N} units."
        )
    net = ThresholdNetwork(M, silent=silent, order=k)
    net.check_parameters()
    if M:
        net.U_, net.V_ = first, last
        net.hidden_bias_ = _for_each(hidden_bias, M, "hidden_bias") - _for_each(theta, M, "theta")
    else:
        net.W_ = first
        for value, name in ((theta, "theta"), (hidden_bias, "hidden_bias")):
            if np.any(_for_each(value, N, name)):
                raise ValueError(
                    f"{name} is for hidden neurons, and without V there are none; use visible_bias."
                )
    net.visible_bias_ = _for_each(visible_bias, N, "visible_bias")
    net.n_features_in_, net.order_ = N, k
    if frame_shape is not None:
        net.metadata_ = {"frame_shape": list(check_frame_shape(frame_shape, N))}
    return net


def _for_each(value: ArrayLike, count: int, name: str) -> Weights:
    """One number for all neurons, or one for each, as an array of shape (count,)."""
    numbers = check_finite(np.atleast_1d(np.asarray(value)), name, "neurons")
    if len(numbers) not in (1, count):
        raise ValueError(
            f"{name} has {len(numbers)} numbers, but there are {count} neurons; give one for each, "
            "or one for all."
        )
    return np.broadcast_to(numbers, count).copy()


def from_torch(module: Any) -> ThresholdNetwork:
    """Make a network from a torch module of threshold neurons.

    Parameters
    ----------
    module : torch.nn.Module
        What `to_torch` returned; or ``nn.Sequential`` of one or two ``nn.Linear``, each with a
        threshold function behind it; or another module that uses one or two ``nn.Linear`` in this
        way. A threshold function gives -1 below zero and 1 above, or, for hidden neurons, 0 and 1.
        Where it gives the lower value at exactly zero, the offset is lowered by less than the
        smallest step between two fields; where it gives neither, as ``torch.sign``, zero counts as
        above.

    Returns
    -------
    ThresholdNetwork
        With the module's weights, as they are. It is rejected unless it gives what the module
        gives, computed in float64, for 64 random states, but for fields that are zero up to
        rounding.

    Examples
    --------
    >>> import torch, seqattractor as sa  # doctest: +SKIP
    >>> class Sign(torch.nn.Module):  # doctest: +SKIP
    ...     def forward(self, x):
    ...         return torch.where(x >= 0, 1.0, -1.0)
    >>> U, V = torch.nn.Linear(50, 100), torch.nn.Linear(100, 50)  # doctest: +SKIP
    >>> module = torch.nn.Sequential(U, Sign(), V, Sign())  # doctest: +SKIP
    >>> sa.networks.from_torch(module)  # doctest: +SKIP
    ThresholdNetwork(n_hidden=100)
    """
    return from_layers(layers_of_torch(module))


def from_nir(graph: Any) -> ThresholdNetwork:
    """Make a network from a NIR graph: input, affine map, neurons, and perhaps both once more,
    output.

    Parameters
    ----------
    graph : nir.NIRGraph
        Nodes `Affine` or `Linear` and `LIF` or `Threshold` in one chain, for spikes as in `to_nir`.
        `LIF` neurons are threshold neurons if the time step, ``graph.metadata["dt"]``, is as long
        as their time constant. ``nir.read(path)`` reads a graph from a file that you trust: a
        damaged HDF5 file can occupy its reader for ever.

    Returns
    -------
    ThresholdNetwork
        For states of -1 and +1. Its hidden neurons are 1 and 0. NIR's neurons are silent at their
        threshold and ours active, so offsets are lowered by less than the smallest step between two
        fields.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> graph = sa.networks.to_nir(sa.OneHotNetwork().fit(X))  # doctest: +SKIP
    >>> sa.networks.from_nir(graph).score(X)  # doctest: +SKIP
    1.0
    """
    return from_layers(layers_of_nir(graph))


def from_layers(layers: list[PlainLayer]) -> ThresholdNetwork:
    """Make a network of one or two layers for states of -1 and +1, whatever states the tool had at
    both ends.
    """
    *hidden, last = [layer.active_at_zero() for layer in layers]
    if not hidden:
        return from_arrays(last.weights, visible_bias=last.offset)
    (first,) = hidden
    silent: Literal[-1, 0] = -1 if first.low == -1 else 0
    return from_arrays(
        first.weights,
        last.weights,
        hidden_bias=first.offset,
        visible_bias=last.offset,
        silent=silent,
    )
