"""Section 6.2: how often a network retrieves a random periodic sequence from a corrupted first pattern."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from seqattractor.analysis._retrieval import retrieved
from seqattractor.datasets._random import random_periodic
from seqattractor.networks._attractor import SequenceAttractor
from seqattractor.noise import flip
from seqattractor.paper import numbers
from seqattractor.paper.agreement import compare, describe
from seqattractor.paper.settings import LEARNING, RANDOM_SEQUENCES, RECALL_PERIODS, Request
from seqattractor.paper.target import Cell, Outcome, Result, Target, Verdict, count_successes

__all__ = ["WAYS", "RandomSequences", "retrieval_trial"]

WAYS = {"V": "Learning only V", "UV": "Learning U and V"}


def retrieval_trial(T: int, N: int, M: int, flips: int, rng: np.random.Generator, **parameters: Any) -> bool:
    """Store one random sequence in one network and try to retrieve it; True if the criterion of section 6.2 holds."""
    X = random_periodic(T, N, rng=rng)
    net = SequenceAttractor(n_hidden=M, random_state=rng, engine="exact", n_jobs=1, **LEARNING, **parameters).fit(X)
    cue = flip(X[0], flips, rng=rng)
    return retrieved(net.recall(cue, steps=RECALL_PERIODS * T), X)


class RandomSequences(Target):
    """Tables 1 and 2 and the two halves of figure 5."""

    varied: ClassVar[str]
    """What differs between cells, beside the way of learning: "T" or "M"."""

    def cells(self, request: Request) -> list[Cell]:
        """Every T and M with both ways of learning."""
        grid = RANDOM_SEQUENCES[self.experiment]
        return [
            {"T": T, "M": M, "N": RANDOM_SEQUENCES["N"], "flips": RANDOM_SEQUENCES["flips"], "learn": learn}
            for learn in WAYS
            for T in grid["T"]
            for M in grid["M"]
        ]

    def trial(self, cell: Cell, rng: np.random.Generator, number: int) -> Outcome:
        """One network, one sequence, one cue."""
        return {"success": retrieval_trial(**cell, rng=rng)}

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Count the successes of each cell."""
        table = {"table1": numbers.TABLE_1, "table2": numbers.TABLE_2}[self.experiment]
        rows = []
        for cell, trials in outcomes:
            of_paper = table[cell["learn"]][cell[self.varied]]
            rows.append({key: cell[key] for key in ("T", "M", "learn")} | count_successes(trials) | {"paper": of_paper})
        settings = {
            **{key: RANDOM_SEQUENCES[key] for key in ("N", "flips")},
            **LEARNING,
            "recall_steps": f"{RECALL_PERIODS} T",
            "trials": request.trials,
            "seed": request.seed,
        }
        return Result({"settings": settings, "rows": rows})

    def verdict(self, result: Result) -> Verdict:
        """Agreement by Fisher's exact test."""
        return describe(compare(result.data["rows"]), [self.varied, "learn"])

    def csv_rows(self, result: Result) -> list[dict[str, Any]]:
        """The rows with both ends of the interval and the p-values."""
        return [
            {
                **{key: value for key, value in c.row.items() if key != "interval"},
                "low": c.row["interval"][0],
                "high": c.row["interval"][1],
                "p": c.p,
                "p_holm": c.p_holm,
            }
            for c in compare(result.data["rows"])
        ]
