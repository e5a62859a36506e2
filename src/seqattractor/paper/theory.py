"""Figure 2, the network; figure 3, x decoded from sign(P x) by V = P+ or P^T; and the theorems on
random instances.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from seqattractor import plots, rule
from seqattractor.datasets._random import random_periodic
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.one_hot import OneHotNetwork
from seqattractor.paper.settings import LEARNING, RECONSTRUCTION
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target
from seqattractor.report.page import Line, Table, Verdict
from seqattractor.rule import sign
from seqattractor.sequences import Sequences


def step_network(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Draw U (M x N) and V (N x M), and step from every visible state by single connections and by
    the package's rule.
    """
    rng = np.random.default_rng(seed)
    N, M = settings["N"], settings["M"]
    U, V = rng.standard_normal((M, N)), rng.standard_normal((N, M))
    for xi in product((-1, 1), repeat=N):
        zeta = [
            1 if sum(U[i, k] * xi[k] for k in range(N)) >= 0 else -1 for i in range(M)
        ]  # eq. (2)
        following = [
            1 if sum(V[j, k] * zeta[k] for k in range(M)) >= 0 else -1 for j in range(N)
        ]  # eq. (3)
        hidden = rule.hidden_state(U, np.array(xi, dtype=np.float64))
        if (
            hidden.tolist() != zeta
            or rule.visible_state(V, hidden.astype(np.float64)).tolist() != following
        ):
            return {"equal": False}
    return {"equal": True}


def reconstruct_pattern(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Draw one P (M x N, "gaussian" or "uniform") and one x, and decode both ways; outcomes are
    sums of |errors|.
    """
    rng = np.random.default_rng(seed)
    shape = settings["M"], settings["N"]
    P = rng.standard_normal(shape) if settings["P"] == "gaussian" else rng.uniform(-1.0, 1.0, shape)
    x = rng.choice(np.array([-1, 1], dtype=np.int8), size=settings["N"])
    y = sign(P @ x).astype(np.float64)
    by_inverse = np.linalg.lstsq(P, y, rcond=None)[0]  # P+ y, without forming P+
    return {
        "pseudo_inverse": int(np.abs(x - sign(by_inverse)).sum()),
        "transpose": int(np.abs(x - sign(P.T @ y)).sum()),
    }


Floats = NDArray[np.float64]
EPOCHS = 100_000  # "finitely many"; a network that needs more counts as a failure


def check_theorem(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Check the theorem of this number on one random instance."""
    return {"holds": bool(CHECKS[settings["theorem"]](np.random.default_rng(seed)))}


def theorem_1(rng: np.random.Generator) -> bool:
    """The construction of the proof makes a random sequence of random size."""
    N = int(rng.integers(5, 80))
    T = int(rng.integers(3, min(120, 2 ** min(N, 10))))
    X = random_periodic(T, N, rng=rng)
    net = OneHotNetwork(tolerance=0).fit(X)
    return bool(net.n_hidden_ == T - 1 and np.array_equal(net.recall(X[0], steps=T - 1), X))


def theorem_2(rng: np.random.Generator) -> bool:
    """Learning from zero reaches zero errors where a solution is known to exist.

    Linearly independent patterns can be mapped onto any hidden targets, and linearly independent
    hidden targets onto any visible ones; instances without that are drawn again.
    """
    while True:
        T, N, M = int(rng.integers(3, 30)), int(rng.integers(35, 60)), int(rng.integers(60, 120))
        X = random_periodic(T, N, rng=rng)
        parameters = {**LEARNING, "init_scale": 0.0, "max_epochs": EPOCHS}
        net = SequenceAttractor(M, random_state=rng, engine="exact", n_jobs=1, **parameters).fit(X)
        z = rule.sign(X[1:].astype(np.float64) @ net.P_.T)
        if (
            np.linalg.matrix_rank(X[:-1].astype(float))
            == np.linalg.matrix_rank(z.astype(float))
            == T - 1
        ):
            return bool(net.converged_)


def theorem_3(rng: np.random.Generator) -> bool:
    """A rate above (kappa + |U x|) / N leaves no hidden error at this transition."""
    n_in, n_out = rng.integers(2, 60, size=2)
    x, U, z = (
        rng.choice([-1.0, 1.0], size=n_in),
        rng.standard_normal((n_out, n_in)),
        rng.choice([-1.0, 1.0], size=n_out),
    )
    return _one_step_is_enough(rule.update_hidden, U, x, z, float(rng.uniform(0.1, 10.0)))


def theorem_3_for_V(rng: np.random.Generator) -> bool:
    """A rate above (kappa + |V y|) / M leaves no visible error at this transition."""
    M, N = rng.integers(2, 60, size=2)
    x, U = rng.choice([-1.0, 1.0], size=N), rng.standard_normal((M, N))
    y = rule.hidden_state(U, x).astype(np.float64)  # eq. (7)
    V, x_next = rng.standard_normal((N, M)), rng.choice([-1.0, 1.0], size=N)
    return _one_step_is_enough(rule.update_visible, V, y, x_next, float(rng.uniform(0.1, 10.0)))


def _one_step_is_enough(
    update: Callable[..., int], weights: Floats, state: Floats, target: Floats, kappa: float
) -> bool:
    """Return whether one step at a rate just above the bound of the proof removes all errors, of
    which there were some.
    """
    eta = 1.01 * (kappa + np.abs(weights @ state).max()) / len(state)
    before = update(weights, state, target, kappa=kappa, eta=eta)
    return before > 0 and update(weights, state, target, kappa=kappa, eta=eta) == 0


def theorem_4(rng: np.random.Generator) -> bool:
    """Hidden states perturbed as far as the bound allows give the next pattern: x(t+1) = sign(V
    y').
    """
    X, net = _learned(rng)
    y = net.hidden(X[:-1])
    return net.converged_ and withstands(net.V_, y, X[1:], rng)


def theorem_4_for_U(rng: np.random.Generator) -> bool:
    """Visible states perturbed as far as the bound allows give the hidden states: y(t) = sign(U
    x').
    """
    X, net = _learned(rng)
    return net.converged_ and withstands(net.U_, X[:-1], net.hidden(X[:-1]), rng)


def _learned(rng: np.random.Generator) -> tuple[Sequences, SequenceAttractor]:
    """Return a random sequence of random size, and a network that learned it until no error was
    left.
    """
    T, N, M = int(rng.integers(5, 25)), int(rng.integers(40, 80)), int(rng.integers(100, 300))
    X = random_periodic(T, N, rng=rng)
    net = SequenceAttractor(
        M, random_state=rng, engine="exact", n_jobs=1, **{**LEARNING, "max_epochs": EPOCHS}
    ).fit(X)
    return X, net


def withstands(
    weights: Floats, states: ArrayLike, wanted: ArrayLike, rng: np.random.Generator
) -> bool:
    """Return whether every neuron gives the wanted answers, (n, out), to states, (n, in), with
    flips that Theorem 4 allows.

    As many inputs as epsilon max |w| < kappa allows are flipped: the worst for the neuron, and
    random ones.
    """
    given, answers = np.asarray(states, dtype=np.float64), np.asarray(wanted)
    epsilon = LEARNING["kappa"] / np.abs(weights).max(
        axis=1
    )  # for each neuron; sum |y' - y| must stay below it
    for y, targets in zip(given, answers, strict=True):
        for w, target, bound in zip(weights, targets, epsilon, strict=True):
            flips = min(int(np.ceil(bound / 2)) - 1, len(y))  # each flip changes y by 2
            worst = np.argsort(-target * w * y)[:flips]
            for flipped in (worst, rng.permutation(len(y))[:flips]):
                perturbed = y.copy()
                perturbed[flipped] *= -1.0
                if rule.sign(w @ perturbed) != target:
                    return False
    return True


CHECKS = {
    "1": theorem_1,
    "2": theorem_2,
    "3": theorem_3,
    "3 for V": theorem_3_for_V,
    "4": theorem_4,
    "4 for U": theorem_4_for_U,
}


DECODERS = {"pseudo_inverse": "V = P⁺", "transpose": "V = Pᵀ"}
LINES = {
    "pseudo_inverse": ("$V = P^+$", plots.BLUE, "-"),
    "transpose": (r"$V = P^\top$", plots.ORANGE, "--"),
}
STATEMENTS = {
    "1": "Any sequence of distinct patterns with x(1) = x(T) "
    "is made by a network with M = T - 1 hidden neurons.",
    "2": "If weights without errors exist, learning from zero weights ends in finitely many steps.",
    "3": "One step of learning removes the error of a hidden neuron if the rate is large enough.",
    "3 for V": "The same for a visible neuron and V.",
    "4": "Without errors, hidden states perturbed by less than kappa / max |V| "
    "still give the next pattern.",
    "4 for U": "The same for U: visible states perturbed by less than kappa / max |U| "
    "still give the hidden states.",
}
"""By theorem; "for" marks the two extensions that the paper states."""


class _Figure2(Target):
    """Figure 2, a drawing; random networks check that it shows the network that this package
    runs.
    """

    def cells(self, request: Request) -> list[Cell]:
        return [{"N": 5, "M": 4}]

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        return [
            {**cell, "networks": len(trials), "equal": sum(outcome["equal"] for outcome in trials)}
        ]

    def verdict(self, result: Result) -> Verdict:
        [row] = result.rows()
        words = (
            f"{row['equal']} of {row['networks']} random networks of N = {row['N']} and M = "
            f"{row['M']} neurons"
        )
        return Verdict(
            row["equal"] == row["networks"],
            f"The steps of {words} are those of the network drawn, neuron by neuron.",
        )

    def figure(self, result: Result) -> Figure:
        figure, ax = plt.subplots(figsize=(8.0, 2.6))
        [row] = result.rows()
        plots.network_diagram(row["N"], row["M"], ax=ax)
        return figure


class _Figure3(Target):
    """Figure 3."""

    def cells(self, request: Request) -> list[Cell]:
        return [
            {"P": P, "M": M, "N": RECONSTRUCTION["N"]}
            for P in RECONSTRUCTION["P"]
            for M in RECONSTRUCTION["M"]
        ]

    def settings(self, request: Request) -> dict[str, Any]:
        return {"N": RECONSTRUCTION["N"], "trials": request.trials}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        rows = []
        for decoder in DECODERS:
            errors = [outcome[decoder] for outcome in trials]
            spread = (
                float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else None
            )
            mean = {
                "trials": len(trials),
                "mean_error": float(np.mean(errors)),
                "standard_error": spread,
            }
            rows.append({"P": cell["P"], "V": decoder, "M": cell["M"], **mean})
        return rows

    def verdict(self, result: Result) -> Verdict:
        values, n = [row["M"] for row in result.rows()], result.data["settings"]["N"]
        first, last = (
            [row["mean_error"] for row in result.rows(M=M)] for M in (min(values), max(values))
        )
        return Verdict(
            max(last) < 0.02 * n < min(first),
            f"The mean error falls from at least {min(first):.0f} at M = {min(values)} to at most "
            f"{max(last):.2g} at M = {max(values)} (of {2 * n} possible), for both matrices V and "
            "both distributions of P alike. The paper's curves fall to zero too; it gives no "
            "numbers.",
        )

    def tables(self, result: Result) -> list[Table]:
        lines: list[Line] = [
            (
                f"{P.capitalize()}, {words}",
                result.rows(P=P, V=decoder),
                "{mean_error:.1f}".format_map,
            )
            for P in RECONSTRUCTION["P"]
            for decoder, words in DECODERS.items()
        ]
        return [Table.over("M", lines)]

    def figure(self, result: Result) -> Figure:
        figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2), sharey=True)
        for ax, P in zip(axes, RECONSTRUCTION["P"], strict=True):
            for decoder, (label, color, dash) in LINES.items():
                rows = result.rows(P=P, V=decoder)
                x, y = [row["M"] for row in rows], [row["mean_error"] for row in rows]
                spread = [row["standard_error"] or 0.0 for row in rows]
                ax.errorbar(
                    x, y, yerr=spread, fmt=f"o{dash}", color=color, markersize=3.5, label=label
                )
            ax.set(title=P.capitalize(), xlabel="hidden neurons M")
            ax.grid(visible=True)
            ax.legend(loc="upper right")
        axes[0].set_ylabel("reconstruction error")
        axes[0].set_ylim(bottom=0)
        return figure


class _Theorems(Target):
    """Theorems 1 to 4 and their extensions."""

    def cells(self, request: Request) -> list[Cell]:
        return [{"theorem": name} for name in STATEMENTS]

    def settings(self, request: Request) -> dict[str, Any]:
        return {**LEARNING, "trials": request.trials}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        name, held = cell["theorem"], sum(outcome["holds"] for outcome in trials)
        return [
            {"theorem": name, "statement": STATEMENTS[name], "instances": len(trials), "held": held}
        ]

    def verdict(self, result: Result) -> Verdict:
        failed = [row for row in result.rows() if row["held"] < row["instances"]]
        total = sum(row["instances"] for row in result.rows())
        if not failed:
            return Verdict(
                True, f"All four theorems and both extensions held in all {total} random instances."
            )
        words = ", ".join(
            f"theorem {row['theorem']} in {row['held']} of {row['instances']}" for row in failed
        )
        return Verdict(False, f"Held in fewer instances than were tried: {words}.")

    def tables(self, result: Result) -> list[Table]:
        return [
            Table.of(
                result.rows(),
                {"Theorem": "{theorem}. {statement}", "held in": "{held} of {instances}"},
            )
        ]

    def figure(self, result: Result) -> Figure:
        rows = result.rows()
        figure, ax = plt.subplots(figsize=(6.4, 2.9))
        labels = [f"theorem {row['theorem']}" for row in rows]
        bars = ax.barh(
            labels, [100 * row["held"] / row["instances"] for row in rows], color=plots.BLUE
        )
        ax.bar_label(
            bars,
            [f"{row['held']} of {row['instances']}" for row in rows],
            label_type="center",
            color="white",
        )
        ax.set(xlim=(0, 100), xlabel="instances in which it held, %")
        ax.invert_yaxis()
        return figure


FIGURE_2 = _Figure2(
    name="fig2",
    title="Figure 2",
    trial="theory:step_network",
    about="The network with hidden neurons, and one step of it as a feedforward network, drawn by "
    "this package. Filled circles are visible neurons, empty ones hidden. Networks with random "
    "weights are run beside the drawing, eqs. (2) and (3), connection by connection, from all 32 "
    "visible states.",
)
FIGURE_3 = _Figure3(
    name="fig3",
    title="Figure 3",
    trial="theory:reconstruct_pattern",
    about="The reconstruction error |x - sign(V sign(P x))|, summed over N = 100 units (each wrong "
    "one counts 2), for a random M x N matrix P and a random x. The paper does not list its values "
    "of M.",
)
THEOREMS = _Theorems(
    name="theorems",
    title="Theorems 1 to 4 and their extensions",
    trial="theory:check_theorem",
    about="Each theorem is checked on random instances of random size, and so are the two "
    "extensions that the paper states: theorem 3 for V, and theorem 4 for U. Theorem 4 is put to "
    "as many flips as it allows for each neuron, in the worst places for it and in random ones.",
)
