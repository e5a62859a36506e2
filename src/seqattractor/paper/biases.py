"""Beyond the paper: table 1 with learned biases, which the paper leaves out "as they can be absorbed into the equations"."""

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.paper import agreement
from seqattractor.paper.retrieval import AXES, COLORS, WAYS, Counts
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, draw_successes, flat_interval
from seqattractor.report.page import Table, Verdict

NAMES = {False: "without biases", True: "with biases"}


class Biases(Counts):
    """Counts with biases beside those without, which are the trials of table 1."""

    def cells(self, request: Request) -> list[Cell]:
        """Every cell of table 1, without and with biases."""
        without = super().cells(request)
        return [*without, *({**cell, "bias": True} for cell in without)]

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        """Count the successes."""
        return [{**row, "bias": cell.get("bias", False)} for row in super().rows(cell, trials)]

    def verdict(self, result: Result) -> Verdict:
        """In which cells do biases make a difference?"""
        pairs = _pairs(result)
        differing = [
            f"{WAYS[a['learn']]}, T = {a['T']}: {b['successes']} of {b['trials']} with biases, {a['successes']} without"
            for a, b in agreement.differing(pairs)
        ]
        totals = "; ".join(
            f"{WAYS[learn]}: {' and '.join(f'{_total(result, learn, bias)} {NAMES[bias]}' for bias in (True, False))}"
            for learn in WAYS
        )
        found = f"Biases make a difference in {len(differing)} of {len(pairs)} cells"
        cells = f" ({'; '.join(differing)})" if differing else ""
        return Verdict(
            None,
            f"{found}{cells}: two-sided Fisher's exact test of the counts with biases against those without, Holm-corrected over "
            f"all cells, level {agreement.LEVEL}. Successes in all cells together: {totals}. The paper has no such experiment."
            + agreement.caution(max(row["trials"] for row in result.rows())),
        )

    def csv_rows(self, result: Result) -> list[Row]:
        """The rows with both ends of the interval."""
        return [flat_interval(row) for row in result.rows()]

    def tables(self, result: Result) -> list[Table]:
        """Counts with and without biases, one column for each T."""
        lines = []
        for learn, words in WAYS.items():
            for bias, name in NAMES.items():
                rows = _of(result, learn, bias)
                lines += [
                    [f"{words}, {name} (of {rows[0]['trials']})", *(str(row["successes"]) for row in rows)],
                    ["95 % interval, %", *("{:.0f}–{:.0f}".format(*(100 * end for end in row["interval"])) for row in rows)],
                ]
        return [Table(["T", *(str(row["T"]) for row in rows)], lines)]

    def figure(self, result: Result) -> Figure:
        """Success over T with and without biases, both with Wilson intervals."""
        figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2), sharey=True)
        for ax, learn in zip(axes, WAYS, strict=True):
            grey = {"color": plots.GREY, "linestyle": "--", "marker": "s"}
            draw_successes(_of(result, learn, False), "T", shift=0.8, label=NAMES[False], ax=ax, **grey)
            draw_successes(_of(result, learn, True), "T", shift=-0.8, color=COLORS[learn], label=NAMES[True], ax=ax)
            ax.set_xlabel(AXES["T"])
            ax.set_title(WAYS[learn], loc="left")
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.0)
        axes[1].set_ylabel("")
        return figure


def _of(result: Result, learn: str, bias: bool) -> list[Row]:
    """The rows of one way of learning, by T."""
    return sorted(result.rows(learn=learn, bias=bias), key=lambda row: int(row["T"]))


def _pairs(result: Result) -> list[tuple[Row, Row]]:
    """Rows without biases, each with that of the same cell with them."""
    return [pair for learn in WAYS for pair in zip(_of(result, learn, False), _of(result, learn, True), strict=True)]


def _total(result: Result, learn: str, bias: bool) -> str:
    """Successes of all T together."""
    rows = _of(result, learn, bias)
    return f"{sum(row['successes'] for row in rows)} of {sum(row['trials'] for row in rows)}"


TARGET = Biases(
    name="biases",
    experiment="table1",
    title="Table 1 with biases",
    varied="T",
    about="The networks of table 1 with learned biases (bias=True) beside those without. A unit that is always +1 feeds hidden "
    "and visible neurons, and its weights learn by the same rule. Random patterns do not need it; the XOR sequence of section 3 "
    "does.",
)
