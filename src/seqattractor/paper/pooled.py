"""Tables 1 and 2 together: do we succeed more often than the paper, and do T distinct patterns
instead of T - 1 explain it?

In section 6.2 x(1), ..., x(T) are distinct except that x(T) = x(1), which makes T - 1 distinct
patterns; but T is also called the "period length", and with that taken at its word there are T of
them. One more pattern is a little harder to store.
"""

from typing import Any

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.paper import agreement
from seqattractor.paper.agreement import LEVEL, Pooled, pool, pool_with_paper
from seqattractor.paper.retrieval import FIXED, OF_PAPER, TABLE_1, TABLE_2, WAYS
from seqattractor.paper.settings import LEARNING
from seqattractor.paper.target import (
    Cell,
    Outcome,
    Request,
    Result,
    Row,
    Target,
    count_successes,
    flat_interval,
)
from seqattractor.report.page import Table, Verdict
from seqattractor.study.settings import PERIODS

TABLES = {"table1": TABLE_1, "table2": TABLE_2}
READINGS = {"T - 1": 1, "T": 0}
"""How many distinct patterns a sequence has, in words, and by how many fewer than T that is."""
COLORS = {"T - 1": plots.BLUE, "T": plots.ORANGE}


class _PooledTables(Target):
    """The trials of both tables, and as many again with T distinct patterns."""

    def cells(self, request: Request) -> list[Cell]:
        return [cell for *_, cell in _plan(request)]

    def experiments(self, request: Request) -> list[str]:
        return [table for _, table, _ in _plan(request)]

    def settings(self, request: Request) -> dict[str, Any]:
        return {**FIXED, **LEARNING, "recall_steps": f"{PERIODS} periods", "trials": request.trials}

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        rows: list[Row] = []
        for (reading, table, cell), (_, trials) in zip(_plan(request), outcomes, strict=True):
            paper = OF_PAPER[table][cell["learn"]][cell[TABLES[table].varied]]
            place = {"distinct": reading, "table": table} | {
                key: cell[key] for key in ("T", "M", "learn")
            }
            rows.append(place | count_successes(trials) | {"paper": paper})
        result = Result(
            {"settings": {**self.settings(request), "seed": request.seed}, "rows": rows}
        )
        pooled = [
            {
                "distinct": reading,
                "part": part,
                "odds_ratio": one.odds_ratio,
                "interval": one.interval,
                "p": one.p,
            }
            for reading in READINGS
            for part, one in _parts(result, reading).items()
        ]
        result.data["pooled"] = [
            row | {"odds_ratio": None} if row["interval"] is None else row for row in pooled
        ]
        return result

    def verdict(self, result: Result) -> Verdict:
        [literal, other] = (pool_with_paper(result.rows(distinct=reading)) for reading in READINGS)
        pairs = zip(result.rows(distinct="T"), result.rows(distinct="T - 1"), strict=True)
        step = pool([(a["successes"], a["trials"], b["successes"], b["trials"]) for a, b in pairs])
        text = (
            "With T - 1 distinct patterns, as section 6.2 is worded, our successes against the "
            f"paper's: {literal.words()} (Cochran-Mantel-Haenszel test over "
            f"{len(result.rows()) // 2} cells, of which {literal.strata} have successes and "
            f"failures). With T distinct patterns: {other.words()}. The one pattern more, T "
            f"against T - 1 among our own trials: {step.words()}. {_conclusion(literal, other)}"
        )
        few = agreement.caution(max(row["trials"] for row in result.rows()))
        return Verdict(literal.p >= LEVEL, text + few)

    def csv_rows(self, result: Result) -> list[Row]:
        return [flat_interval(row) for row in result.rows()]

    def tables(self, result: Result) -> list[Table]:
        parts = {reading: _parts(result, reading) for reading in READINGS}
        lines = [
            [part, *(parts[reading][part].words() for reading in READINGS)] for part in parts["T"]
        ]
        return [
            Table(
                [
                    "Here against the paper",
                    *(f"{reading} distinct patterns" for reading in READINGS),
                ],
                lines,
            )
        ]

    def figure(self, result: Result) -> Figure:
        figure, ax = plt.subplots(figsize=(7.2, 3.2))
        for k, reading in enumerate(READINGS):
            parts = _parts(result, reading)
            for row, one in enumerate(parts.values()):
                if one.odds_ratio is None or one.interval is None:
                    continue
                y = row + 0.16 * (2 * k - 1)
                ax.plot(one.interval, [y, y], color=COLORS[reading], linewidth=1.6)
                label = f"{reading} distinct patterns" if row == len(parts) - 1 else None
                ax.plot(
                    one.odds_ratio, y, "os"[k], color=COLORS[reading], markersize=6, label=label
                )
        ax.axvline(1.0, color=plots.GREY, linestyle="--", linewidth=1.0)
        ax.set_xscale("log")
        ticks = [0.5, 0.7, 1.0, 1.4, 2.0]
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.set_xticks([], minor=True)
        ax.set_yticks(range(len(parts)), list(parts))
        ax.set_xlabel("odds of success here / in the paper")
        ax.invert_yaxis()
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.0)
        return figure


def _plan(request: Request) -> list[tuple[str, str, Cell]]:
    """Return (reading, table, cell) for every cell; with T - 1 distinct patterns the trials are
    those of the tables.
    """
    return [
        (reading, table, cell if fewer else {**cell, "distinct": cell["T"]})
        for reading, fewer in READINGS.items()
        for table, target in TABLES.items()
        for cell in target.cells(request)
    ]


def _parts(result: Result, reading: str) -> dict[str, Pooled]:
    """Return the pooled ratio of each way of learning in each table, and of everything."""
    parts = {
        f"{target.title}, {words[0].lower()}{words[1:]}": pool_with_paper(
            result.rows(distinct=reading, table=table, learn=learn)
        )
        for table, target in TABLES.items()
        for learn, words in WAYS.items()
    }
    return parts | {"Both tables": pool_with_paper(result.rows(distinct=reading))}


def _conclusion(literal: Pooled, other: Pooled) -> str:
    """Describe whether T distinct patterns explain the difference."""
    if literal.p >= LEVEL:
        return (
            f"At the level {LEVEL} there is no difference with T - 1 that would need an "
            "explanation."
        )
    if other.p >= LEVEL:
        return (
            "T distinct patterns explain the difference, though that does not prove that the "
            "authors stored so many."
        )
    return "T distinct patterns do not explain the difference."


TARGET = _PooledTables(
    name="pooled",
    title="Tables 1 and 2 pooled",
    trial="retrieval:retrieve_sequence",
    about="All cells of both tables in one test, which sees a small difference "
    "of the same direction in many cells. Done with T - 1 distinct patterns in a sequence "
    "of length T, as section 6.2 is worded (the trials of tables 1 and 2), "
    'and again with T, if "period length T" is taken at its word.',
)
