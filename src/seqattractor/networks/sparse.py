"""SparseSequenceAttractor: the paper's architecture with sparse hidden codes, and about ten times
its capacity.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import (
    check_choice,
    check_count,
    check_in_steps,
    check_memory,
    check_not_negative,
    check_number,
    check_positive,
    is_auto,
    say,
)
from seqattractor.engine.firing import respond
from seqattractor.engine.grid import STEP
from seqattractor.engine.kernels import has_kernels
from seqattractor.engine.problem import OwnLearning, ProgressCallback
from seqattractor.engine.sparse.engine import learn_sparse
from seqattractor.engine.sparse.rule import PROTOTYPE, Epoch, Obeyed, SparseSettings, SparseState
from seqattractor.engine.sparse.schedule import Schedule
from seqattractor.engine.synapses import Synapses
from seqattractor.networks.choose_hidden import LADDER, check_size, fit_smallest, given_size
from seqattractor.networks.online import OnlineMemory, WayBack
from seqattractor.networks.own_learning import (
    Constraints,
    check_own_learning,
    engine_of,
    fades,
    own_learning,
)
from seqattractor.networks.traits import Layer, Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.rule import field
from seqattractor.sequences import Patterns, Transitions
from seqattractor.sequences._patterns import as_items, as_signs

Weights = NDArray[np.floating[Any]]
Auto = Literal["auto"]

_MOST_COMPARED = 1000  # patterns whose nearest neighbour is looked for
_NEAR = 0.1  # of the input units: patterns that lie nearer to each other are learned clean first
# units: patterns that lie nearer still, such as frames of a film in which little moves, are learned
# without noise
_NEAREST = 16
_TINY = 32  # inputs up to which a few flips may turn one stored pattern into another, or nearly so
_LARGEST_BIAS = 2**15  # its square, and sums of it over many units, are counted in 32 bits


@final
@dataclass(eq=False, repr=False)
class SparseSequenceAttractor(OnlineMemory):
    """A sequence memory of threshold neurons with few active hidden neurons; it stores more
    patterns than it has hidden neurons.

    Hidden neurons are 0 or 1 and have a bias; visible ones are -1 or +1::

        zeta = H(U [xi; b])          xi' = sign(V zeta)

    Learning is as local as the paper's: every weight changes by presynaptic activity x postsynaptic
    target x an error of 0 or 1, one transition at a time. `seqattractor.engine.sparse.rule` has the
    rule in plain numpy, and the guide explains why each part is there. Values that are "auto" are
    chosen from N, M, the number of transitions and the data; the choices are in fitted attributes
    of the same name with ``_``.

    Parameters
    ----------
    n_hidden : int or "auto"
        M, the number of hidden neurons. With "auto" `fit` chooses it as in `SequenceAttractor`;
        `n_hidden_` is the number chosen.
    n_winners : int or "auto"
        k: how many hidden neurons should be active for each transition. "auto" is one in 250
        (without noise, one in 200), but at least three; with noise from the start there are fewer
        where each neuron would get too many patterns for its inputs. Where constraints leave out
        synapses of V, or signs, there are so many more that each visible neuron is reached.
    code : {"winners", "thresholds"}
        Targets are the k neurons with the highest score, or all with a score above their threshold
        (k on average).
    target_from : {"current", "next", "auto"}
        Whether a hidden neuron's score comes from the random projection P of x(t), or of x(t+1) as
        in the paper. x(t) eases the task of U, x(t+1) that of V. "auto" takes x(t+1) if there is no
        noise and there are no more transitions than input units, so that U has an easy task anyway.
    learned_drive : bool or "auto"
        Whether P is learned, too, and moves towards the patterns that its neuron is chosen for, so
        that a neuron stands for patterns that are alike. P is then that of x(t).
    learned_feedback : float or "auto"
        lambda: how much the learned feedback Q x(t+1) adds to a hidden neuron's score while targets
        are chosen, so that neurons are chosen that are already close to x(t+1). 0 for none.
    bias : int or "auto"
        b: strength of the constant unit that feeds hidden neurons. 0 takes it away.
    noise : int or "auto"
        While learning, 0 to `noise` units of x(t) are flipped. 0 is the convergent setting: errors
        reach exactly zero. Where "auto" leaves wrong units in a tiny network (up to 32 inputs),
        `fit` learns again without noise, and takes the better result. Where clean patterns come
        first and `max_epochs` is "auto", U practises for larger and larger margins instead, and
        nothing is flipped.
    clean_first : bool or "auto"
        Whether clean patterns are learned first, and practised with noise, or with larger and
        larger margins, only then. "auto" does so for patterns that lie near each other, such as
        pictures, whose hidden neurons would otherwise fall silent.
    kappa : float
        The margin of visible neurons, and of hidden neurons that should be silent.
    kappa_active : float or "auto"
        The margin of hidden neurons that should be active.
    active_weight : int or "auto"
        How much larger learning steps of hidden neurons that should be active are.
    eta_hidden, eta_visible : float or "auto"
        Learning rates of U and V.
    decay : bool or "auto"
        Whether the rates fall linearly to zero.
    homeostasis : float or "auto"
        By how much a hidden neuron's threshold rises each time it is chosen, at first; 0 for no
        fair use.
    redraw : float
        How random the new targets of a pattern are that cannot be decoded (as a multiple of the
        spread of the drive); 0 for no redraw.
    redraw_tolerance : float or "auto"
        The fraction of wrong visible neurons above which a pattern counts as not decoded.
    max_epochs : int or "auto"
        How often the sequences are presented, at most. With noise the last third is for V alone,
        without noise, and ends after an epoch without any error, as all learning does in the
        convergent setting. "auto" is 750, and with noise V then continues alone while it has
        errors, as does U before it if clean patterns come first, unless synapses decay; where
        `n_hidden` is "auto", too, it is 7500 if hidden neurons have errors left in the convergent
        setting.
    constraints : list of Constraint, optional
        What the synapses of U and V obey after every update, such as
        ``[sa.constraints.Dilution(0.2)]``; see `seqattractor.constraints`. Sizes are in units of
        kappa / sqrt(inputs) for U, and of kappa / sqrt(n_winners) for V, of whose inputs so many
        are active. The feedback Q obeys what V does and stays its transpose; P obeys nothing.
    order : int or "auto"
        How many past patterns the network looks at.
    on_conflict : {"raise", "learn"}
        What to do with a pattern that has two different successors.
    random_state : int, Generator or None
        Where P, the initial weights and the noise come from.
    engine : {"exact", "reference"}
        The compiled kernels, or the plain loop. Both give the same weights bit for bit.
    verbose : int
        1 shows a bar on a terminal and in a notebook, and elsewhere prints a line after 2 s, every
        10 s and at the end; 2 prints a line every epoch.

    Attributes
    ----------
    U_ : ndarray, shape (M, order * N)
        Weights from visible to hidden neurons.
    hidden_bias_ : ndarray, shape (M,)
        What the constant unit adds to the fields of hidden neurons.
    V_ : ndarray, shape (N, M)
        Weights from hidden to visible neurons.
    P_ : ndarray, shape (M, N) or (M, order * N)
        The projection from which hidden neurons get their scores: fixed and random, or learned.
    theta_ : ndarray, shape (M,)
        Thresholds of the choice of targets.
    rng_ : Generator
        The source of further noise, so that learning can continue.
    hidden_errors_, visible_errors_ : ndarray of int, shape (n_epochs,)
        Updates in each epoch: the sums of mu and nu over neurons and (noisy) transitions.
    n_iter_ : int
        Epochs run.
    converged_ : bool
        Whether the last epoch was free of noise and errors: every transition is made from its clean
        pattern, with a margin.
    n_hidden_ : int
        M, as given or chosen.
    engine_ : {"exact", "reference"}
        The engine that learns with these parameters.
    learning_seed_ : ndarray of int, shape (4,)
        What chance begins with in constraints; only with these.
    n_features_in_, order_ : int

    See Also
    --------
    SequenceAttractor : the paper's network.
    seqattractor.basin : how well stored sequences attract.

    Notes
    -----
    In a stream (`partial_fit`) learning steps of U are an eighth, those of V a thirty-second of the
    first ones if rates decay, else the same. Targets are chosen anew, and a stream may not store
    all that `fit` does. What is "auto" is chosen in the first call, without a second try: give
    ``noise=0`` to a tiny network.

    A state that is far from all stored ones may leave every hidden neuron silent. Visible fields
    are then zero, and as everywhere sign(0) = +1: the next pattern is +1 in all units, whatever was
    learned. ``net.hidden(state).any()`` is then False.

    Examples
    --------
    A sequence of 200 patterns, of which the paper's rule stores nothing with 500 hidden neurons:

    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(200, 100, rng=0)
    >>> net = sa.SparseSequenceAttractor(n_hidden=500, max_epochs=100, random_state=0).fit(X)
    >>> sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng=1), steps=420), X)
    True
    """

    n_hidden: int | Auto = 500
    _: KW_ONLY
    n_winners: int | Auto = "auto"
    code: Literal["winners", "thresholds"] = "winners"
    target_from: Literal["current", "next", "auto"] = "auto"
    learned_drive: bool | Auto = "auto"
    learned_feedback: float | Auto = "auto"
    bias: int | Auto = "auto"
    noise: int | Auto = "auto"
    clean_first: bool | Auto = "auto"
    kappa: float = 1.0
    kappa_active: float | Auto = "auto"
    active_weight: int | Auto = "auto"
    eta_hidden: float | Auto = "auto"
    eta_visible: float | Auto = "auto"
    decay: bool | Auto = "auto"
    homeostasis: float | Auto = "auto"
    redraw: float = 3.0
    redraw_tolerance: float | Auto = "auto"
    max_epochs: int | Auto = "auto"
    constraints: Constraints = None
    order: int | Auto = 1
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None
    engine: Literal["exact", "reference"] = "exact"
    verbose: int = 0

    _usual_epochs: ClassVar[int] = (
        750  # 500 with noise, as in the paper without, and the practice of V
    )

    deterministic = True
    _rehearses = True
    _arrays: ClassVar[dict[str, str]] = {
        "U_": "float M kN",
        "V_": "float N M",
        "P_": "float M S",
        "hidden_bias_": "float M",
        "theta_": "float M",
        "hidden_errors_": "count E",
        "visible_errors_": "count E",
    }
    _values: ClassVar[dict[str, str]] = {
        "n_hidden": "size M or auto",
        "n_hidden_": "size M",
        "max_epochs_": "count",
        "n_iter_": "size E",
        "converged_": "flag",
        "rng_": "generator",
        "drive_scale_": "positive",
        "hidden_unit_": "positive",
        "hidden_step_": "count",
        "visible_unit_": "positive",
        "visible_step_": "count",
        "n_winners_": "count M",
        "bias_": "count",
        "target_from_": "word current next",
        "noise_": "count kN",
        "kappa_active_": "positive",
        "active_weight_": "count",
        "eta_hidden_": "positive",
        "eta_visible_": "positive",
        "decay_": "flag",
        "redraw_tolerance_": "number",
        "clean_first_": "flag",
        "learned_drive_": "flag",
        "learned_feedback_": "number",
        "homeostasis_": "number",
    }

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int] | None:
        """Learn from scratch; with noise every epoch has errors, so those are counted that are left
        without it.
        """
        if is_auto(self.n_hidden):
            return fit_smallest(self, transitions, callback)
        wrong = self._learn(transitions, self.noise, callback)
        stopped = self.n_iter_ < self.max_epochs_
        if (
            wrong
            and not stopped
            and self.noise == "auto"
            and self.noise_
            and transitions.inputs.shape[1] <= _TINY
        ):
            # One flip of two units makes another pattern of XOR. What noise hides can be learned
            # without it.
            with_noise = dict(vars(self))
            fewer = self._learn(transitions, 0, callback)
            if fewer >= wrong:
                self.__dict__.update(with_noise)
            wrong = min(wrong, fewer)
        return 0, wrong

    def _learn(
        self, transitions: Transitions, noise: int | Auto, callback: ProgressCallback | None
    ) -> int:
        """Learn from scratch with some noise; returns the number of wrong units that are left."""
        self._init_with(transitions, noise)
        check_memory(300 * self.max_epochs_, f"a record of {self.max_epochs_} epochs")
        self._run_epochs(transitions, self._schedule().plan(), callback)
        return int(self._wrong_units(transitions).sum())

    def _present(self, transitions: Transitions) -> None:
        """Go once through the transitions and learn from each."""
        self._run_epochs(transitions, [self._schedule().stream(self.n_iter_)], None)

    def _schedule(self) -> Schedule:
        """When what is learned, in `fit` and in a stream."""
        return Schedule(
            epochs=self.max_epochs_,
            noise=self.noise_,
            hidden_step=self.hidden_step_,
            visible_step=self.visible_step_,
            decay=self.decay_,
            learned_drive=self.learned_drive_,
            clean_first=self.clean_first_,
            homeostasis=float(self.homeostasis_),
            redraw_above=self.redraw_tolerance_ * self.n_features_in_
            if self.redraw > 0
            else math.inf,
            patient=is_auto(self.max_epochs) and not fades(self),
        )

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, eq. (3): (B, order * N) -> (B, N)."""
        return respond(self.V_, self._hidden_states(states))

    def _synapses(self) -> tuple[Weights, Weights]:
        return self.U_, self.V_.T

    def _way_back(self) -> WayBack:
        """U, and P if it is learned, have moved towards the patterns that activate their neuron."""
        weights = (self.U_ - self.U_.mean(axis=0)) / np.abs(self.U_).mean()
        if self.learned_drive_:
            weights = weights + self.P_ / np.abs(self.P_).mean()
        return lambda states, _: as_signs(self._hidden_states(states) @ weights >= 0)

    def _hidden_states(self, states: Patterns) -> Patterns:
        """The hidden states of a batch, eq. (2) with 0 for silent: (B, order * N) -> (B, M). Dyadic
        weights: sums are exact.
        """
        return respond(self.U_, states, self.hidden_bias_, silent=0)

    def layers(self) -> tuple[Layer, Layer]:
        """Return the hidden layer, of 0 and 1, and the visible one."""
        hidden = Layer.of(self.U_, self.hidden_bias_, low=0, high=1, kappa=float(self.kappa))
        return hidden, Layer.of(self.V_, kappa=float(self.kappa))

    @property
    def engine_(self) -> str:
        """The engine that learns: "exact", or "reference" for a plain loop."""
        return engine_of(self)

    @property
    def _fewest_hidden(self) -> int:
        """As many as are to be active at a time."""
        return 1 if is_auto(self.n_winners) else int(self.n_winners)

    @property
    def _hidden_left(self) -> int:
        """Updates of hidden neurons in the last epoch without noise; with noise every epoch has
        some.
        """
        return 0 if self.noise_ else self._last_errors()[0]

    def _init_learning(self, transitions: Transitions) -> None:
        """Settle what is "auto", draw P, U and V, and put thresholds at each neuron's mean
        drive.
        """
        self._init_with(transitions, self.noise)

    def _init_with(self, transitions: Transitions, noise: int | Auto) -> None:
        """Begin with some noise."""
        inputs, targets = transitions.inputs, transitions.targets
        M = self.n_hidden_ = given_size(self)
        self.max_epochs_ = self._epoch_limit
        self._no_errors_yet(hidden=True)
        for name, value in choose_defaults(self, inputs, targets, noise).items():
            setattr(
                self, f"{name}_", value.item() if isinstance(value, np.generic) else value
            )  # int8 would overflow
        check_in_steps(self.eta_hidden_, kappa=self.kappa, kappa_active=self.kappa_active_)
        check_in_steps(self.eta_visible_, kappa=self.kappa)
        rng = as_generator(self.random_state)
        N, (n, n_in) = self.n_features_in_, inputs.shape
        check_memory(16 * M * (n_in + N), f"a network of {M} hidden neurons")
        if self.engine == "exact" and has_kernels():
            check_memory(12 * n**2, f"learning {n} transitions, of which every two are compared")
        fine = fades(self)
        self.hidden_unit_, self.hidden_step_ = _in_units(self.eta_hidden_, self.decay_, fine)
        self.visible_unit_, self.visible_step_ = _in_units(self.eta_visible_, self.decay_, fine)
        # Multiples of a power of two add up without rounding, so that the drive does not depend on
        # the order of a sum.
        P = rng.standard_normal((M, N if self.target_from_ == "next" else n_in))
        self.P_: Weights = (
            np.rint(P * (PROTOTYPE / 8)) / PROTOTYPE
            if self.learned_drive_
            else np.rint(P * 2**20) / 2**20
        )
        self.U_: Weights = (
            np.rint(rng.standard_normal((M, n_in)) * self.hidden_step_) * self.hidden_unit_
        )
        self.V_: Weights = np.zeros((N, M))  # and Q with it: from then on they get the same updates
        self.hidden_bias_: Weights = np.zeros(M)
        drive = self._raw_drive(inputs, targets)
        centre = drive.mean(axis=0)
        spread = float(np.sqrt(np.mean((drive - centre) ** 2)))
        self.drive_scale_ = spread if spread > 0 and not self.learned_drive_ else 1.0
        self.theta_ = centre / self.drive_scale_
        if self.code == "thresholds":
            from statistics import NormalDist

            self.theta_ += NormalDist().inv_cdf(1 - min(self.n_winners_ / M, 0.5))
        self.rng_ = rng

    def _raw_drive(self, inputs: Patterns, targets: Patterns) -> NDArray[np.float64]:
        """P applied to the pattern that targets come from, shape (n, M); if P is learned, as a
        multiple of its length.
        """
        source = targets if self.target_from_ == "next" else inputs
        drive = np.asarray(field(self.P_, source))
        return drive / np.sqrt(np.sum(self.P_**2, axis=1)) if self.learned_drive_ else drive

    def _run_epochs(
        self, transitions: Transitions, epochs: list[Epoch], callback: ProgressCallback | None
    ) -> None:
        """Run epochs, in whole numbers, and set the result."""
        inputs, targets = transitions.inputs, transitions.targets
        settings = self._settings()
        b = settings.bias
        from_bias = self.hidden_bias_ / b if b else self.hidden_bias_
        V = np.rint(self.V_ / self.visible_unit_).astype(np.int64)
        n, M = len(inputs), len(self.U_)
        obeys = self._obeyed()
        state = SparseState(
            U=np.rint(np.column_stack([self.U_, from_bias]) / self.hidden_unit_).astype(np.int64),
            V=V,
            Q=np.ascontiguousarray(V.T),
            P=np.rint(np.clip(self.P_, -1, 1) * PROTOTYPE).astype(np.int64)
            if self.learned_drive_
            else np.zeros((M, 0), dtype=np.int64),
            theta=self.theta_,
            targets=np.zeros((n, M), dtype=np.int8),
            wrong=np.zeros(n),
            redrawn=np.zeros(n, dtype=np.bool_),
            raised=np.zeros(M, dtype=np.int64),
            obeys=obeys,
        )
        drive = (
            np.zeros((n, 0))
            if self.learned_drive_
            else self._raw_drive(inputs, targets) / self.drive_scale_
        )
        errors, self.converged_ = learn_sparse(
            inputs,
            targets,
            drive,
            state,
            settings,
            epochs,
            rng=self.rng_,
            compiled=self.engine == "exact" and has_kernels(),
            callback=callback,
        )
        self.U_ = state.U[:, :-1] * self.hidden_unit_
        self.hidden_bias_ = state.U[:, -1] * (self.hidden_unit_ * b)
        self.V_ = state.V * self.visible_unit_
        if self.learned_drive_:
            self.P_ = state.P / PROTOTYPE
        self.hidden_errors_ = np.append(self.hidden_errors_, errors[:, 0])
        self.visible_errors_ = np.append(self.visible_errors_, errors[:, 1])
        self.n_iter_ += len(errors)

    def _obeyed(self) -> Obeyed | None:
        """Return what constraints say, in units of weights; the present ones are brought there."""
        own = own_learning(self)
        if own is None:
            return None
        (M, n_in), N, made = self.U_.shape, self.n_features_in_, []
        for which, shape, size, cells in (
            (0, (M, n_in), self.kappa / (math.sqrt(n_in) * self.hidden_unit_), N),
            (1, (N, M), self.kappa / (math.sqrt(self.n_winners_) * self.visible_unit_), M),
        ):
            rng = np.random.default_rng([*own.seed, which])
            made.append(Synapses.obeying(own.constraints, shape, size, cells, rng, grid=1.0))
            if which == 0:
                U = made[0].possible(self.U_ / self.hidden_unit_, slice(None), rng)
                self.U_ = U * self.hidden_unit_
        V = replace(made[1], low=made[1].low.T.copy(), high=made[1].high.T.copy())
        return Obeyed(made[0], V, own.seed, own.epoch)

    def _settings(self) -> SparseSettings:
        """The rule in whole numbers."""
        return SparseSettings(
            n_winners=self.n_winners_,
            winners=self.code == "winners",
            bias=self.bias_,
            margin=max(1, round(self.kappa / self.hidden_unit_)),
            active_margin=max(1, round(self.kappa_active_ / self.hidden_unit_)),
            active_weight=int(self.active_weight_),
            visible_margin=max(1, round(self.kappa / self.visible_unit_)),
            learn_drive=bool(self.learned_drive_),
            learned_feedback=float(self.learned_feedback_) * self.visible_unit_,
            redraw=float(self.redraw),
        )

    def check_parameters(self) -> None:
        """Raise an error if parameters make no sense."""
        check_size(self)
        most = LADDER[-1] if is_auto(self.n_hidden) else int(self.n_hidden)
        if not is_auto(self.n_winners) and check_count(self.n_winners, "n_winners") > most:
            which = "which is chosen up to" if is_auto(self.n_hidden) else "which is"
            raise ValueError(
                f"n_winners must be at most n_hidden, {which} {most}, but it is {self.n_winners}."
            )
        check_choice(self.code, "code", ("winners", "thresholds"))
        check_choice(self.target_from, "target_from", ("current", "next", "auto"))
        check_choice(self.engine, "engine", ("exact", "reference"))
        check_own_learning(self)
        for name in ("bias", "noise"):
            if not is_auto(getattr(self, name)):
                check_count(getattr(self, name), name, 0, _LARGEST_BIAS)
        check_positive(self.kappa, "kappa")
        if not is_auto(self.active_weight):
            check_count(self.active_weight, "active_weight", 1, _LARGEST_BIAS)
        for name in ("kappa_active", "eta_hidden", "eta_visible"):
            if not is_auto(getattr(self, name)):
                check_positive(getattr(self, name), name)
        for name in ("clean_first", "decay", "learned_drive"):
            if not is_auto(getattr(self, name)) and not isinstance(
                getattr(self, name), (bool, np.bool_)
            ):
                raise TypeError(
                    f"{name} must be True, False or 'auto', but it is {say(getattr(self, name))}."
                )
        if self.learned_drive is True and self.target_from == "next":
            raise ValueError(
                "learned_drive is for a P that reads x(t), not x(t+1): leave target_from at 'auto' "
                "or 'current'."
            )
        for name in ("learned_feedback", "homeostasis"):
            if not is_auto(getattr(self, name)):
                check_not_negative(getattr(self, name), name)
        check_not_negative(self.redraw, "redraw")
        if (
            not is_auto(self.redraw_tolerance)
            and not 0 <= check_number(self.redraw_tolerance, "redraw_tolerance") <= 1
        ):
            raise ValueError(
                f"redraw_tolerance is a fraction, 0 to 1, but it is {self.redraw_tolerance}."
            )

    def traits(self) -> Traits:
        """Return the traits: weights are learned online, from the activity at their two ends."""
        return Traits(
            weights=("U_", "hidden_bias_", "V_"), stores_patterns=False, online=True, local=True
        )


# What "auto" means: values from N, M, the number of transitions and the data.


def choose_defaults(
    net: SparseSequenceAttractor, inputs: Patterns, targets: Patterns, noise: int | Auto
) -> dict[str, Any]:
    """Return a value for every option of `net` that may be "auto", for transitions from `inputs` to
    `targets`.
    """
    n, n_in = inputs.shape
    distance = typical_distance(inputs)
    clean_first = distance < _NEAR * n_in if net.clean_first == "auto" else bool(net.clean_first)
    noise = _default_noise(n / net.n_hidden, n_in, distance) if noise == "auto" else int(noise)
    if noise > n_in:
        raise ValueError(
            f"noise must be at most {n_in}, the number of input units, but it is {noise}."
        )
    values: dict[str, Any] = {
        "bias": max(1, round(math.sqrt(n_in) / 2)),
        "noise": noise,
        "clean_first": clean_first,
        "redraw_tolerance": 0.6 * typical_distance(targets) / targets.shape[1],
    }
    if noise == 0:
        values |= _without_noise(net, n, n_in, distance)
    elif clean_first:
        values |= _for_pictures(net, n_in, targets.shape[1])
    else:
        values |= _for_noise(net, n, n_in, targets.shape[1], how_alike(inputs, distance))
    own = own_learning(net)
    if own is not None:
        values |= _under_constraints(net, own, values, n, targets.shape[1])
    for name in values:
        given = getattr(net, name)
        if name != "noise" and given != "auto":
            values[name] = given
    return values


def _for_noise(
    net: SparseSequenceAttractor, n: int, n_in: int, N: int, alike: float
) -> dict[str, Any]:
    """For patterns that lie far from each other: noise from the start, all of P and Q learned."""
    M, eta_visible = int(net.n_hidden), 10.0
    load = n / M
    return {
        "n_winners": min(_winners(net, 250), _winners_within_reach(load, n_in)),
        "target_from": "current",
        "kappa_active": net.kappa * (1 + 0.5 * _how_crowded(load)),
        "active_weight": 3 if load < 0.25 else 1,
        "eta_hidden": (0.6 - 0.2 * _how_crowded(load)) * min(max(load / 0.5, 0.25), 1.0) / n_in,
        "eta_visible": eta_visible,
        "decay": True,
        "learned_drive": net.target_from != "next",
        "learned_feedback": _weight_of_feedback(load, n_in, M, alike)
        / (eta_visible * math.sqrt(N)),
        "homeostasis": 0.3,
    }


def _for_pictures(net: SparseSequenceAttractor, n_in: int, N: int) -> dict[str, Any]:
    """For pictures: P random, since competition would give similar pictures the same neurons."""
    eta_visible = 2.0
    return {
        "n_winners": _winners(net, 250),
        "target_from": "current",
        "kappa_active": (1.2 if net.max_epochs == "auto" else 1.4)
        * net.kappa,  # without noise; with it
        "active_weight": 1,
        "eta_hidden": 1.0 / n_in,
        "eta_visible": eta_visible,
        "decay": True,
        "learned_drive": False,
        "learned_feedback": 8.0 / (eta_visible * N),  # Q x(t+1) of pictures grows with N
        "homeostasis": 2.0,
    }


def _without_noise(
    net: SparseSequenceAttractor, n: int, n_in: int, distance: float
) -> dict[str, Any]:
    """Without noise: constant rates, P random, no feedback; larger steps for similar frames."""
    return {
        "n_winners": _winners(net, 200),
        "target_from": "next" if n <= n_in and net.learned_drive is not True else "current",
        "kappa_active": 2.0 * net.kappa,
        "active_weight": 3,
        "eta_hidden": 0.1 / max(distance, 1.0) if distance < _NEAR * n_in else 0.2 / n_in,
        "eta_visible": 0.25,
        "decay": False,
        "learned_drive": False,
        "learned_feedback": 0.0,
        "homeostasis": 0.1,
    }


def _under_constraints(
    net: SparseSequenceAttractor, own: OwnLearning, values: dict[str, Any], n: int, N: int
) -> dict[str, Any]:
    """Choose so many winners that of all visible states about one is out of reach of their
    synapses, and steps of V that are within its bounds.
    """
    M, rng = int(net.n_hidden), np.random.default_rng([*own.seed, 1])
    V = Synapses.obeying(own.constraints, (N, M), 1.0, M, rng, STEP)
    share = min(float(np.mean(V.high > 0)), float(np.mean(V.low < 0)))
    if share == 0:
        raise ValueError(
            "under these constraints no synapse of V could be "
            f"{'positive' if V.high.max() <= 0 else 'negative'}, and since hidden neurons are 0 or "
            "1 some visible states could never be made; choose others."
        )
    reached = math.log(N * n) / -math.log1p(-share) if share < 1 else 0
    k = max(values["n_winners"], min(math.ceil(reached), M // 4))
    most = net.kappa * float(min(V.high.max(), -V.low.min())) / math.sqrt(k)
    eta = min(values["eta_visible"], most / 2)
    feedback = values["learned_feedback"] * values["eta_visible"] / eta
    return {"n_winners": k, "eta_visible": eta, "learned_feedback": feedback}


def _winners(net: SparseSequenceAttractor, share: int) -> int:
    """One hidden neuron in so many, but three at least."""
    M = int(net.n_hidden)
    return min(max(3, math.ceil(M / share)), M)


def _winners_within_reach(load: float, n_in: int) -> int:
    """Return how many winners leave a hidden neuron 0.04 N patterns, but three at least."""
    return max(3, math.floor(0.04 * n_in / load))


def _how_crowded(load: float) -> float:
    """Return 0 up to load 1.4, rising to 1 at 1.8, where neurons miss their patterns."""
    return min(max((load - 1.4) / 0.4, 0.0), 1.0)


def _weight_of_feedback(load: float, n_in: int, n_hidden: int, alike: float) -> float:
    """Return the weight of Q x(t+1) beside P x(t), for steps of V of 1 and one visible neuron."""
    # At a low load codes can suit V. At a high one U needs codes that suit it, unless it has many
    # inputs. Patterns that are alike, or more than 2M, need more feedback.
    with_room = min(max((1.55 - load) / 0.15, 0.0), 1.0)
    many = min(max(math.log2(n_in / 50), 0.0), 1.0)
    crowded: float = (
        0.21
        * min(max(5 * n_in / n_hidden, 1.0), 3.0) ** (0.8 * many)
        * min(max(alike / 1.1, 1.0), 2.0) ** 2
    )
    return (crowded + (0.6 - crowded) * with_room) * min(max(1.0, load / 1.9) ** 6, 10.0)


def _in_units(eta: float, decay: bool, fine: bool) -> tuple[float, int]:
    """Return a unit of weight, a power of two, finer for rates that decay and for synapses that
    fade, and the rate in it.
    """
    unit = 2.0 ** math.floor(math.log2(eta)) / (256 if decay else 16) / (2**12 if fine else 1)
    return unit, round(eta / unit)


def _default_noise(load: float, n_in: int, distance: float) -> int:
    """Return how many units to flip at most while learning, as measured for this load."""
    if distance < _NEAR * n_in:
        return round(_NEAR * n_in) if distance >= _NEAREST else 0
    share: float = min(0.4, 0.2 * max(1.0, (0.8 / load) ** (1 / 3)))
    if load > 1:
        share = max(min(share, 0.3 - 0.085 * load, 0.53 - 0.2 * load), 0.05)
    return round(min(share * n_in, distance))


def how_alike(patterns: Patterns, distance: float) -> float:
    """Return what the nearest pattern has in common: up to about 1 for independent ones."""
    n, n_in = patterns.shape
    mean = patterns.mean(axis=0)
    spread = math.sqrt(float(np.sum((1 - mean**2) ** 2)))
    largest = spread * math.sqrt(2 * math.log(max(n, 2)))  # of n overlaps that are nearly normal
    return (n_in - 2 * distance - float(mean @ mean)) / largest if largest > 0 else 1.0


def typical_distance(patterns: Patterns) -> float:
    """The median, over patterns, of the number of units in which the nearest different pattern
    differs.
    """
    different = patterns[np.unique(as_items(patterns), return_index=True)[1]].astype(np.float32)
    some = different[:: max(1, len(different) // _MOST_COMPARED)]
    products = some @ different.T
    n_in = patterns.shape[1]
    products[products >= n_in] = -n_in  # a pattern with itself
    return float(np.median((n_in - products.max(axis=1)) / 2))
