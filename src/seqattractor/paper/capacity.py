"""Beyond the paper: how much the sparse rule stores, and why, beside the paper's rule and memories that store the patterns.

The trials, the grid, the sentence and the tables of `reproduce capacity`, then theory's limits and the figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqattractor import plots
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
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target, count_successes, draw_successes, flat_interval
from seqattractor.plots._analysis import END_COLORS
from seqattractor.report.page import Line, Table, Verdict
from seqattractor.sequences import Patterns
from seqattractor.study.capacity import Capacity, Law, Search, fit_law
from seqattractor.study.executors import do_trial
from seqattractor.study.trial import Task, draw_sequences, judge, recall_task, retrieve_with
from seqattractor.zoo.dense import DenseSequenceMemory

STEPS = 300
"""First steps at each number of flips that a curve of robustness is measured with."""
LONGEST = 10_000
"""The longest sequence that a search may try."""
ENOUGH = 0.95
"""The success rate from which a length counts as stored."""
COVER = 2.0
"""Random patterns for each input of a perceptron, half of them active (Cover 1965)."""
TUNED = "paper, tuned"
"""The paper's rule with the margin that tuning chose for comparisons (docs/rivals.rst)."""
TUNED_KAPPA = 10.0
NOISY = "paper, noisy"
"""The paper's rule, which sees every input with as many flips as the cue will have."""
ONE_HOT = "one-hot"
"""One threshold neuron for each transition with a given tolerance; M does not matter."""

NETWORKS: dict[str, Callable[[int, np.random.Generator], SequenceMemory]] = {
    "sparse": lambda M, rng: SparseSequenceAttractor(M, random_state=rng),
    "convergent": lambda M, rng: SparseSequenceAttractor(M, noise=0, random_state=rng),
    "paper": lambda M, rng: SequenceAttractor(M, random_state=rng, n_jobs=1, **LEARNING),
    TUNED: lambda M, rng: SequenceAttractor(M, random_state=rng, n_jobs=1, **LEARNING | {"kappa": TUNED_KAPPA}),
    "dense": lambda M, rng: DenseSequenceMemory(interaction="exponential"),
}
"""How each network is made, beside the one-hot network."""

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
"""Parameters of the sparse network that switch off or change a part of its rule."""

NAMES = {
    "sparse": "sparse",
    "convergent": "sparse, convergent",
    "paper": "the paper's rule",
    ONE_HOT: "one-hot, one neuron per transition",
    "dense": "dense, one unit per pattern",
}
"""The networks of the trials in the words of the report."""
CONTROL = {
    "paper": "the paper's rule",
    TUNED: f"the paper's rule, kappa = {TUNED_KAPPA:.0f}",
    NOISY: "the paper's rule, flips while it learns",
}
"""The control: would the paper's rule do as well with a larger margin, or with noise during learning?"""
SCALED = {"sparse": "sparse", "attractor": "the paper's rule", "dense": "dense memory of degree 2"}
"""The networks whose capacity is searched for, by their short names."""

FULL: dict[str, Any] = {
    "N": 100,
    "M": 500,
    "flips": 10,
    "lengths": [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200],
    "paper_up_to": 200,  # far beyond it nothing changes for the paper's rule, and learning takes long
    "control_lengths": [60, 80, 90, 100, 120],
    "cue_lengths": [70, 200],
    "cue_flips": [10, 15, 20, 25, 30],
    "ablation_lengths": [500, 800, 1000],
    "inside_lengths": [100, 300, 500, 700, 800, 900, 1000, 1100, 1200],
    "robust_flips": [0, 5, 10, 15, 20, 25, 30, 35, 40],
    "digits": {"stored": [20, 40, 80, 160], "paper": [20, 40], "T": 20, "M": 1000, "flips": 300, "trials": 1},
    "scaling": [[N, M] for N in (50, 100, 200) for M in (100, 200, 400)],  # of the networks whose capacity is searched for
    "search_trials": 48,  # the first two dozen find the range
}
QUICK: dict[str, Any] = {
    "N": 40,
    "M": 60,
    "flips": 4,
    "lengths": [30, 60, 90],
    "paper_up_to": 60,
    "control_lengths": [20, 30],
    "cue_lengths": [20, 40],
    "cue_flips": [4, 8],
    "ablation_lengths": [50, 80],
    "inside_lengths": [30, 60, 90],
    "robust_flips": [0, 3, 6, 9, 12],
    "digits": {"stored": [2], "paper": [2], "T": 8, "M": 40, "flips": 300, "trials": 1},
    "scaling": [[30, 30], [30, 60]],
    "search_trials": 16,
}
MANY, FEW, SEARCHES = 50, 5, 1  # most trials: of the sparse network; where little varies or much time goes; searches


# -- trials ------------------------------------------------------------------------------------------------------------


def store_sequences(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Run a trial of the part that `settings` name; a single random stream serves sequence, network and cue."""
    rng = np.random.default_rng(seed)
    if settings["part"] == "digits":
        return _store_digits(settings, rng)
    if settings["part"] == "inside":
        return _look_inside(settings, rng)
    if settings["part"] == "scaling":
        return _search_capacity(settings, int(rng.integers(2**31)))
    learn: Callable[[SequenceMemory, Patterns], Any] | None = None
    if settings["part"] == "ablation":
        net: SequenceMemory = SparseSequenceAttractor(settings["M"], random_state=rng, **ABLATIONS[settings["options"]])
    elif settings["network"] == NOISY:
        net = NETWORKS["paper"](settings["M"], rng)
        learn = partial(learn_from_noise, flips=settings["flips"], epochs=LEARNING["max_epochs"], rng=rng)
    else:
        net = _make(settings, rng)
    sizes = {"n": settings["N"], "t": settings["T"], "flips": settings["flips"], "measure_basin": True}
    outcome = retrieve_with(net, sizes, rng, rng, learn=learn)
    return {key: outcome[key] for key in ("success", "basin", "score")}


def _make(settings: dict[str, Any], rng: np.random.Generator) -> SequenceMemory:
    """Return the network of a trial, unfitted."""
    if settings["network"] == ONE_HOT:
        return OneHotNetwork(tolerance=settings["flips"])
    return NETWORKS[settings["network"]](settings["M"], rng)


def learn_from_noise(net: Any, X: Patterns, *, flips: int, epochs: int, rng: np.random.Generator) -> None:
    """Present all transitions of a sequence, (T, N), in every epoch, with other units of each input flipped every time.

    The rule is the paper's, eqs. (4)-(9), with the flipped x(t) in place of x(t); x(t+1), and with it the targets, stay clean.

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
    """Store sequences of moving digits and count those of which all frames are recalled without a wrong pixel."""
    net = _make(settings, rng)
    X = moving_digits(settings["stored"], length=settings["T"], rng=rng)
    task = Task(X.patterns, X.lengths, settings["flips"], closed=False)
    net.fit(X)
    cues = flip(np.stack([x[0] for x in X.split()]), task.flips, rng=rng)
    return {"recalled": sum(time is not None for time in judge(recall_task(net, task, cues[:, None], rng), task, net))}


def _look_inside(settings: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Measure hidden codes, lost starts, proven flips, and robustness to each number of flips in "up_to"."""
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
    """Search for the longest sequence with 95 % success; return [T, successes, trials] of each length tried."""
    search = _search(settings, seed=seed, max_trials=settings["most"])
    while not search.over:
        for trial in search.next_trials():
            search.tell(do_trial(trial))
    return {"tried": [[T, right, n] for T, (right, n) in search.result().tried.items()]}


def _search(size: Row, **options: Any) -> Search:
    """Return a search for the capacity of a network of this size; M is None for a memory without hidden neurons."""
    settings = {"network": size["network"], "n": size["N"], "flips": size["flips"]}
    return Search(settings if size["M"] is None else settings | {"m": size["M"]}, t_max=LONGEST, **options)


# -- grid, sentence, tables --------------------------------------------------------------------------------------------


class _CapacityPage(Target):
    """Success and basin against length and flips, ablations, moving digits, theory's limits, the inside, and scaling."""

    def cells(self, request: Request) -> list[Cell]:
        s = sizes_of(request)
        digits = {key: s["digits"][key] for key in ("T", "M", "flips")}
        sizes = [(name, N, M) for name in ("sparse", "attractor") for N, M in s["scaling"]]
        sizes += [("dense", N, None) for N in dict.fromkeys(N for N, _ in s["scaling"])]

        def cell(part: str, T: int, flips: int = s["flips"], **others: Any) -> Cell:
            return {"part": part, "N": s["N"], "M": s["M"], "T": T, "flips": flips, **others}

        return [
            *(
                cell("length", T, network=name)
                for name in NAMES
                for T in s["lengths"]
                if name != "paper" or s["paper_up_to"] >= T
            ),
            *(
                cell("flips", T, flips, network=name)
                for name in ("sparse", "paper", ONE_HOT)
                for T in s["cue_lengths"]
                for flips in s["cue_flips"]
            ),
            *(cell("control", T, network=name) for name in CONTROL for T in s["control_lengths"]),
            *(cell("ablation", T, options=name) for name in ABLATIONS for T in s["ablation_lengths"]),
            *(
                {"part": "digits", "network": name, "stored": k, **digits}
                for name in ("sparse", "paper", ONE_HOT, "dense")
                for k in s["digits"]["paper" if name == "paper" else "stored"]
            ),
            *(cell("inside", T, network="sparse", up_to=s["robust_flips"]) for T in s["inside_lengths"]),
            *(
                {"part": "scaling", "network": name, "N": N, "M": M, "flips": N // 10, "most": s["search_trials"]}
                for name, N, M in sizes
            ),
            *({"part": ONE_HOT, "network": ONE_HOT, "N": N, "M": M, "T": M + 1, "flips": N // 10} for N, M in s["scaling"]),
        ]

    def n_trials(self, request: Request, cell: Cell) -> int:
        network = cell["network"] if cell["part"] in ("length", "flips") else None
        if request.quick:
            return request.at_most(2 if network == "sparse" else 1)
        if cell["part"] == "digits":
            return request.at_most(sizes_of(request)["digits"]["trials"])
        if cell["part"] == "scaling":
            return request.at_most(SEARCHES)
        often = cell["part"] in ("control", ONE_HOT) or network in ("sparse", ONE_HOT)
        return request.at_most(MANY if often else FEW)

    def settings(self, request: Request) -> dict[str, Any]:
        return sizes_of(request) | {"settle": 25, "ablations": ABLATIONS}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        def mean(*keys: str) -> dict[str, float]:
            return {key: float(np.mean([outcome[key] for outcome in trials])) for key in keys}

        row = {**dict.fromkeys(COLUMNS), **cell, "trials": len(trials)}
        if cell["part"] == "digits":
            return [{**row, "recalled": [outcome["recalled"] for outcome in trials]}]
        if cell["part"] == "inside":
            counts = np.sum([outcome["counts"] for outcome in trials], axis=0)
            right = np.mean([outcome["right"] for outcome in trials], axis=0) / STEPS
            least = min(outcome["least_radius"] for outcome in trials)
            found = {"counts": counts.tolist(), "least_radius": least, "right": right.tolist()}
            return [row | mean("active", "made", "radius") | found]
        if cell["part"] == "scaling":
            return [row | pooled_capacity(cell, [outcome["tried"] for outcome in trials])]
        return [row | count_successes(trials) | mean("basin", "score")]

    def verdict(self, result: Result) -> Verdict:
        s = result.data["settings"]
        longest = {name: longest_stored(result, name) for name in ("sparse", "paper")}
        reached = [
            f"{NAMES[name]} retrieves sequences of up to {T} patterns"
            if T
            else f"{NAMES[name]} none of {s['lengths'][0]} or more"
            for name, T in longest.items()
        ]
        text = f"In at least 95 % of the trials {' and '.join(reached)}, with N = {s['N']}, M = {s['M']} and {s['flips']} flips. "
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
        measured = ("trials", "successes", "low", "high", "basin", "score", "t95", "t95_low", "t95_high", "at_least")
        columns = (*COLUMNS, *measured, "active", "made", "radius", "least_radius")
        lists = ("recalled", "right", "counts")
        return [
            {key: flat_interval(row).get(key) for key in columns} | {key: " ".join(map(str, row.get(key, []))) for key in lists}
            for row in result.rows()
        ]

    def tables(self, result: Result) -> list[Table]:
        return [
            _length_table(result, "length", NAMES, "Success and basin against the length of the sequence."),
            _flip_table(result),
            _length_table(
                result,
                "control",
                CONTROL,
                "The paper's rule, with a larger margin, and with flips in the inputs that it learns from.",
            ),
            _ablation_table(result),
            _limit_table(result),
            _start_table(result),
            _robustness_table(result),
            _scaling_table(result),
            _one_hot_table(result),
            _digit_table(result),
        ]

    def figure(self, result: Result) -> Figure:
        return success_figure(result)

    def more_figures(self, result: Result) -> dict[str, tuple[str, Callable[[], Figure]]]:
        captions = {
            ablation_figure: "What each part of the rule is worth: the basin with one thing changed.",
            limits_figure: "What theory allows and what is reached: bits for each weight, the loads of V and U as fractions of "
            "Cover's and Gardner's limits, and Gardner's limit of a hidden neuron by its coding level.",
            inside_figure: "Where starts are lost, and what robustness is left, against the length of the sequence.",
            scaling_figure: "The longest sequence with 95 % success against the number of hidden neurons; laws dashed.",
        }
        words = ("ablations", "limits", "inside", "scaling")
        return {word: (caption, partial(draw, result)) for word, (draw, caption) in zip(words, captions.items(), strict=True)}


COLUMNS = ("part", "network", "options", "N", "M", "T", "flips", "stored")
"""Settings that distinguish cells."""


def sizes_of(request: Request) -> dict[str, Any]:
    """Return the sizes of networks and sequences."""
    return QUICK if request.quick else FULL


def longest_stored(result: Result, network: str) -> int:
    """Return the largest T up to which every tested length succeeds in at least 95 % of the trials; 0 if none does."""
    longest = 0
    for row in sorted(result.rows(part="length", network=network), key=lambda row: int(row["T"])):
        if not _stored(row):
            break
        longest = int(row["T"])
    return longest


def _stored(row: Row) -> bool:
    """Return whether enough trials of a row succeed."""
    return bool(row["successes"] >= ENOUGH * row["trials"])


def _baseline(result: Result) -> str:
    """Describe the results of one neuron for each pattern."""
    rows = result.rows(part=ONE_HOT)
    right, n = sum(row["successes"] for row in rows), sum(row["trials"] for row in rows)
    sizes = f"{len(rows)} sizes with T = M + 1 and N / 10 flips"
    return f"One threshold neuron for each pattern, with nothing learned, retrieves {right} of {n} sequences, at {sizes}."


def _control(result: Result) -> str:
    """Describe what the paper's rule gains from a larger margin and from noise during learning."""
    rows = {(row["network"], row["T"]): row for row in result.rows(part="control")}
    counts = [
        f"{rows['paper', T]['successes']}, {rows[TUNED, T]['successes']} and {rows[NOISY, T]['successes']} "
        f"of {rows[NOISY, T]['trials']} at T = {T}"
        for T in result.data["settings"]["control_lengths"]
    ]
    ways = f"as it is, with kappa = {TUNED_KAPPA:.0f}, and with flips in the inputs that it learns from"
    return f"The paper's rule {ways}: {'; '.join(counts)}."


def fraction(value: float) -> str:
    """Format a fraction with four digits, never rounded up to 1."""
    return "1" if value == 1 else f"{min(value, 0.9999):.4f}".lstrip("0") if value else "0"


_counted = "{successes}/{trials}".format_map


def _basin(row: Mapping[str, Any]) -> str:
    """Format the basin of a row."""
    return fraction(row["basin"])


def _length_table(result: Result, part: str, names: Mapping[str, str], caption: str) -> Table:
    """Return success and basin of every network at every length."""
    lines: list[Line] = []
    for name, words in names.items():
        rows = result.rows(part=part, network=name)
        lines += [(f"{words}: success", rows, _counted), (f"{words}: basin", rows, _basin)]
    return Table.over("T", lines, caption)


def _flip_table(result: Result) -> Table:
    """Return success against flips of the cue."""
    lines: list[Line] = [
        (f"{NAMES[name]}, T = {T}", result.rows(part="flips", network=name, T=T), _counted)
        for name in ("sparse", "paper", ONE_HOT)
        for T in result.data["settings"]["cue_lengths"]
    ]
    return Table.over("flips", lines, "Success against the flips of the cue.", heading="flips of the cue")


def _ablation_table(result: Result) -> Table:
    """Return success and basin with one thing changed."""
    lines: list[Line] = [
        (name, result.rows(part="ablation", options=name), lambda row: f"{_counted(row)}, {_basin(row)}")
        for name in result.data["settings"]["ablations"]
    ]
    caption = "What each part of the sparse rule is worth: success, basin."
    return Table.over("T", lines, caption, heading="setting", column="T = {}")


def _limit_table(result: Result) -> Table:
    """Return loads and bits beside theory's limits."""
    columns = {
        "T": "{T}",
        "success": "{success}",
        "bits per weight": "{bits:.3f}",
        "patterns per input of V (Cover: 2)": "{visible_load:.2f}",
        "active hidden neurons": "{active:.2%}",
        "patterns per input of U": "{hidden_load:.2f}",
        "Gardner's limit of U": "{gardner:.1f}",
    }
    return Table.of(loads(result), columns, "What is stored beside the limits for random patterns and random targets.")


def _start_table(result: Result) -> Table:
    """Return first steps and ends of starts."""
    lines = []
    for row in result.rows(part="inside"):
        share = np.array(row["counts"]) / np.sum(row["counts"])
        lines.append([str(row["T"]), *(f"{x:.2%}" for x in (*share.sum(axis=1), share[0, 1:].sum(), *share.sum(axis=0)))])
    columns = ["T", *(f"first step: {name}" for name in FIRST_STEPS), "right, yet lost", *(f"end: {name}" for name in ENDS)]
    return Table(columns, lines, "Starts from every pattern: what hidden neurons do in the first step, and where starts end.")


def _robustness_table(result: Result) -> Table:
    """Return proven and measured flips."""
    lines = [
        [str(row["T"]), fraction(row["made"]), f"{row['radius']:.2f}", str(row["least_radius"]), *map(fraction, row["right"])]
        for row in result.rows(part="inside")
    ]
    measured = [f"right after {k} flips" for k in result.data["settings"]["robust_flips"]]
    columns = ["T", "transitions made", "proven flips, mean", "proven flips, least", *measured]
    caption = "Flips that a stored transition is proven to withstand, and how often it withstands random ones."
    return Table(columns, lines, caption)


def _scaling_table(result: Result) -> Table:
    """Return capacities with their intervals, and laws."""
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
    """Return the results of one neuron for each transition at the longest sequence that M of them can make."""
    return Table.of(
        [row | {"share": _basin(row)} for row in result.rows(part=ONE_HOT)],
        {"one-hot": "N = {N}, M = {M}", "T = M + 1": "{T}", "success": "{successes}/{trials}", "basin": "{share}"},
        "One neuron for each transition: T = M + 1, N / 10 flips.",
    )


def _digit_table(result: Result) -> Table:
    """Return the moving digits recalled."""
    lines = [
        [f"{NAMES[row['network']]}, {row['stored']} stored", ", ".join(map(str, row["recalled"]))]
        for row in result.rows(part="digits")
    ]
    return Table(["moving digits", "sequences with all frames exact"], lines, "One number for each set of sequences.")


# -- theory's limits and laws of growth --------------------------------------------------------------------------------


def bits_per_weight(T: int, N: int, M: int) -> float:
    """Return the bits of T random patterns (the last is the first) for each of the 2MN + M weights of a sparse network.

    Examples
    --------
    >>> round(bits_per_weight(1001, N=100, M=500), 3)
    0.995
    """
    return (T - 1) * N / (2 * M * N + M)


def loads(result: Result) -> list[Row]:
    """Return bits for each weight, and the loads of V and U beside their limits, for each length that was looked into.

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
                "success": _counted(tried[0]) if tried else "-",
                "stored": bool(tried) and _stored(tried[0]),
                "bits": bits_per_weight(T, N, M),
                "visible_load": (T - 1) / M,
                "active": row["active"],
                "hidden_load": (T - 1) / N,
                "gardner": gardner_capacity(min(max(row["active"], 1e-9), 1 - 1e-9)),
            }
        )
    return rows


def pooled_capacity(size: Row, searches: Sequence[Sequence[Sequence[int]]]) -> Row:
    """Pool the trials of several searches: the longest sequence with 95 % success, its interval, and the lengths tried.

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
    """Return the capacity that trials, [T, successes, trials] each, amount to."""
    search = _search(size)
    search.curve.learn(*zip(*tried, strict=True))
    for T, right, n in tried:
        search.tried[T] += n
        search.right[T] += right
    return search.result()


def scaling_laws(result: Result) -> dict[str, Law | None]:
    """Return the law of each network's capacity, or None where too few are known."""
    found: dict[str, list[Capacity]] = {}
    for row in result.rows(part="scaling"):
        found.setdefault(row["network"], []).append(_capacity(row, row["tried"]))
    return {name: fit_law(capacities) for name, capacities in found.items()}


def law_words(law: Law) -> str:
    """Format a law as a formula with standard errors."""
    return str(law).replace(" * ", " ")


# -- figures -----------------------------------------------------------------------------------------------------------


def success_figure(result: Result) -> Figure:
    """Draw success and basin against T, success against flips, and moving digits."""
    s = result.data["settings"]
    figure, ((success, basins), (cues, digits)) = plt.subplots(2, 2, figsize=(9.6, 7.2), layout="constrained")
    colors = dict(zip(NAMES, (plots.BLUE, plots.GREEN, plots.ORANGE, plots.GREY, plots.RED), strict=True))
    short = {name: words.partition(",")[0] for name, words in NAMES.items()}
    for k, (name, words) in enumerate(NAMES.items()):
        rows, line = result.rows(part="length", network=name), {"color": colors[name], "label": words}
        draw_successes(rows, "T", shift=0.005 * max(s["lengths"]) * (k - 2), ax=success, **line)
        _draw_percent(basins, rows, "T", [100 * row["basin"] for row in rows], linewidth=1.4, **line)
    for ax in (success, basins):
        for T in (s["M"] + 1, 2 * s["M"] + 1):
            ax.axvline(T, color=plots.GREY, linewidth=0.8, linestyle=":")
        ax.set_xlabel("period length T (dotted: M + 1, 2M + 1)")
    figure.legend(*basins.get_legend_handles_labels(), fontsize=8, ncols=3, loc="outside upper center")
    for k, name in enumerate(("sparse", "paper", ONE_HOT)):
        for T, dash in zip(s["cue_lengths"], ("-", "--"), strict=True):
            rows, line = result.rows(part="flips", network=name, T=T), {"color": colors[name], "linestyle": dash}
            draw_successes(rows, "flips", shift=0.2 * k, label=f"{short[name]}, T = {T}", ax=cues, **line)
    for name in ("dense", "sparse", "paper", ONE_HOT):  # the first two lie on each other
        rows = result.rows(part="digits", network=name)
        recalled = [100 * np.mean(row["recalled"]) / row["stored"] for row in rows]
        _draw_percent(digits, rows, "stored", recalled, color=colors[name], label=short[name])
    basins.set(ylabel="basin, %")
    cues.set(xlabel="flipped units of the cue", xticks=s["cue_flips"])
    digits.set(xlabel="stored sequences of moving digits", xticks=s["digits"]["stored"], ylabel="all frames exact, %")
    for ax in (cues, digits):  # above the panels, where no interval can lie
        ax.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _draw_percent(ax: Axes, rows: list[Row], x: str, percent: list[Any], **line: Any) -> None:
    """Draw a line of percentages that have no interval."""
    ax.plot([row[x] for row in rows], percent, "o-", markersize=4, **line)
    ax.set(ylim=(-4, 104))
    ax.grid(visible=True)


def ablation_figure(result: Result) -> Figure:
    """Draw the basin with one thing changed, a panel for each length, with the successes beside the bars."""
    names, lengths = list(result.data["settings"]["ablations"]), result.data["settings"]["ablation_lengths"]
    size = (3.4 + 2.6 * len(lengths), 0.6 + 0.3 * len(names))
    figure, axes = plt.subplots(1, len(lengths), figsize=size, sharey=True, squeeze=False, layout="constrained")
    for ax, T in zip(axes[0], lengths, strict=True):
        rows = [result.rows(part="ablation", options=name, T=T)[0] for name in names]
        basins = [100 * row["basin"] for row in rows]
        ax.barh(names, basins, color=[plots.BLUE] + [plots.GREY] * (len(rows) - 1), height=0.7)
        ax.axvline(basins[0], color=plots.BLUE, linewidth=1, linestyle=":")
        for place, row in enumerate(rows):
            ax.text(103, place, _counted(row), va="center", fontsize=8)
        ax.set(xlim=(0, 122), xticks=[0, 25, 50, 75, 100], xlabel="basin, %; beside it success", title=f"T = {T}")
        ax.grid(axis="x")
    axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
    return figure


def limits_figure(result: Result) -> Figure:
    """Draw bits per weight and loads as fractions of theory's limits against T, and Gardner's limit."""
    rows = loads(result)
    figure, (bits, fractions, gardner) = plt.subplots(1, 3, figsize=(13.2, 4.2), layout="constrained")
    stored = [row["stored"] for row in rows]
    T = [row["T"] for row in rows]
    _draw_bits(result, bits)
    lines = {
        "V, of Cover's limit": ([row["visible_load"] / COVER for row in rows], plots.BLUE),
        "U, of Gardner's limit": ([row["hidden_load"] / row["gardner"] for row in rows], plots.ORANGE),
    }
    for label, (values, color) in lines.items():
        fractions.plot(T, values, color=color, label=label, linewidth=1.4)
        _draw_reached(fractions, T, values, stored, color)
    fractions.axhline(1, color=plots.GREY, linewidth=0.9, linestyle=":")
    fractions.set(xlabel="period length T", ylabel="fraction of the limit", ylim=(0, None), title="load of the two layers")
    _draw_gardner(result, gardner)
    _draw_reached(gardner, [row["active"] for row in rows], [row["hidden_load"] for row in rows], stored, plots.BLUE)
    gardner.plot([], [], "o", color=plots.BLUE, markersize=5, label="sparse")
    for ax, place in ((bits, "lower right"), (fractions, "lower right"), (gardner, "upper right")):
        _legend_and_grid(ax, place)
    return figure


def _legend_and_grid(ax: Axes, place: Any) -> None:
    """Add a small legend and a grid."""
    ax.legend(fontsize=8, loc=place)
    ax.grid(visible=True)


def _draw_reached(ax: Axes, x: list[Any], y: list[Any], stored: list[bool], color: str, size: float = 26) -> None:
    """Draw points, filled where sequences are retrieved."""
    faces = [color if yes else mpl.rcParams["axes.facecolor"] for yes in stored]
    ax.scatter(x, y, s=size, color=faces, edgecolors=color, zorder=3)


def _draw_bits(result: Result, ax: Axes) -> None:
    """Draw bits for each weight against T: the sparse network, the paper's rule, and memories that store the patterns."""
    s = result.data["settings"]
    N, M = s["N"], s["M"]
    lines = (("paper", "the paper's rule", plots.ORANGE, 110), ("sparse", "sparse", plots.BLUE, 26))
    for name, words, color, area in lines:  # the same load is the same place: the larger points lie below
        rows = result.rows(part="length", network=name)
        if name == "paper":  # its shorter sequences are those of the flips
            short = result.rows(part="flips", network=name, flips=s["cue_flips"][0])
            rows = list({row["T"]: row for row in (*short, *rows)}.values())
        rows.sort(key=lambda row: int(row["T"]))
        T = [row["T"] for row in rows]
        values = [bits_per_weight(t, N, M) for t in T]
        ax.plot(T, values, color=color, label=words, linewidth=1.4)
        _draw_reached(ax, T, values, [_stored(row) for row in rows], color, area)
    ax.axhline(0.5, color=plots.RED, linewidth=1.2, linestyle="-.", label="dense, one-hot: keys and values")
    full = bits_per_weight(round(COVER * M) + 1, N, M)
    ax.axhline(full, color=plots.GREY, linewidth=0.9, linestyle=":", label="Cover's limit of V")
    ax.set(xlabel=f"period length T (filled: at least {ENOUGH:.0%} success)", ylabel="bits per weight", ylim=(0, None))
    ax.set_title(f"N = {N}, M = {M}")


def _draw_gardner(result: Result, ax: Axes) -> None:
    """Draw Gardner's limit against the coding level, with its growth for few active neurons, and the paper's rule."""
    f = np.geomspace(1e-3, 0.5, 80)
    few = f[f < 0.2]
    ax.plot(f, [gardner_capacity(x) for x in f], color=plots.GREY, label="Gardner's limit")
    ax.plot(few, 1 / (2 * few * np.log(1 / few)), color=plots.GREY, linestyle=":", label="1 / (2 f ln(1/f))")
    tried = [row for part in ("length", "flips") for row in result.rows(part=part, network="paper")]
    retrieved = [row for row in tried if _stored(row)]
    if retrieved:
        longest = max(retrieved, key=lambda row: int(row["T"]))
        place = [(longest["T"] - 1) / longest["N"]]
        ax.scatter([0.5], place, s=32, color=plots.ORANGE, zorder=3, label="the paper's rule")
    ax.set(xscale="log", yscale="log", xlabel="coding level f: active hidden neurons", ylabel="patterns for each input of U")
    ax.set_title("what a hidden neuron can hold")


def inside_figure(result: Result) -> Figure:
    """Draw first steps, ends of lost starts, proven and measured flips, and curves of robustness."""
    s, rows = result.data["settings"], result.rows(part="inside")
    T = [row["T"] for row in rows]
    figure, ((first, ends), (proven, curves)) = plt.subplots(2, 2, figsize=(10.4, 7.2), layout="constrained")
    counts = np.array([row["counts"] for row in rows], dtype=float)
    share = 100 * counts / counts.sum(axis=(1, 2), keepdims=True)
    for k, (name, color) in enumerate(zip(FIRST_STEPS, (plots.BLUE, plots.ORANGE, plots.GREEN, plots.RED), strict=True)):
        if k:
            first.plot(T, share[:, k].sum(axis=1), "o-", markersize=4, color=color, label=f"{name}: all starts")
        words = "lost although right" if not k else f"{name}: lost"
        first.plot(T, share[:, k, 1:].sum(axis=1), "--", linewidth=1.2, color=color, label=words)
    first.set(ylabel=f"starts with {s['flips']} flips, %", title="hidden neurons in the first step", ylim=(0, None))
    lost = share[:, :, 1:].sum(axis=1)
    ends.stackplot(T, *lost.T, labels=ENDS[1:], colors=[END_COLORS[end] for end in ENDS[1:]], alpha=0.85)
    ends.set(ylabel=f"starts with {s['flips']} flips, %", title="where lost starts end", ylim=(0, None))
    flips = np.array(s["robust_flips"], dtype=float)
    for rate, words, marker, color in ((0.5, "half", "o-", plots.BLUE), (0.95, "95 %", "s-", plots.GREEN)):
        borne = [flips_at(flips, np.array(row["right"]), rate) for row in rows]
        proven.plot(T, borne, marker, markersize=4, color=color, label=f"{words} of the steps right, random flips")
    proven.plot(T, [row["radius"] for row in rows], "D-", markersize=4, color=plots.ORANGE, label="proven for any flips, mean")
    proven.plot(T, [row["least_radius"] for row in rows], ":", color=plots.ORANGE, label="proven for any flips, least")
    proven.set(ylabel="flipped units", title="flips that a step withstands", ylim=(0, None))
    for k, row in enumerate(rows):
        shade = mpl.colormaps["viridis"](0.9 * k / max(len(rows) - 1, 1))
        curves.plot(flips, [100 * x for x in row["right"]], "o-", markersize=3, color=shade, label=f"T = {row['T']}")
    for ax, place in ((first, "upper left"), (ends, "upper left"), (proven, "upper right"), (curves, "lower left")):
        _legend_and_grid(ax, place)
        ax.set_xlabel("period length T")
    curves.set(xlabel="random flips", ylabel="next pattern exact, %", title="one step from a stored pattern", ylim=(-4, 104))
    return figure


def flips_at(flips: Any, rates: Any, level: float) -> float:
    """Return the flips at which a falling curve crosses a level; NaN if it starts below, the last number if it never does."""
    below = np.flatnonzero(rates < level)
    if not below.size:
        return float(flips[-1])
    k = int(below[0])
    if not k:
        return float("nan")
    return float(flips[k - 1] + (rates[k - 1] - level) / (rates[k - 1] - rates[k]) * (flips[k] - flips[k - 1]))


def scaling_figure(result: Result) -> Figure:
    """Draw the longest sequence with 95 % success against M, with laws, and the capacity of one unit per pattern."""
    laws, rows = scaling_laws(result), result.rows(part="scaling")
    widths = sorted({row["N"] for row in rows})
    size = (1 + 3.4 * len(widths), 4.4)
    figure, axes = plt.subplots(1, len(widths), figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained")
    colors = dict(zip(SCALED, (plots.BLUE, plots.ORANGE, plots.RED), strict=True))
    M = np.array(sorted({row["M"] for row in rows if row["M"] is not None}), dtype=float)
    fine = np.geomspace(M[0] / 1.1, M[-1] * 1.1, 40)
    for ax, N in zip(axes[0], widths, strict=True):
        ax.plot(fine, 2 * fine, color=plots.GREY, linewidth=0.9, linestyle=":", label="T = 2M, Cover's limit of V")
        ax.plot(fine, fine + 1, color=plots.GREY, linewidth=0.9, label="T = M + 1, one unit per pattern")
        for name, words in SCALED.items():
            these = [row for row in rows if row["network"] == name and row["N"] == N and row["t95"] > 1]
            if these and these[0]["M"] is None:  # it has no hidden neurons to choose
                ax.axhline(these[0]["t95"], color=colors[name], linewidth=1.2, linestyle="-.", label=words)
                continue
            t, low, high = (np.array([row[key] for row in these], dtype=float) for key in ("t95", "t95_low", "t95_high"))
            reach = np.maximum([t - low, high - t], 0)
            place = [row["M"] for row in these]
            ax.errorbar(place, t, yerr=reach, fmt="o", color=colors[name], markersize=5, capsize=2, label=words)
            law = laws.get(name)
            if law is not None:
                ax.plot(fine, [law({"n": N, "m": m, "sequences": 1}) for m in fine], "--", color=colors[name], linewidth=1.2)
        ax.set(xscale="log", yscale="log", xlabel="hidden neurons M", title=f"N = {N}, {N // 10} flips")
        ax.set_xticks(M, labels=[f"{m:g}" for m in M])
        ax.minorticks_off()
        ax.grid(visible=True)
    low, high = axes[0, 0].get_ylim()
    axes[0, 0].set_ylim(max(low, 4), high)
    ticks = [t for t in (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if max(low, 4) <= t <= high]
    axes[0, 0].set_yticks(ticks, labels=[str(t) for t in ticks])
    axes[0, 0].set_ylabel("longest T with 95 % success")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=8, ncols=3, loc="outside lower center")
    return figure


TARGET = _CapacityPage(
    name="capacity",
    title="Capacity, beyond the paper",
    trial="capacity:store_sequences",
    about="Random periodic sequences, default settings of every network (one-hot is told the number of flips); N = 100 visible "
    "and M = 500 hidden neurons, fewer in the quick version. Success is the criterion of section 6.2 from the first pattern with "
    "a tenth of the units flipped. The basin is stricter: the fraction of all patterns from which, with as many flips, the "
    "network is exactly on the sequence and in phase after 25 steps. Moving digits: a sequence counts if all frames after the "
    "corrupted first one are exact.",
)
