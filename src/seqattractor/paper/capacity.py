"""Beyond the paper: how much the sparse rule stores, and why, beside the paper's rule and memories that keep the patterns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from seqattractor.analysis._certificate import certify
from seqattractor.analysis._gardner import gardner_capacity
from seqattractor.analysis._lost_starts import ENDS, FIRST_STEPS, lost_starts
from seqattractor.analysis._robustness import robustness_curve
from seqattractor.datasets._moving_digits import moving_digits
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.one_hot import OneHotNetwork
from seqattractor.networks.sparse import SparseSequenceAttractor
from seqattractor.noise import flip
from seqattractor.paper.settings import LEARNING
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target, count_successes, flat_interval
from seqattractor.report.page import Table, Verdict
from seqattractor.sequences import Patterns
from seqattractor.study.capacity import Capacity, Search
from seqattractor.study.executors import do_trial
from seqattractor.study.laws import Law, fit_law
from seqattractor.study.trial import Task, draw_sequences, judge, recall_task, retrieve_with
from seqattractor.zoo.dense import DenseSequenceMemory

STEPS = 300
"""First steps at each number of flips that a curve of robustness is measured with."""
LONGEST = 10_000
"""The longest sequence that a search may try."""
TUNED = "paper, tuned"
"""The paper's rule with the margin that tuning chose for comparisons (docs/rivals.rst)."""
TUNED_KAPPA = 10.0

NETWORKS: dict[str, Callable[[int, np.random.Generator], SequenceMemory]] = {
    "sparse": lambda M, rng: SparseSequenceAttractor(M, random_state=rng),
    "convergent": lambda M, rng: SparseSequenceAttractor(M, noise=0, random_state=rng),
    "paper": lambda M, rng: SequenceAttractor(M, random_state=rng, n_jobs=1, **LEARNING),
    TUNED: lambda M, rng: SequenceAttractor(M, random_state=rng, n_jobs=1, **LEARNING | {"kappa": TUNED_KAPPA}),
    "dense": lambda M, rng: DenseSequenceMemory(interaction="exponential"),
}
"""How each is made."""
ONE_HOT = "one-hot"
"""One threshold neuron for each transition, told how many flips to bear: M says nothing to it."""
NOISY = "paper, noisy"
"""The paper's rule, which sees every input with as many flips as the cue will have."""

ABLATIONS: dict[str, dict[str, Any]] = {
    "everything": {},
    "no bias": {"bias": 0},
    "no noise while learning": {"noise": 0},
    "constant learning rates": {"decay": False},
    "no homeostasis": {"homeostasis": 0.0},
    "no redraw": {"redraw": 0.0},
    "no learned feedback": {"learned_feedback": 0.0},
    "P random and fixed, from x(t)": {"learned_drive": False},
    "P random and fixed, no learned feedback": {"learned_drive": False, "learned_feedback": 0.0},
    "P random and fixed, from x(t+1), no learned feedback": {"target_from": "next", "learned_feedback": 0.0},
    "thresholds instead of winners": {"code": "thresholds"},
    "larger steps of active neurons": {"active_weight": 3},
    "2 winners": {"n_winners": 2},
    "5 winners": {"n_winners": 5},
    "10 winners": {"n_winners": 10},
}
"""Parameters of the sparse network with which a part of its rule is switched off or changed."""


def store_sequences(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Do a trial of one part of the target.

    Settings are part and, for "length", "flips" and "ablation": network (a key of `NETWORKS`) or options (of `ABLATIONS`), N,
    M, T and flips; for the others what the functions below name.
    """
    rng = np.random.default_rng(seed)  # one stream for sequence, network and cue
    if settings["part"] == "digits":
        return _store_digits(settings, rng)
    if settings["part"] == "inside":
        return _look_inside(settings, rng)
    if settings["part"] == "scaling":
        return _search_capacity(settings, int(rng.integers(2**31)))
    learn: Callable[[SequenceMemory, Patterns], Any] | None = None
    if settings["part"] == "ablation":
        net: SequenceMemory = SparseSequenceAttractor(settings["M"], random_state=rng, **ABLATIONS[settings["options"]])
    elif settings["network"] == ONE_HOT:
        net = OneHotNetwork(tolerance=settings["flips"])
    elif settings["network"] == NOISY:
        net = NETWORKS["paper"](settings["M"], rng)
        learn = partial(learn_from_noise, flips=settings["flips"], epochs=LEARNING["max_epochs"], rng=rng)
    else:
        net = NETWORKS[settings["network"]](settings["M"], rng)
    sizes = {"n": settings["N"], "t": settings["T"], "flips": settings["flips"], "measure_basin": True}
    outcome = retrieve_with(net, sizes, rng, rng, learn=learn)
    return {key: outcome[key] for key in ("success", "basin", "score")}


def learn_from_noise(net: Any, X: Patterns, *, flips: int, epochs: int, rng: np.random.Generator) -> None:
    """Present all transitions of a sequence in every epoch, with other units of each input flipped every time.

    The rule is the paper's, eqs. (4)-(9), with the flipped x(t) in place of x(t); x(t+1), and with it the targets, stay clean.

    Parameters
    ----------
    net : SequenceMemory
        One that has `partial_fit`.
    X : ndarray of int8, shape (T, N)
    flips : int
        Of each input.
    epochs : int
    rng : Generator

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 40, rng=0).patterns
    >>> net = sa.SequenceAttractor(n_hidden=80, random_state=0)
    >>> learn_from_noise(net, X, flips=4, epochs=50, rng=np.random.default_rng(0))
    >>> net.score(X), net.n_iter_
    (1.0, 50)
    """
    for _ in range(epochs):
        pairs = np.stack([flip(X[:-1], flips, rng), X[1:]], axis=1)  # each transition is a sequence of its own
        net.partial_fit(pairs.reshape(-1, X.shape[1]), np.full(len(pairs), 2))


def _store_digits(settings: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Store some sequences of T frames of moving digits; in how many are all frames recalled without a wrong pixel?"""
    one_hot = settings["network"] == ONE_HOT
    net = OneHotNetwork(tolerance=settings["flips"]) if one_hot else NETWORKS[settings["network"]](settings["M"], rng)
    X = moving_digits(settings["stored"], length=settings["T"], rng=rng)
    task = Task(X.patterns, X.lengths, settings["flips"], closed=False)
    net.fit(X)
    cues = flip(np.stack([x[0] for x in X.split()]), task.flips, rng=rng)
    return {"recalled": sum(time is not None for time in judge(recall_task(net, task, cues[:, None], rng), task, net))}


def _look_inside(settings: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Look into a network that stores a sequence: hidden codes, starts that are lost, what is proven and what is measured.

    Settings are network, N, M, T, flips (of the starts) and up_to: the numbers of flips of the curve of robustness.
    """
    X, _ = draw_sequences(1, settings["T"], settings["N"], rng=rng)
    net: Any = NETWORKS[settings["network"]](settings["M"], rng)
    net.fit(X)
    starts = lost_starts(net, X, flips=settings["flips"], rng=rng)
    proven = certify(net, X, method="count", attack=False).radius
    curve = robustness_curve(net, X, flips=settings["up_to"], trials=STEPS, rng=rng)
    return {
        "active": float(np.mean(net.hidden(X[:-1]) > 0)),
        "counts": starts.counts.tolist(),
        "made": float(np.mean(proven >= 0)),
        "radius": float(np.mean(np.maximum(proven, 0))),
        "least_radius": int(max(proven.min(), 0)),
        "right": curve.successes.tolist(),
    }


def _search_capacity(settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """Search for the longest sequence with 95 % success; gives successes and trials at each length that was tried.

    Settings are network (a short name of the package), N, M (None for a memory without hidden neurons to choose), flips and most:
    the number of trials.
    """
    sizes = {"network": settings["network"], "n": settings["N"], "flips": settings["flips"]}
    search = Search(
        sizes if settings["M"] is None else sizes | {"m": settings["M"]}, seed=seed, max_trials=settings["most"], t_max=LONGEST
    )
    while not search.over:
        for trial in search.next_trials():
            search.tell(do_trial(trial))
    return {"tried": [[T, right, n] for T, (right, n) in search.result().tried.items()]}


COVER = 2.0
"""Random patterns for each input of a perceptron, half of them active (Cover 1965)."""


def bits_per_weight(T: int, N: int, M: int) -> float:
    """Bits of a sequence of T random patterns (the last is the first) for each of the 2MN + M weights of a sparse network.

    Examples
    --------
    >>> round(bits_per_weight(1001, N=100, M=500), 3)
    0.995
    """
    return (T - 1) * N / (2 * M * N + M)


def loads(result: Result) -> list[Row]:
    """Give, for each length that was looked into: bits for each weight, and the loads of V and U beside their limits.

    V has M inputs and as many patterns as there are transitions, half of them +1. U has N inputs, and a fraction `active` of the
    transitions should make a neuron active.
    """
    rows = []
    for row in result.rows(part="inside"):
        N, M, T = row["N"], row["M"], row["T"]
        tried = result.rows(part="length", network=row["network"], T=T)
        rows.append(
            {
                "T": T,
                "success": f"{tried[0]['successes']}/{tried[0]['trials']}" if tried else "-",
                "rate": tried[0]["successes"] / tried[0]["trials"] if tried else None,
                "bits": bits_per_weight(T, N, M),
                "visible_load": (T - 1) / M,
                "active": row["active"],
                "hidden_load": (T - 1) / N,
                "gardner": gardner_capacity(min(max(row["active"], 1e-9), 1 - 1e-9)),
            }
        )
    return rows


def pooled_capacity(size: Row, searches: Sequence[Sequence[Sequence[int]]]) -> Row:
    """Put the trials of several searches together: the longest sequence with 95 % success, its interval, and what was tried.

    Examples
    --------
    >>> row = pooled_capacity({"network": "hebbian", "N": 50, "M": None, "flips": 5}, [[[5, 8, 8]], [[5, 7, 8], [20, 0, 8]]])
    >>> row["tried"], 5 <= row["t95_high"] < 20
    ([[5, 15, 16], [20, 0, 8]], True)
    """
    right: Counter[int] = Counter()
    trials: Counter[int] = Counter()
    for T, successes, n in (each for search in searches for each in search):
        right[T] += successes
        trials[T] += n
    tried = [[T, right[T], trials[T]] for T in sorted(trials)]
    found = _capacity(size, tried)
    return {"t95": found.t, "t95_low": found.low, "t95_high": found.high, "at_least": found.at_least, "tried": tried}


def _capacity(size: Row, tried: Sequence[Sequence[int]]) -> Capacity:
    """What trials tell about a capacity."""
    settings: dict[str, Any] = {"network": size["network"], "n": size["N"], "flips": size["flips"]}
    search = Search(settings if size["M"] is None else settings | {"m": size["M"]}, t_max=LONGEST)
    search.curve.learn(*zip(*tried, strict=True))
    for T, right, n in tried:
        search.tried[T] += n
        search.right[T] += right
    return search.result()


def scaling_laws(result: Result) -> dict[str, Law | None]:
    """Give the law of each network's capacity, or None where too few are known."""
    networks = dict.fromkeys(row["network"] for row in result.rows(part="scaling"))
    found = {name: [_capacity(row, row["tried"]) for row in result.rows(part="scaling", network=name)] for name in networks}
    return {name: fit_law(capacities) for name, capacities in found.items()}


def law_words(law: Law) -> str:
    """A law as a formula, with standard errors."""
    return str(law).replace(" * ", " ")


MANY, FEW, SEARCHES = 50, 5, 1  # trials at most: of the sparse network; where little varies or much time goes; searches

NAMES = {
    "sparse": "sparse",
    "convergent": "sparse, convergent",
    "paper": "the paper's rule",
    ONE_HOT: "one-hot, one neuron per transition",
    "dense": "dense, one unit per pattern",
}
"""What the networks of the trials are called in the report."""

CONTROL = {
    "paper": "the paper's rule",
    TUNED: f"the paper's rule, kappa = {TUNED_KAPPA:.0f}",
    NOISY: "the paper's rule, flips while it learns",
}
"""The same for the control: would the paper's rule do as well with a larger margin, or if it practised with noise, too?"""

SCALED = {"sparse": "sparse", "attractor": "the paper's rule", "dense": "dense memory of degree 2"}
"""The same for the networks whose capacity is searched for, by their short names."""

COLUMNS = ("part", "network", "options", "N", "M", "T", "flips", "stored")
"""What may tell cells apart."""


@dataclass(frozen=True)
class Sizes:
    """How large the networks and sequences of a version of the target are."""

    N: int
    M: int
    flips: int
    lengths: tuple[int, ...]
    paper_up_to: int
    """The longest sequence that the paper's rule is tried on: far beyond it nothing changes, and learning takes long."""
    control_lengths: tuple[int, ...]
    cue_lengths: tuple[int, ...]
    cue_flips: tuple[int, ...]
    ablation_lengths: tuple[int, ...]
    inside_lengths: tuple[int, ...]
    robust_flips: tuple[int, ...]
    digits: Mapping[str, Any]
    scaling: tuple[tuple[int, int], ...]
    """N and M of the networks whose capacity is searched for."""
    search_trials: int


FULL = Sizes(
    N=100,
    M=500,
    flips=10,
    lengths=(100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200),
    paper_up_to=200,
    control_lengths=(60, 80, 90, 100, 120),
    cue_lengths=(70, 200),
    cue_flips=(10, 15, 20, 25, 30),
    ablation_lengths=(500, 800, 1000),
    inside_lengths=(100, 300, 500, 700, 800, 900, 1000, 1100, 1200),
    robust_flips=(0, 5, 10, 15, 20, 25, 30, 35, 40),
    digits={"stored": (20, 40, 80, 160), "paper": (20, 40), "T": 20, "M": 1000, "flips": 300, "trials": 1},
    scaling=tuple((N, M) for N in (50, 100, 200) for M in (100, 200, 400)),
    search_trials=48,  # the first two dozen find the range
)
QUICK = Sizes(
    N=40,
    M=60,
    flips=4,
    lengths=(30, 60, 90),
    paper_up_to=60,
    control_lengths=(20, 30),
    cue_lengths=(20, 40),
    cue_flips=(4, 8),
    ablation_lengths=(50, 80),
    inside_lengths=(30, 60, 90),
    robust_flips=(0, 3, 6, 9, 12),
    digits={"stored": (2,), "paper": (2,), "T": 8, "M": 40, "flips": 300, "trials": 1},
    scaling=((30, 30), (30, 60)),
    search_trials=16,
)


class CapacityPage(Target):
    """Success and basin against length and flips, ablations, moving digits, theory's limits, what happens inside, and scaling."""

    def cells(self, request: Request) -> list[Cell]:
        """Groups of cells, told apart by "part"."""
        s = sizes_of(request)
        same = {"N": s.N, "M": s.M}
        cells: list[Cell] = [
            {"part": "length", "network": name, **same, "T": T, "flips": s.flips}
            for name in NAMES
            for T in s.lengths
            if name != "paper" or s.paper_up_to >= T
        ]
        cells += [
            {"part": "flips", "network": name, **same, "T": T, "flips": flips}
            for name in ("sparse", "paper", ONE_HOT)
            for T in s.cue_lengths
            for flips in s.cue_flips
        ]
        cells += [
            {"part": "control", "network": name, **same, "T": T, "flips": s.flips} for name in CONTROL for T in s.control_lengths
        ]
        cells += [
            {"part": "ablation", "options": name, **same, "T": T, "flips": s.flips}
            for name in ABLATIONS
            for T in s.ablation_lengths
        ]
        digits = {key: s.digits[key] for key in ("T", "M", "flips")}
        cells += [
            {"part": "digits", "network": name, "stored": k, **digits}
            for name in ("sparse", "paper", ONE_HOT, "dense")
            for k in s.digits["paper" if name == "paper" else "stored"]
        ]
        cells += [
            {"part": "inside", "network": "sparse", **same, "T": T, "flips": s.flips, "up_to": list(s.robust_flips)}
            for T in s.inside_lengths
        ]
        widths = list(dict.fromkeys(N for N, _ in s.scaling))
        searched = [(name, N, M) for name in ("sparse", "attractor") for N, M in s.scaling] + [("dense", N, None) for N in widths]
        cells += [
            {"part": "scaling", "network": name, "N": N, "M": M, "flips": N // 10, "most": s.search_trials}
            for name, N, M in searched
        ]
        return cells + [{"part": ONE_HOT, "network": ONE_HOT, "N": N, "M": M, "T": M + 1, "flips": N // 10} for N, M in s.scaling]

    def n_trials(self, request: Request, cell: Cell) -> int:
        """Fewer trials where they would tell nothing new."""
        if request.quick:
            return request.at_most(2 if cell["part"] in ("length", "flips") and cell["network"] == "sparse" else 1)
        if cell["part"] == "digits":
            return request.at_most(sizes_of(request).digits["trials"])
        if cell["part"] == "scaling":
            return request.at_most(SEARCHES)
        often = cell["part"] in ("control", ONE_HOT) or (
            cell["part"] in ("length", "flips") and cell["network"] in ("sparse", ONE_HOT)
        )
        return request.at_most(MANY if often else FEW)

    def settings(self, request: Request) -> dict[str, Any]:
        """The sizes, and what the ablations change."""
        sizes: dict[str, Any] = json.loads(json.dumps(asdict(sizes_of(request))))  # lists, as they will be read
        return sizes | {"settle": 25, "ablations": ABLATIONS}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        """Count successes and average the rest."""
        row = {**dict.fromkeys(COLUMNS), **cell, "trials": len(trials)}
        if cell["part"] == "digits":
            return [{**row, "recalled": [outcome["recalled"] for outcome in trials]}]
        if cell["part"] == "inside":
            counts = np.sum([outcome["counts"] for outcome in trials], axis=0)
            means = {key: float(np.mean([outcome[key] for outcome in trials])) for key in ("active", "made", "radius")}
            right = np.mean([outcome["right"] for outcome in trials], axis=0) / STEPS
            least = min(outcome["least_radius"] for outcome in trials)
            return [row | means | {"counts": counts.tolist(), "least_radius": least, "right": right.tolist()}]
        if cell["part"] == "scaling":
            return [row | pooled_capacity(cell, [outcome["tried"] for outcome in trials])]
        means = {key: float(np.mean([outcome[key] for outcome in trials])) for key in ("basin", "score")}
        return [row | count_successes(trials) | means]

    def verdict(self, result: Result) -> Verdict:
        """Say how far each rule comes, how many bits that is, what loses starts, and how capacity grows."""
        s = result.data["settings"]
        longest = {name: longest_stored(result, name) for name in ("sparse", "paper")}
        said = [
            f"{NAMES[name]} retrieves sequences of up to {T} patterns"
            if T
            else f"{NAMES[name]} none of {s['lengths'][0]} or more"
            for name, T in longest.items()
        ]
        text = f"In at least 95 % of the trials {' and '.join(said)}, with N = {s['N']}, M = {s['M']} and {s['flips']} flips. "
        text += f"{_baseline(result)} {_control(result)} "
        if longest["sparse"]:
            bits = bits_per_weight(longest["sparse"], s["N"], s["M"])
            text += f"The longest of the sparse network are {bits:.2f} bits for each of its weights. "
        counts = np.sum([row["counts"] for row in result.rows(part="inside")], axis=0)
        lost = counts[:, 1:].sum()
        if lost:
            share = counts[1:, 1:].sum() / lost
            text += f"Of the starts that it loses, {share:.0%} have a wrong hidden neuron in the first step. "
        law = scaling_laws(result).get("sparse")
        if law is not None:
            text += f"Its capacity follows {law_words(law)}. "
        return Verdict(None, text + "The paper has no such rule: its conclusion asks for one.")

    def csv_rows(self, result: Result) -> list[Row]:
        """Rows with both ends of the interval, and lists as one text."""
        measured = ("trials", "successes", "low", "high", "basin", "score", "t95", "t95_low", "t95_high", "at_least")
        columns = (*COLUMNS, *measured, "active", "made", "radius", "least_radius")
        lists = ("recalled", "right", "counts")
        return [
            {key: flat_interval(row).get(key) for key in columns} | {key: " ".join(map(str, row.get(key, []))) for key in lists}
            for row in result.rows()
        ]

    def tables(self, result: Result) -> list[Table]:
        """One or two tables for each part."""
        return [
            _length_table(result),
            _flip_table(result),
            _control_table(result),
            _ablation_table(result),
            _limit_table(result),
            _start_table(result),
            _robustness_table(result),
            _scaling_table(result),
            _one_hot_table(result),
            _digit_table(result),
        ]

    def figure(self, result: Result) -> Figure:
        """Success and basin against T, success against flips, and moving digits."""
        from seqattractor.paper import capacity_figures as draw  # which reads this module

        return draw.success_figure(result, NAMES)

    def more_figures(self, result: Result) -> dict[str, tuple[str, Callable[[], Figure]]]:
        """Draw what each part of the rule is worth, theory's limits, what happens inside, and how capacity grows."""
        from seqattractor.paper import capacity_figures as draw

        return {
            "ablations": (
                "What each part of the rule is worth: the basin with one thing changed.",
                lambda: draw.ablation_figure(result),
            ),
            "limits": (
                "What theory allows and what is reached: bits for each weight, the loads of V and U as fractions of Cover's and "
                "Gardner's limits, and Gardner's limit of a hidden neuron by its coding level.",
                lambda: draw.limits_figure(result),
            ),
            "inside": (
                "Where starts are lost, and what robustness is left, against the length of the sequence.",
                lambda: draw.inside_figure(result),
            ),
            "scaling": (
                "The longest sequence with 95 % success against the number of hidden neurons; laws dashed.",
                lambda: draw.scaling_figure(result, SCALED),
            ),
        }


def sizes_of(request: Request) -> Sizes:
    """The sizes that are asked for."""
    return QUICK if request.quick else FULL


def longest_stored(result: Result, network: str) -> int:
    """The largest T up to which every tested length succeeds in at least 95 % of the trials; 0 if none does."""
    longest = 0
    for row in sorted(result.rows(part="length", network=network), key=lambda row: int(row["T"])):
        if row["successes"] < 0.95 * row["trials"]:
            break
        longest = int(row["T"])
    return longest


def _baseline(result: Result) -> str:
    """What one neuron for each pattern does."""
    rows = result.rows(part=ONE_HOT)
    right, n = sum(row["successes"] for row in rows), sum(row["trials"] for row in rows)
    sizes = f"{len(rows)} sizes with T = M + 1 and N / 10 flips"
    return f"One threshold neuron for each pattern, with nothing learned, retrieves {right} of {n} sequences, at {sizes}."


def _control(result: Result) -> str:
    """What the paper's rule gains from a larger margin and from noise while it learns."""
    rows = {(row["network"], row["T"]): row for row in result.rows(part="control")}
    told = [
        f"{rows['paper', T]['successes']}, {rows[TUNED, T]['successes']} and {rows[NOISY, T]['successes']} "
        f"of {rows[NOISY, T]['trials']} at T = {T}"
        for T in result.data["settings"]["control_lengths"]
    ]
    ways = f"as it is, with kappa = {TUNED_KAPPA:.0f}, and with flips in the inputs that it learns from"
    return f"The paper's rule {ways}: {'; '.join(told)}."


def fraction(value: float) -> str:
    """A fraction with four digits, never rounded up to 1."""
    return "1" if value == 1 else f"{min(value, 0.9999):.4f}".lstrip("0") if value else "0"


def _length_table(result: Result) -> Table:
    """Success and basin of every network at every length."""
    lengths, lines = result.data["settings"]["lengths"], []
    for name, words in NAMES.items():
        rows = {row["T"]: row for row in result.rows(part="length", network=name)}
        told = [_counted(rows[T]) if T in rows else "-" for T in lengths]
        lines.append([f"{words}: success", *told])
        lines.append([f"{words}: basin", *(fraction(rows[T]["basin"]) if T in rows else "-" for T in lengths)])
    return Table(["T", *map(str, lengths)], lines, "Success and basin against the length of the sequence.")


def _flip_table(result: Result) -> Table:
    """Success against flips of the cue."""
    s, lines = result.data["settings"], []
    for name in ("sparse", "paper", ONE_HOT):
        for T in s["cue_lengths"]:
            rows = {row["flips"]: row for row in result.rows(part="flips", network=name, T=T)}
            lines.append([f"{NAMES[name]}, T = {T}", *(_counted(rows[flips]) for flips in s["cue_flips"])])
    return Table(["flips of the cue", *map(str, s["cue_flips"])], lines, "Success against the flips of the cue.")


def _control_table(result: Result) -> Table:
    """Success and basin of the paper's rule as it is, with a larger margin, and with noise while it learns."""
    lengths, lines = result.data["settings"]["control_lengths"], []
    for name, words in CONTROL.items():
        rows = {row["T"]: row for row in result.rows(part="control", network=name)}
        lines.append([f"{words}: success", *(_counted(rows[T]) for T in lengths)])
        lines.append([f"{words}: basin", *(fraction(rows[T]["basin"]) for T in lengths)])
    return Table(
        ["T", *map(str, lengths)],
        lines,
        "The paper's rule, with a larger margin, and with flips in the inputs that it learns from.",
    )


def _counted(row: Row) -> str:
    """Successes of trials."""
    return f"{row['successes']}/{row['trials']}"


def _ablation_table(result: Result) -> Table:
    """Success and basin with one thing changed."""
    lengths, lines = result.data["settings"]["ablation_lengths"], []
    for name in result.data["settings"]["ablations"]:
        rows = {row["T"]: row for row in result.rows(part="ablation", options=name)}
        lines.append([name, *(f"{_counted(rows[T])}, {fraction(rows[T]['basin'])}" for T in lengths)])
    return Table(
        ["setting", *(f"T = {T}" for T in lengths)], lines, "What each part of the sparse rule is worth: success, basin."
    )


def _limit_table(result: Result) -> Table:
    """Loads and bits beside what theory allows."""
    return Table.of(
        loads(result),
        {
            "T": "{T}",
            "success": "{success}",
            "bits per weight": "{bits:.3f}",
            "patterns per input of V (Cover: 2)": "{visible_load:.2f}",
            "active hidden neurons": "{active:.2%}",
            "patterns per input of U": "{hidden_load:.2f}",
            "Gardner's limit of U": "{gardner:.1f}",
        },
        "What is stored beside the limits for random patterns and random targets.",
    )


def _start_table(result: Result) -> Table:
    """First steps and ends of starts."""
    lines = []
    for row in result.rows(part="inside"):
        counts = np.array(row["counts"])
        share = counts / counts.sum()
        lines.append([str(row["T"]), *(f"{x:.2%}" for x in (*share.sum(axis=1), share[0, 1:].sum(), *share.sum(axis=0)))])
    columns = ["T", *(f"first step: {name}" for name in FIRST_STEPS), "right, yet lost", *(f"end: {name}" for name in ENDS)]
    return Table(columns, lines, "Starts from every pattern: what hidden neurons do in the first step, and where starts end.")


def _robustness_table(result: Result) -> Table:
    """Proven and measured flips."""
    flips = result.data["settings"]["robust_flips"]
    lines = [
        [str(row["T"]), fraction(row["made"]), f"{row['radius']:.2f}", str(row["least_radius"]), *map(fraction, row["right"])]
        for row in result.rows(part="inside")
    ]
    columns = ["T", "transitions made", "proven flips, mean", "proven flips, least", *(f"right after {k} flips" for k in flips)]
    return Table(
        columns, lines, "Flips that a stored transition is proven to withstand, and how often it withstands random ones."
    )


def _scaling_table(result: Result) -> Table:
    """Capacities with their intervals, and laws."""
    lines = []
    for row in result.rows(part="scaling"):
        size = f"N = {row['N']}" + (f", M = {row['M']}" if row["M"] is not None else "")
        found = f"at least {row['t95']}" if row["at_least"] else f"{row['t95']} ({row['t95_low']} to {row['t95_high']})"
        per = f"{row['t95'] / row['M']:.2f}" if row["M"] is not None else "-"
        lines.append([f"{SCALED[row['network']]}, {size}", found, per, str(sum(n for _, _, n in row["tried"]))])
    laws = [f"{SCALED[name]}: {law_words(law)}" for name, law in scaling_laws(result).items() if law is not None]
    caption = "The longest sequence with 95 % success and its 95 % interval. " + "".join(f"{law}. " for law in laws)
    return Table(["network", "T95", "T95 / M", "trials"], lines, caption.strip())


def _one_hot_table(result: Result) -> Table:
    """One neuron for each transition at the longest sequence that M of them can make."""
    return Table.of(
        [row | {"counted": _counted(row), "share": fraction(row["basin"])} for row in result.rows(part=ONE_HOT)],
        {"one-hot": "N = {N}, M = {M}", "T = M + 1": "{T}", "success": "{counted}", "basin": "{share}"},
        "One neuron for each transition: T = M + 1, N / 10 flips.",
    )


def _digit_table(result: Result) -> Table:
    """Moving digits."""
    digits = [
        {"words": f"{NAMES[row['network']]}, {row['stored']} stored", "recalled": ", ".join(map(str, row["recalled"]))}
        for row in result.rows(part="digits")
    ]
    columns = {"moving digits": "{words}", "sequences with all frames exact": "{recalled}"}
    return Table.of(digits, columns, "One number for each set of sequences.")


TARGET = CapacityPage(
    name="capacity",
    title="Capacity, beyond the paper",
    trial="capacity:store_sequences",
    about="Random periodic sequences, default settings of every network (one-hot is told the number of flips); N = 100 visible "
    "and M = 500 hidden neurons, fewer in the quick version. Success is the criterion of section 6.2 from the first pattern with "
    "a tenth of the units flipped. The basin is stricter: the fraction of all patterns from which, with as many flips, the "
    "network is exactly on the sequence and in phase after 25 steps. Moving digits: a sequence counts if all frames after the "
    "corrupted first one are exact.",
)
