"""Figure 8: errors during learning, on gait and on digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqattractor.paper.pictures import PictureTarget
from seqattractor.paper.settings import DIGITS, GAIT, LEARNING
from seqattractor.paper.target import Cell, Outcome, Request, Result
from seqattractor.report.page import Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {"gait": "(a) gait", "digits": "(b) moving digits"}


class Figure8(PictureTarget):
    """Curves of the errors of both layers."""

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """The curves of every network."""
        rows = [
            {
                "data": cell["data"],
                "network": number + 1,
                "converged": outcome["converged"],
                "epochs": outcome["epochs"],
                "hidden_errors_per_neuron": outcome["hidden_errors"],
                "visible_errors_per_neuron": outcome["visible_errors"],
            }
            for cell, trials in outcomes
            for number, outcome in enumerate(trials)
        ]
        settings = {"gait": GAIT, "digits": DIGITS, **LEARNING, "seed": request.seed}
        return Result({"settings": settings, "rows": rows})

    def csv_rows(self, result: Result) -> list[dict[str, object]]:
        """One line for each epoch of each network."""
        return [
            {"data": row["data"], "network": row["network"], "epoch": epoch, "hidden": hidden, "visible": visible}
            for row in result.data["rows"]
            for epoch, (hidden, visible) in enumerate(
                zip(row["hidden_errors_per_neuron"], row["visible_errors_per_neuron"], strict=True), start=1
            )
        ]

    def verdict(self, result: Result) -> Verdict:
        """Both errors should reach zero."""
        parts = []
        for data, name in (("gait", "gait"), ("digits", "moving digits")):
            rows = [row for row in result.data["rows"] if row["data"] == data]
            done = [row["epochs"] for row in rows if row["converged"]]
            when = f" (epoch {min(done)} to {max(done)})" if len(set(done)) > 1 else f" (epoch {done[0]})" if done else ""
            parts.append(f"{len(done)} of {len(rows)} on {name}{when}")
        return Verdict(
            all(row["converged"] for row in result.data["rows"]),
            f"In the paper both errors fall to zero; here within {LEARNING['max_epochs']} epochs in this many networks: "
            f"{' and '.join(parts)}.",
        )

    def tables(self, result: Result) -> list[Table]:
        """When each error was gone."""
        lines = [
            [
                f"{NAMES[row['data']]}, network {row['network']}",
                _first_zero(row["hidden_errors_per_neuron"]),
                _first_zero(row["visible_errors_per_neuron"]),
            ]
            for row in result.data["rows"]
        ]
        return [Table(["", "no hidden error from epoch", "no visible error from epoch"], lines)]

    def figure(self, result: Result) -> Figure:
        """A panel for each data set with the curves of its first network."""
        from matplotlib import pyplot as plt

        from seqattractor import plots

        figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2))
        for ax, (data, name) in zip(axes, NAMES.items(), strict=True):
            row = next(row for row in result.data["rows"] if row["data"] == data)
            plots.error_curves(row["hidden_errors_per_neuron"], row["visible_errors_per_neuron"], ax=ax)
            ax.set_title(name)
        return figure


def _first_zero(errors: list[float]) -> str:
    """The epoch from which on there was no error, as text."""
    last = max((epoch for epoch, error in enumerate(errors, start=1) if error > 0), default=0)
    return str(last + 1) if last < len(errors) else "never"


TARGET = Figure8(
    name="fig8",
    title="Figure 8",
    uses=(("gait", "UV"), ("digits", "UV")),
    about="The errors of the networks of figures 6 and 7 in every epoch, per neuron. Learning ends after the first epoch "
    "without an error, since all later epochs would change nothing.",
)
