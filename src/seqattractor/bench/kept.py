"""Ratios to the plain loop beside those that were kept of an earlier run: a slower commit shows, on whatever machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TOLERANCE = 4 / 3
"""How many times the kept time a case may take before it is called slower: times of a shared machine vary by some tenths."""


def read_ratios(path: Path) -> dict[str, dict[str, Any]]:
    """The cases of a file that `seqattractor bench` wrote, by their names."""
    try:
        cases = {case["case"]: case for case in json.loads(path.read_text())["cases"]}
        ratios = [float(case["ratio"]) for case in cases.values()]
        if not all(0 < ratio < float("inf") for ratio in ratios):
            raise ValueError("a ratio is not above 0")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is not a file of results; write one with `seqattractor bench -o {path}`.") from None
    return cases


def beside(case: dict[str, Any], kept: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The ratio of a case now and as it was kept, or None if that was against another plain loop or with other threads."""
    before = kept.get(case["case"])
    both: dict[str, Any] = {"case": case["case"], "now": case["ratio"], "kept": None}
    if before is not None and _rivals(before) == _rivals(case):
        both |= {"kept": before["ratio"], "now_by_kept": case["ratio"] / before["ratio"]}
    return both


def is_slower(both: dict[str, Any]) -> bool:
    """Whether a case takes more than `TOLERANCE` times as long as was kept, counted in the plain loop's time."""
    return both["kept"] is not None and bool(both["now_by_kept"] * TOLERANCE < 1)


def _rivals(case: dict[str, Any]) -> tuple[str, Any]:
    """What a ratio is against: numpy or PyTorch (of any version), and the number of threads."""
    return str(case.get("plain_loop", "")).split(" ")[0], case.get("n_jobs")
