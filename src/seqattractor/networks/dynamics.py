"""Dynamics: a network that has learned, run as neurons run that share no clock, answer late and
fire by chance.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import (
    check_choice,
    check_counts,
    check_finite,
    check_kind,
    check_memory,
    check_not_negative,
    check_positive,
    say,
)
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.base import SequenceMemory, check_learned
from seqattractor.networks.traits import Layer, NotApplicable, Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST_DELAY = 1000


@final
@dataclass(eq=False, repr=False)
class Dynamics(SequenceMemory):
    """A network of threshold neurons under other dynamics than those it learned for.

    In the paper all hidden neurons answer at once, then all visible ones, without delay and without
    chance, eqs. (2)-(3). Here neurons may miss updates or act one after another, their states may
    reach the others late, they may fire by chance, and an input may go on during recall. The
    weights stay as they are. The result is a network as any other: `recall`, `score`,
    `sa.basin_fraction`, `sa.robustness_curve` and `sa.compare` take it. With the defaults it does
    exactly what the wrapped network does.

    Parameters
    ----------
    network : SequenceMemory
        Threshold neurons in one or two layers, such as `SequenceAttractor`,
        `SparseSequenceAttractor`, `VisibleNetwork` or `ThresholdNetwork`. `fit` lets it learn,
        under its own dynamics; one that has learned already is run as it is.
    update : float, "random" or "asynchronous"
        Below 1, each neuron misses its update in a step with the probability 1 - `update`, and
        keeps its state. With "random" all neurons, hidden and visible, act one after another in
        each step, in an order that is drawn anew for every step. With "asynchronous" a step is as
        many updates as there are neurons, each of a neuron that is drawn from all.
    delay : int or (int, int)
        How many steps later the state of a neuron reaches the others: one number, or the least and
        the most, between which a delay is drawn for each neuron. With one number d each pattern of
        a sequence stays for 2d + 1 steps (d + 1 without hidden neurons).
    temperature : float
        A neuron with the field h is active with the probability 1 / (1 + exp(-2 h / temperature));
        0 is a threshold. In units of kappa, the margin for which the network has learned, or of the
        field itself for a network without one.
    drive : array of shape (N,) or (K, N), optional
        An input that is added to the fields of visible neurons, in the same units: in every step,
        or row t in step t of a run and nothing after the last row.
    random_state : int, Generator or None
        Where delays come from, and chance where `recall` has no `rng` of its own.

    Attributes
    ----------
    delays_ : ndarray of int, shape (N + M,)
        The delay of each visible neuron, then of each hidden one.
    n_features_in_, order_ : int
        Those of the network.

    Notes
    -----
    With delays d_j, eqs. (2)-(3) become zeta_i(t+1) = sign(sum_j U_ij xi_j(t - d_j)) and xi_i(t+1)
    = sign(sum_j V_ij zeta_j(t + 1 - d_j)). Neurons that act one after another see the present
    states of those without a delay. Before a run starts, the cue has been there for long.

    The runs of a batch draw their orders and their chance independently of each other.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 100, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=500, random_state=0).fit(X)
    >>> noisy = sa.Dynamics(net, temperature=0.3, update=0.95)
    >>> path = noisy.recall(X[0], steps=19, rng=1)
    >>> bool((sa.overlap(path, X).diagonal() > 0.8).all())
    True
    >>> slow = sa.Dynamics(net, delay=1).recall(X[0], steps=57)
    >>> bool((slow[1:] == X[1:].repeat(3, axis=0)).all())  # three steps at each pattern
    True
    """

    network: SequenceMemory
    _: KW_ONLY
    update: float | Literal["random", "asynchronous"] = 1.0
    delay: int | Sequence[int] = 0
    temperature: float = 0.0
    drive: ArrayLike | None = None
    random_state: Seed = None

    def __post_init__(self) -> None:
        self._drawn: tuple[tuple[int, int, int], Ids] | None = None
        self._generator: np.random.Generator | None = None
        self._wired: _Wiring | None = None

    def fit(
        self,
        X: ArrayLike | Sequence[ArrayLike],
        lengths: ArrayLike | None = None,
        *,
        callback: ProgressCallback | None = None,
    ) -> Self:
        """Let the network learn, under its own dynamics.

        Parameters
        ----------
        X, lengths, callback
            As in `SequenceMemory.fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(10, 50, rng=0)
        >>> net = sa.SequenceAttractor(n_hidden=100, random_state=0)
        >>> sa.Dynamics(net, update="random", delay=1).fit(X).network.score(X)
        1.0
        """
        self.check_parameters()
        self.network.fit(X, lengths, callback=callback)
        return self

    def recall(self, cue: ArrayLike, steps: int, *, noise: int = 0, rng: Seed = None) -> Patterns:
        """Let the network run from a cue.

        Parameters
        ----------
        cue, steps, noise
            As in `SequenceMemory.recall`.
        rng : int, Generator or None
            The source of the noise and of all other chance; None continues that of `random_state`.

        Returns
        -------
        ndarray of int8, shape (order + steps, N) or (B, order + steps, N)

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(10, 50, rng=0)
        >>> net = sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X)
        >>> hot = sa.Dynamics(net, temperature=2.0)
        >>> bool((hot.recall(X[0], 9, rng=1) == hot.recall(X[0], 9, rng=1)).all())
        True
        """
        self.check_parameters()
        if rng is not None:
            self._generator = as_generator(rng, "dynamics")
        return super().recall(cue, steps, noise=noise, rng=rng)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Raise an error: a model file holds networks alone, so save the one in `network`."""
        raise TypeError(
            "a model file holds no dynamics; save its network, dynamics.network.save(path), and "
            "wrap what sa.load(path) returns."
        )

    def start(self, states: Patterns) -> NDArray[Any]:
        """Return the states that neurons had before a run, as if the cue had been there for long.

        Parameters
        ----------
        states : ndarray of int8, shape (B, order * N)

        Returns
        -------
        ndarray of shape (B,)
            A record for each run: "past", int8 of shape (K, N + M), the states of visible and
            hidden neurons at the end of the last K steps, the newest first, and "step", the number
            of steps made.

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(10, 50, rng=0)
        >>> net = sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X)
        >>> sa.Dynamics(net, delay=2).start(X[:4])["past"].shape
        (4, 3, 150)
        """
        self.check_parameters()
        wiring = self._wired = self._wiring()  # once for a run, since steps are short
        N, B = self.n_features_in_, len(states)
        shown = states.reshape(B, self.order_, N)[:, ::-1]
        K, n = int(self.delays_.max()) + self.order_, len(wiring.offset)
        check_memory(B * K * n, f"the past of {B} runs with delays")
        memory = np.zeros(B, dtype=[("past", np.int8, (K, n)), ("step", np.int64)])
        memory["past"][:, :, :N] = shown[:, -1:]
        memory["past"][:, : self.order_, :N] = shown
        if n > N:
            hidden = wiring.layers[0]
            memory["past"][:, :, N:] = hidden.states(hidden.fields(states))[:, None]
        return memory

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, (B, order * N) -> (B, N); changes `memory`."""
        if memory is None or self._wired is None:
            memory = self.start(states)
        past, N = memory["past"], self.n_features_in_
        # The newest patterns are those that are shown: units may have been flipped since they came.
        past[:, : self.order_, :N] = states.reshape(len(states), self.order_, N)[:, ::-1]
        now: Patterns = past[:, 0].copy()
        act = self._one_by_one if isinstance(self.update, str) else self._together
        assert self._wired is not None
        act(self._wired, past, now, self._wired.drive_at(memory["step"]))
        past[:, 1:] = past[:, :-1].copy()
        past[:, 0] = now
        memory["step"] += 1
        return now[:, :N].copy()

    def traits(self) -> Traits:
        """Return the traits of the network; with delays it stays at each pattern."""
        _, most = _range(self.delay)
        return replace(self.network.traits(), dwells=most > 0, steps_per_pattern=1 + 2 * most)

    def n_parameters(self) -> int:
        """Count the parameters of the network."""
        return self.network.n_parameters()

    @property
    def delays_(self) -> Ids:
        """The delay of each visible neuron, then of each hidden one, shape (N + M,)."""
        n = sum(len(layer.weights) for layer in self._layers())
        least, most = _range(self.delay)
        if self._drawn is None or self._drawn[0] != (least, most, n):
            rng = as_generator(self.random_state, "delays")
            self._drawn = (least, most, n), rng.integers(least, most + 1, size=n)
        return self._drawn[1]

    def check_parameters(self) -> None:
        """Raise an error if parameters make no sense."""
        check_kind(
            self.network, SequenceMemory, "network", "a network, such as SequenceAttractor()"
        )
        if isinstance(self.update, str):
            check_choice(self.update, "update", ("random", "asynchronous"))
        elif check_positive(self.update, "update") > 1:
            raise ValueError(
                "update must be 'random', 'asynchronous', or a probability above 0 and at most 1, "
                f"but it is {say(self.update)}."
            )
        _range(self.delay)
        check_not_negative(self.temperature, "temperature")
        if self.drive is not None:
            _as_drive(self.drive, None)

    # -- inside

    def __getattr__(self, name: str) -> Any:
        """What the network has learned is what it can run with."""
        if name in ("n_features_in_", "order_", "feature_names_in_", "metadata_"):
            return getattr(self.network, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name}.")

    @property
    def _rng(self) -> np.random.Generator:
        """The source of chance."""
        if self._generator is None:
            self._generator = as_generator(self.random_state, "dynamics")
        return self._generator

    def _layers(self) -> tuple[Layer, ...]:
        """Return the layers of the network, or raise for one that is more than one or two."""
        check_learned(self.network)
        layers = self.network.layers()
        if layers is None or len(layers) > 2:
            raise NotApplicable(
                f"{type(self.network).__name__} is not one or two layers of threshold neurons, so "
                "that other dynamics of its neurons are not defined."
            )
        return layers

    def _wiring(self) -> _Wiring:
        """Return the neurons and what reaches them."""
        layers, N, order = self._layers(), self.n_features_in_, self.order_
        delays = self.delays_
        # The inputs of hidden neurons, the last patterns with the oldest first; then hidden ones.
        age = np.repeat(np.arange(order)[::-1], N) + np.tile(delays[:N], order)
        return _Wiring(
            layers,
            source=np.concatenate([np.tile(np.arange(N), order), np.arange(N, len(delays))]),
            # -1 is the present state; a hidden neuron's last state is one step older than that.
            age=np.concatenate([np.where(age == 0, -1, age), delays[N:] - 1]),
            unit=tuple(
                self._unit(layer, name)
                for layer, name in zip(layers, ("U_", "V_")[-len(layers) :], strict=True)
            ),
            drive=None if self.drive is None else _as_drive(self.drive, N),
        )

    def _unit(self, layer: Layer, name: str) -> float:
        """Return the unit of temperature and input, in that of the layer's fields."""
        if layer.kappa is not None:
            return float(layer.kappa)
        steps = getattr(self.network, "_step_size", None)
        return 1.0 / ((steps(name) if steps is not None else None) or 1.0)

    def _together(self, wiring: _Wiring, past: Patterns, now: Patterns, drive: Any) -> None:
        """Let the hidden neurons answer, then the visible ones; changes their states `now`."""
        N, width = self.n_features_in_, wiring.layers[0].weights.shape[1]
        for layer, unit in zip(wiring.layers, wiring.unit, strict=True):
            is_last = layer is wiring.layers[-1]
            cells = slice(0, N) if is_last else slice(N, None)
            inputs = slice(width, None) if is_last and len(wiring.layers) > 1 else slice(0, width)
            fields = layer.fields(wiring.arriving(inputs, past, now))
            fields += unit * ((drive if is_last else 0.0) + self._chance(fields.shape))
            answer = layer.states(fields)
            if self.update != 1:
                missed = self._rng.random(answer.shape) >= float(self.update)
                answer = np.where(missed, now[:, cells], answer)
            now[:, cells] = answer

    def _one_by_one(self, wiring: _Wiring, past: Patterns, now: Patterns, drive: Any) -> None:
        """Let neurons answer one after another, in each run in an order of its own."""
        (B, n), N, rng = now.shape, self.n_features_in_, self._rng
        runs, column = np.arange(B), wiring.column
        if self.update == "random":
            order = rng.permuted(np.tile(np.arange(n), (B, 1)), axis=1)
        else:
            order = rng.integers(n, size=(B, n))
        given = np.zeros((B, n))
        given[:, :N] = drive
        given, chance = given * wiring.units, self._chance((B, n))
        # The last column is for the states that nobody sees yet.
        seen = np.zeros((B, wiring.weights.shape[1]))
        seen[:, :-1] = wiring.arriving(slice(None), past, now)
        for k in range(n):
            cell = order[:, k]
            fields = np.einsum("bj,bj->b", wiring.weights[cell], seen) + wiring.offset[cell]
            fields += given[runs, cell] + chance[:, k] * wiring.units[cell]
            answer = np.where(fields >= 0, wiring.high[cell], wiring.low[cell])
            now[runs, cell] = answer
            seen[runs, column[cell]] = answer

    def _chance(self, shape: tuple[int, ...]) -> Any:
        """Return what is added to fields, so that a threshold at 0 is passed as often as neurons of
        this temperature are active.
        """
        if not self.temperature:
            return np.zeros(shape)
        return self._rng.logistic(scale=float(self.temperature) / 2, size=shape)


@dataclass(frozen=True, eq=False)
class _Wiring:
    """All neurons, visible and then hidden ones, and what reaches them: states of neurons
    `source`, which have the age `age` in steps, -1 being the present.
    """

    layers: tuple[Layer, ...]
    source: Ids
    age: Ids
    unit: tuple[float, ...]
    drive: Floats | None

    def drive_at(self, step: Ids) -> Any:
        """Return the input of visible neurons in a step of each run, (B, N), (N,) or 0."""
        if self.drive is None or self.drive.ndim == 1:
            return 0.0 if self.drive is None else self.drive
        over = (step >= len(self.drive))[:, None]
        return np.where(over, 0.0, self.drive[np.minimum(step, len(self.drive) - 1)])

    def arriving(self, inputs: slice, past: Patterns, now: Patterns) -> Patterns:
        """Return the states that arrive at some inputs, (B, inputs)."""
        source, age = self.source[inputs], self.age[inputs]
        if self.is_prompt:
            return now[:, source]
        return np.where(age < 0, now[:, source], past[:, age, source])

    def _of_neurons(self, values: Sequence[Any]) -> NDArray[Any]:
        """Return a value of each layer for each of its neurons, visible ones first, (N + M,)."""
        parts = [
            np.broadcast_to(value, len(layer.weights))
            for layer, value in zip(self.layers, values, strict=True)
        ]
        return np.concatenate(parts[::-1])

    @cached_property
    def is_prompt(self) -> bool:
        """Whether all inputs are present states."""
        return bool(self.age.max() < 0)

    @cached_property
    def offset(self) -> Floats:
        return self._of_neurons([layer.offset for layer in self.layers])

    @cached_property
    def units(self) -> Floats:
        return self._of_neurons(self.unit)

    @cached_property
    def low(self) -> NDArray[np.int8]:
        return self._of_neurons([layer.low for layer in self.layers]).astype(np.int8)

    @cached_property
    def high(self) -> NDArray[np.int8]:
        return self._of_neurons([layer.high for layer in self.layers]).astype(np.int8)

    @cached_property
    def weights(self) -> Floats:
        """From all inputs to all neurons, and a last input without weights."""
        *hidden, visible = [layer.weights for layer in self.layers]
        weights = np.zeros((len(self.offset), len(self.source) + 1))
        N = len(visible)
        if hidden:
            weights[N:, : hidden[0].shape[1]] = hidden[0]
        weights[:N, -1 - visible.shape[1] : -1] = visible
        return weights

    @cached_property
    def column(self) -> Ids:
        """The input at which the present state of each neuron arrives; the last if at none."""
        column = np.full(len(self.offset), len(self.source))
        live = np.flatnonzero(self.age < 0)
        column[self.source[live]] = live
        return column


def _range(delay: int | Sequence[int]) -> tuple[int, int]:
    """Return the least and the greatest delay."""
    ends = np.atleast_1d(check_counts(delay, "delay", 0, _MOST_DELAY)).tolist()
    if len(ends) > 2 or ends != sorted(ends):
        raise ValueError(
            "delay must be a number of steps, or the least and the greatest, but it is "
            f"{say(delay)}."
        )
    return ends[0], ends[-1]


def _as_drive(drive: ArrayLike, N: int | None) -> Floats:
    """Return an ongoing input as an array of shape (N,) or (K, N)."""
    axes = ("N",) if np.ndim(drive) == 1 else ("steps", "N")
    array = check_finite(drive, "drive", *axes)
    if N is not None and array.shape[-1] != N:
        raise ValueError(
            f"drive has {array.shape[-1]} columns, but the network has {N} visible neurons."
        )
    return array
