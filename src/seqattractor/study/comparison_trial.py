"""One trial of a comparison: sequences and cues that depend on the test alone, and one network that
learns and recalls them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from seqattractor._checks import check_count
from seqattractor._suggest import no_such
from seqattractor.datasets._moving_digits import moving_digits
from seqattractor.datasets._random import random_periodic
from seqattractor.datasets._walker import walker
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.registry import make_network, parameters_of
from seqattractor.networks.rehearsal import Rehearse
from seqattractor.noise import flip
from seqattractor.sequences import Patterns, split
from seqattractor.study.continual import learn_in_turn
from seqattractor.study.protocol import seed_of
from seqattractor.study.settings import OWN_AXIS, as_flips
from seqattractor.study.trial import Task, draw_sequences, judge, recall_task, seeded
from seqattractor.study.user_networks import EXPECTED, OwnData, describe_failure

_LOOP = (
    "the whole loop is seen in order and in any phase (section 6.2), within four times its length"
)
_OPEN = "recall locks on at its first step: every frame after the cue is right and in phase"
_SYMBOLS = {"n": "N", "m": "M", "t": "T", "flips": "flips"}
_AXES = {
    "n": ("Visible neurons", "visible neurons N"),
    "m": ("Hidden neurons", "hidden neurons M"),
    "t": ("Length of a random sequence", "period length T"),
    "flips": ("Corrupted cues", "flipped units of the cue"),
}
"""Title and words of an axis that is not the test's own."""
_EASIER = ("n", "m")  # of which more is easier
_LEARNS_ONCE = ("flips", "noise", "number")
_SHARES = (0, 5, 10, 15, 20, 25, 30, 35, 40)  # flipped units of the user's patterns, in percent


@dataclass(frozen=True)
class ComparisonTest:
    """A test along one axis: what it is called, and which values and numbers it takes."""

    name: str
    title: str
    axis: str
    """What differs, in words."""
    values: tuple[Any, ...]
    """Along the axis, easy ones first."""
    template: str
    """What stays the same, in words, with {T}, {N}, {number} and {flips} where these stand."""
    criterion: str = _LOOP
    """When a sequence counts as recalled."""
    n_hidden: int = 500
    trials: int = 20
    """By default."""
    several: bool = False
    """Whether trials have several sequences, so that a part of them can be recalled."""
    sizes: Mapping[str, Any] = field(default_factory=dict)
    """Which of n, t and flips can be chosen, and what they are while they do not vary."""
    n_units: int = 0
    """N, where it cannot be chosen."""
    varies: str = ""
    """The setting along the axis; by default the test's own."""
    m_asked: bool = False
    """Whether the user asked for a number of hidden neurons: then all networks that have some get
    it, tuned or not.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "varies", self.varies or OWN_AXIS[self.name])

    @property
    def learns_once(self) -> bool:
        """Whether only cues and noise differ between values, or what is learned on top, so that a
        network learns once for all of them in a trial.
        """
        return (OWN_AXIS[self.name] if self.varies == "m" else self.varies) in _LEARNS_ONCE

    @property
    def setting(self) -> str:
        """What stays the same, in words."""
        fixed = {name: value for name, value in self.sizes.items() if name != self.varies}
        flips, n = fixed.get("flips"), fixed.get("n")
        flipped = f"{flips or 'none'} of them"
        each = "each" if self.name in ("multi", "continual") else "the"
        return self.template.format(
            T=f"T = {fixed['t']} patterns of " if "t" in fixed else "",
            N="units" if n is None else f"N = {n} units",
            number=f"{fixed['number']} " if "number" in fixed else "",
            flips="" if flips is None else f", {flipped} flipped in {each} cue",
        )

    def parse(self, text: str) -> Any:
        """Read a value of the test's own axis from the command line."""
        example = TESTS[self.name].values[0] if self.name in TESTS else 0
        try:
            if isinstance(example, str):
                number, _, length = text.lower().partition("x")
                return f"{int(number)}x{int(length)}"
            return text if text.endswith("%") and self.varies == "flips" else type(example)(text)
        except ValueError:
            raise ValueError(
                f"a value of the protocol {self.name!r} looks like {example}, but this is {text!r}."
            ) from None

    def ask(
        self, *, n: Any = None, m: Any = None, t: Any = None, flips: Any = None, values: Any = None
    ) -> ComparisonTest:
        """Return the test with sizes of the user's: numbers or lists, of which one varies along the
        axis.
        """
        own = OWN_AXIS[self.name]
        given = {
            name: _several(value, name)
            for name, value in (("n", n), ("m", m), ("t", t), ("flips", flips))
            if value is not None
        }
        for name in given.keys() - self.sizes.keys() - {"m"}:
            raise ValueError(f"{_SYMBOLS[name]} cannot be chosen here: {self.why_not(name)}.")
        if values is not None:
            if own in given:
                raise ValueError(
                    f"values are those of the {self.axis} here; give them as values or as {own}, "
                    "not as both."
                )
            given[own] = _several(values, "values")
        varying = [name for name, each in given.items() if len(each) > 1]
        if len(varying) > 1:
            lists = " and ".join(_SYMBOLS.get(name, "values") for name in varying)
            raise ValueError(
                f"one setting varies along the axis, but {lists} are lists; give one value to all "
                "but one of them."
            )
        axis = varying[0] if varying else own
        sizes = dict(self.sizes) | {
            name: each[0] for name, each in given.items() if name != "m" and name != axis and each
        }
        if axis != own and own not in sizes:
            raise ValueError(
                f"where {_SYMBOLS[axis]} varies, the {self.axis} must be one value; give it as "
                "values."
            )
        along = given.get(axis, list(self.values))
        if axis != "n" and "flips" in sizes:  # with an N that varies, a percentage stays one
            sizes["flips"] = as_flips(sizes["flips"], sizes.get("n", self.n_units))
        if axis == "flips":
            along = [as_flips(value, sizes.get("n", self.n_units)) for value in along]
        title, words = (self.title, self.axis) if axis == own else _AXES[axis]
        if axis != own and self.name not in ("random", "noise"):
            title = f"{self.title}, {words}"
        hidden = given["m"][0] if len(given.get("m", ())) == 1 else self.n_hidden
        ordered = tuple(dict.fromkeys(_easy_first(axis, along)))
        asked = self.m_asked or "m" in given
        return replace(
            self,
            title=title,
            axis=words,
            values=ordered,
            sizes=sizes,
            varies=axis,
            n_hidden=hidden,
            m_asked=asked,
        )

    def why_not(self, name: str) -> str:
        """Explain why a size cannot be chosen."""
        if self.name == "data":
            return "it is that of your data"
        return (
            "it stands in the values"
            if (self.name, name) == ("multi", "t")
            else f"the protocol {self.name} has its own"
        )


def _several(value: Any, name: str) -> list[Any]:
    """One value or several, as a list of plain ones."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        value = [value]
    plain = [each.item() if isinstance(each, np.generic) else each for each in value]
    if name == "values":
        return plain
    if not plain:
        raise ValueError(f"{name} is an empty list; give at least one number.")
    least = 0 if name == "flips" else 1
    return [
        each if name == "flips" and isinstance(each, str) else check_count(each, name, least)
        for each in plain
    ]


def _easy_first(axis: str, values: Sequence[Any]) -> Sequence[Any]:
    """Put values in order of difficulty; those that are not numbers stay in the user's order."""
    if any(isinstance(value, str) or not isinstance(value, (int, float)) for value in values):
        return values
    return sorted(values, reverse=axis in _EASIER)


_SIZES = {"n": 100, "t": 40, "flips": 10}
TESTS: dict[str, ComparisonTest] = {
    test.name: test
    for test in (
        ComparisonTest(
            "random",
            "Length of a random sequence",
            "period length T",
            (10, 20, 30, 40, 50, 60, 70, 80, 100, 150, 200, 300),
            "one random periodic sequence of {T}{N}{flips} (section 6.2 of the paper)",
            sizes=_SIZES,
        ),
        ComparisonTest(
            "noise",
            "Corrupted cues",
            "flipped units of the cue",
            (0, 5, 10, 15, 20, 25, 30, 35, 40),
            "one random periodic sequence of {T}{N}{flips}",
            sizes=_SIZES,
        ),
        ComparisonTest(
            "recall-noise",
            "Noise during recall",
            "flipped units before every step",
            (0, 1, 2, 4, 6, 8, 10, 15, 20),
            "one random periodic sequence of {T}{N}{flips}",
            sizes=_SIZES,
        ),
        ComparisonTest(
            "correlated",
            "Correlated patterns",
            "correlation of successive patterns",
            (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9),
            "one periodic sequence of {T}{N}{flips}",
            sizes=_SIZES,
        ),
        ComparisonTest(
            "multi",
            "Many sequences in one network",
            "number x length of the sequences",
            ("2x10", "5x5", "5x10", "10x5", "2x50", "5x20", "10x10", "20x5", "10x20", "20x10"),
            "periodic random sequences of {N}{flips}; all must be recalled",
            several=True,
            sizes={"n": 100, "flips": 10},
        ),
        ComparisonTest(
            "context",
            "Repeated patterns",
            "patterns that occur twice",
            (0, 1, 2, 4, 8),
            "one loop of 30 random patterns of {N}{flips}; each repeated pattern has another "
            "successor the second time, which the pattern before it tells. Networks with delay "
            "lines get as many past patterns as that needs (order='auto') and a cue of as many; "
            "all others learn with on_conflict='learn'",
            sizes={"n": 100, "flips": 10},
        ),
        ComparisonTest(
            "digits",
            "Moving digits",
            "flipped pixels of the cue",
            (0, 100, 300, 600, 1000),
            "20 sequences of 20 frames of 64 x 64 pixels{flips}",
            _OPEN,
            n_hidden=1000,
            trials=3,
            several=True,
            sizes={"flips": 300},
            n_units=64 * 64,
        ),
        ComparisonTest(
            "walker",
            "A walking figure",
            "flipped pixels of the cue",
            (0, 50, 100, 230, 350, 450),
            "one loop of 103 silhouettes of 43 x 30 pixels{flips}",
            n_hidden=200,
            trials=3,
            sizes={"flips": 100},
            n_units=43 * 30,
        ),
        ComparisonTest(
            "continual",
            "Sequences one after another",
            "sequences learned",
            (1, 2, 3, 4, 5, 6),
            "{number}random loops of {T}{N}{flips}, learned one after another, each with what the "
            "network rehearses of those before; all so far must be recalled",
            trials=3,
            several=True,
            sizes={"t": 21, "n": 100, "flips": 10, "number": 5},
        ),
    )
}


def get_test(name: str) -> ComparisonTest:
    """Return a test by its name."""
    if not isinstance(name, str) or name not in TESTS:
        raise ValueError(no_such("protocol", name, TESTS))
    return TESTS[name]


def own_data_test(data: Any, *, name: str) -> ComparisonTest:
    """Return the test on a user's `Sequences`: the same in every trial, recalled from cues with
    more and more flips.
    """
    few, most, number, (_, n) = (
        int(data.lengths.min()),
        int(data.lengths.max()),
        len(data.lengths),
        data.shape,
    )
    closed = all(data.loops)
    lengths = f"{most}" if few == most else f"{few} to {most}"
    what = ("loop" if closed else "sequence") + ("s" if number > 1 else "")
    stored = f"{'one' if number == 1 else number} {what} of {lengths} patterns of N = {n} units"
    return ComparisonTest(
        "data",
        name,
        "flipped units of the cue",
        tuple(dict.fromkeys(as_flips(f"{share}%", n) for share in _SHARES)),
        f"{stored}{{flips}}; the same in every trial",
        _LOOP if closed else _OPEN,
        trials=10,
        several=number > 1,
        sizes={"flips": as_flips("10%", n)},
        n_units=n,
    )


Outcome = dict[str, Any]
"""What one network did in one trial at one value, or {"error": a sentence} if it could not take
part.

``success`` (all sequences recalled), ``recalled`` (how many of them), ``in_phase`` (how many in
phase with the cue; None for a network that dwells), ``sequences``, ``one_step_error`` (fraction of
wrong units one step after a stored pattern), ``epochs`` until one had no error (0 if nothing is
learned, None if there was none), ``parameters``, ``order`` (how many patterns it sees), and the
times ``learn_seconds`` and ``recall_seconds``. Of sequences one after another also ``stored``, how
many have every transition right, ``first``, the fraction of transitions of the first that are, and
``bits_saved`` beside the weights.
"""


def run_comparison_trial(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Do one trial of a test with one network.

    The settings are ``test`` (a key of `TASKS`), ``value`` along its axis, or ``values`` for all of
    which the network learns once, ``axis`` if that is not the test's own, ``sizes`` that are not
    those of the test, ``data`` (the user's, for the test of that name), ``network`` (a short name
    or a network that is not fitted), ``parameters`` of it and what it is to ``rehearse``. The seed
    is that of `place_of`, the same for all networks; sequences, network and cues have streams of
    their own. Gives ``outcomes``, an `Outcome` for each value, and their ``seconds``.
    """
    prototype = make_prototype(
        settings["network"], settings.get("parameters", {}), test=settings["test"]
    )
    if "value" in settings:
        of_data, of_network, of_cue = seed.spawn(3)
        task = make_task(settings, settings["value"], np.random.default_rng(of_data))
        tasks = [(task, of_cue)]
    else:
        of_data, of_network = seed.spawn(2)
        assert isinstance(seed.entropy, int)  # as `seed_of` made it
        number = int(seed.spawn_key[-1])
        cues = [
            seed_of(seed.entropy, place_of(settings | {"value": value}), number)
            for value in settings["values"]
        ]
        each = [
            make_task(settings, value, np.random.default_rng(of_data))
            for value in settings["values"]
        ]
        tasks = list(zip(each, cues, strict=True))
    net = seeded(prototype, int(of_network.generate_state(1)[0]))
    if settings["test"] == "continual":
        outcomes = _take_turns(net, tasks, settings.get("rehearse"))
    else:
        outcomes = _take_part(net, tasks)
    seconds = [
        {key: each.pop(key) for key in list(each) if key.endswith("_seconds")} for each in outcomes
    ]
    return {"outcomes": outcomes, "seconds": seconds}


def place_of(settings: dict[str, Any]) -> list[Any]:
    """What the seeds of a comparison depend on: the test with its sizes, data and value, so that
    all networks get the same.

    Parameters of networks are none of it: networks of all sizes get the same, too.
    """
    data = settings.get("data")
    asked = [settings[key] for key in ("axis", "sizes") if key in settings]
    digest = [] if data is None else [data.description["digest"]]
    return [
        "compare",
        settings["test"],
        *asked,
        *digest,
        *([settings["value"]] if "value" in settings else []),
    ]


def make_task(settings: dict[str, Any], value: Any, rng: np.random.Generator) -> Task:
    """Make the sequences of a trial at a value of its axis; the settings are those of
    `run_comparison_trial`.
    """
    axis = settings.get("axis", OWN_AXIS[settings["test"]])
    of_user = {"data": settings["data"]} if "data" in settings else {}
    return TASKS[settings["test"]](rng, **settings.get("sizes", {}), **of_user, **{axis: value})


def make_prototype(
    network: str | SequenceMemory,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    *,
    test: str | None = None,
) -> SequenceMemory:
    """Make the network of a short name, with parameters and with what the test gives (`GIVEN`), if
    it has that.

    One of the user's stays as it is, but for the parameters.
    """
    if isinstance(network, SequenceMemory):
        changed: SequenceMemory = clone(network).set_params(**parameters) if parameters else network
        return changed
    known = parameters_of(network)
    given = next((each for each in GIVEN.get(test, ()) if each.keys() <= known.keys()), {})
    return make_network(network, **parameters, **given)


def draw_cues(task: Task, order: int, rng: np.random.Generator) -> Patterns:
    """Corrupted beginnings of all sequences, (S, order, N); networks of any order get the same
    first patterns.
    """
    sequences = list(split(task.X, task.lengths))
    return np.stack(
        [flip(np.stack([x[t] for x in sequences]), task.flips, rng) for t in range(order)], axis=1
    )


# -- learning and recalling
# -------------------------------------------------------------------------------------

_REHEARSED = 10  # patterns


def rehearse(prototype: SequenceMemory, n_units: int) -> None:
    """Let a network of the user's learn and recall a few random patterns, and raise a ValueError
    that names the mistake.
    """
    task = _loop(
        np.random.default_rng(0), t=min(_REHEARSED, 2 ** min(n_units, 9)), n=n_units, flips=0
    )
    try:
        net = seeded(prototype, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            net.fit(task.X, task.lengths)
        if not hasattr(net, "n_features_in_") or not hasattr(net, "order_"):
            raise ValueError(
                f"{type(net).__name__}.fit does not settle the sizes; let it begin with "
                "self.transitions(X, lengths), or write fit_transitions instead of it."
            )
        _of_learning(net, task)
        recall_task(
            net,
            task,
            draw_cues(task, net.order_, np.random.default_rng(0)),
            np.random.default_rng(0),
        )
    except Exception as error:
        raise ValueError(describe_failure(error, prototype)) from error


def _take_part(
    net: SequenceMemory, tasks: list[tuple[Task, np.random.SeedSequence]]
) -> list[Outcome]:
    """Let a network learn the sequences of the first task once, and recall from the cues of each;
    errors are results, too.
    """
    first = tasks[0][0]
    try:
        started = time.perf_counter()
        net.fit(first.X, first.lengths)
        learned = time.perf_counter()
        of_learning = _of_learning(net, first) | {"learn_seconds": learned - started}
    except EXPECTED as error:
        return [{"error": describe_failure(error, net)} for _ in tasks]
    return [_recall(net, task, of_cue) | of_learning for task, of_cue in tasks]


def _take_turns(
    net: SequenceMemory, tasks: list[tuple[Task, np.random.SeedSequence]], rehearse: Rehearse | None
) -> list[Outcome]:
    """Let a network learn the sequences of each task one by one, on top of those of the task
    before, and recall all from the cues of each.
    """
    last = tasks[-1][0]
    in_turn = learn_in_turn(net, split(last.X, last.lengths), rehearse)
    outcomes, saved, seconds = list[Outcome](), list[int](), 0.0
    for task, of_cue in tasks:
        try:
            started = time.perf_counter()
            saved += islice(in_turn, len(task.lengths) - len(saved))
            seconds += time.perf_counter() - started
            scores = [net.score(x) for x in split(task.X, task.lengths)]
            of_learning = _of_learning(net, task) | {
                "epochs": int(getattr(net, "n_iter_", 0)) if min(scores) == 1 else None,
                "learn_seconds": seconds,
                "stored": sum(score == 1 for score in scores),
                "first": float(scores[0]),
                "bits_saved": saved[-1],
            }
        except EXPECTED as error:
            failure = {"error": describe_failure(error, net)}
            return outcomes + [failure] * (len(tasks) - len(outcomes))
        outcomes.append(_recall(net, task, of_cue) | of_learning)
    return outcomes


def _of_learning(net: SequenceMemory, task: Task) -> Outcome:
    """The part of the outcome that learning decides."""
    return {
        "one_step_error": float(net.wrong_units(task.X, task.lengths).mean()),
        "epochs": _epochs(net),
        "parameters": net.n_parameters(),
        "order": net.order_,
    }


def _recall(net: SequenceMemory, task: Task, of_cue: np.random.SeedSequence) -> Outcome:
    """Let a network that has learned recall all sequences from their cues."""
    rng = np.random.default_rng(of_cue)
    try:
        cues = draw_cues(task, net.order_, rng)
        started = time.perf_counter()
        paths = recall_task(net, task, cues, rng)
        seconds = time.perf_counter() - started
    except EXPECTED as error:
        return {"error": describe_failure(error, net)}
    times = judge(paths, task, net)
    recalled = sum(tau is not None for tau in times)
    in_phase = sum(
        tau is not None and tau % _period(x) == 0
        for tau, x in zip(times, split(task.X, task.lengths), strict=True)
    )
    return {
        "success": recalled == len(times),
        "recalled": recalled,
        "in_phase": None if net.traits().dwells else in_phase,
        "sequences": len(times),
        "recall_seconds": seconds,
    }


def _period(x: Patterns) -> int:
    """After how many patterns a sequence begins again; its length if it does not."""
    return next(p for p in range(1, len(x) + 1) if np.array_equal(x[p:], x[: len(x) - p]))


def _epochs(net: SequenceMemory) -> int | None:
    """Epochs until one had no error; 0 if nothing is learned, None if none was free of errors."""
    errors = getattr(net, "visible_errors_", None)
    if errors is None:
        return int(getattr(net, "n_iter_", 0))
    total = np.asarray(errors) + np.asarray(getattr(net, "hidden_errors_", 0))
    free = np.flatnonzero(total == 0)
    return int(free[0]) + 1 if free.size else None


# -- sequences and cues
# -----------------------------------------------------------------------------------------


def _loop(
    rng: np.random.Generator,
    *,
    t: int = 40,
    n: int = 100,
    flips: int | str = 10,
    noise: int = 0,
    correlation: float = 0.0,
) -> Task:
    """One random loop of T patterns, with the last one, which is the first again."""
    X = random_periodic(t, n, correlation=correlation, rng=rng).patterns
    return Task(X, np.array([t]), as_flips(flips, n), noise)


def _multi(rng: np.random.Generator, *, size: str, n: int = 100, flips: int | str = 10) -> Task:
    """Several random loops in one network."""
    number, length = map(int, size.split("x"))
    return Task(*draw_sequences(number, length, n, rng=rng), flips=as_flips(flips, n))


def _in_turn(
    rng: np.random.Generator, *, number: int, t: int = 21, n: int = 100, flips: int | str = 10
) -> Task:
    """Random loops that come one after another; the first ones are the same for any number."""
    number = check_count(number, "the number of sequences")
    loops = [random_periodic(t, n, rng=rng).patterns for _ in range(number)]
    return Task(np.concatenate(loops), np.full(number, t), flips=as_flips(flips, n))


def _context(
    rng: np.random.Generator, *, repeated: int, n: int = 100, flips: int | str = 10
) -> Task:
    """One random loop in which some patterns occur twice, each time with another successor and
    another predecessor.

    The first pattern, which is the cue of networks that see one pattern, occurs once. The loop ends
    with its first two patterns, so that networks that see two learn how it continues.
    """
    period = 30
    X = random_periodic(period + 1, n, rng=rng).patterns[:-1].copy()
    if not 0 <= repeated <= period // 3:
        raise ValueError(
            f"0 to {period // 3} of {period} patterns can occur twice, but {repeated} are to."
        )
    partner: dict[int, int] = {}
    while len(partner) < 2 * repeated:
        a, b = map(int, rng.choice(np.arange(1, period), 2, replace=False))
        separate = 1 < abs(a - b) < period - 1
        # Where the neighbours of the two were a pair as well, neither successor nor predecessor
        # would distinguish them.
        alone = partner.get(a - 1) != b - 1 and partner.get(a + 1) != b + 1
        if separate and alone and not {a, b} & partner.keys():
            partner |= {a: b, b: a}
            X[b] = X[a]
    return Task(np.concatenate([X, X[:2]]), np.array([period + 2]), flips=as_flips(flips, n))


def _digits(rng: np.random.Generator, *, flips: int) -> Task:
    """The paper's twenty sequences of moving digits, drawn anew for each trial."""
    X = moving_digits(20, 20, rng=rng)
    return Task(X.patterns, X.lengths, flips=flips, closed=False)


def _walker(rng: np.random.Generator, *, flips: int) -> Task:
    """The walking figure, every third pixel of every third row: a network without hidden neurons
    has N^2 weights.
    """
    frames = walker().frames[:, ::3, ::3]
    X = np.ascontiguousarray(frames.reshape(len(frames), -1))
    return Task(X, np.array([len(X)]), flips=flips)


def _data(rng: np.random.Generator, *, data: OwnData, flips: int) -> Task:
    """The user's own sequences, the same in every trial: chance decides only on the network and the
    cues.
    """
    return Task(data.patterns, data.lengths, flips=flips, closed=data.closed)


TASKS: Mapping[str, Callable[..., Task]] = {
    **dict.fromkeys(("random", "noise", "recall-noise", "correlated"), _loop),
    "multi": _multi,
    "context": _context,
    "digits": _digits,
    "walker": _walker,
    "continual": _in_turn,
    "data": _data,
}
"""By the name of the test: what makes its sequences, from a generator, the value of its axis and
sizes.
"""

_LOOKS_BACK = ({"order": "auto"}, {"on_conflict": "learn"})
GIVEN: Mapping[str | None, tuple[dict[str, Any], ...]] = {
    "context": _LOOKS_BACK,
    "data": _LOOKS_BACK,
}
"""By the name of the test: parameters for networks under short names; each gets the first ones that
it has.
"""
