"""How far a large study is, counted by SQLite without reading its trials one by one."""

from __future__ import annotations

import os

from seqattractor.study.protocol import RETRIEVAL, is_current
from seqattractor.study.store import Store, say_damage
from seqattractor.study.study import StudyCounts, study_in, wanted_by

CHECKED_UP_TO = 20_000
"""Rows up to which a look at a study checks every one."""


def look_at(path: str | os.PathLike[str]) -> StudyCounts:
    """Look at a study: a small one is checked row by row and given as a `Study`, the rows of a larger one are only counted.

    Where counting stumbles over damage, the rows of a larger one are checked, too.
    """
    with Store(path, readonly=True) as store:
        try:
            if store.has_more_rows_than(CHECKED_UP_TO):
                return count_in(store)
        except (OSError, AttributeError, TypeError, ValueError):
            pass  # what stands there is none of ours: the reading below tells what is damaged
        return study_in(store)


def count_in(store: Store) -> StudyCounts:
    """Count the rows of a study, and say that they were not checked."""
    notes: list[str] = []
    trials = failed = by_other_code = 0
    seconds = 0.0
    errors: set[str] = set()
    with store.at_one_moment():
        contents = store.outline()
        wanted = wanted_by(contents, store.path, notes)
        missing = sum(wanted.values())
        for row in store.count_by_point(RETRIEVAL):
            asked, number, version, error = wanted.get(row["point"], 0), row["trials"], row["version"], row["error"]
            trials += number
            seconds += row["seconds"]
            by_other_code += 0 if is_current(version) else number
            all_asked = row["smallest"] >= 0 and row["largest"] < asked
            missing -= number if all_asked else store.count_below(asked, row["point"], version, error)
            if error is not None:
                failed += number
                errors.add(error)
    if not contents.whole:
        notes.append(say_damage(store.path, contents))
    notes.append(
        f"The {trials} rows of {store.path} were counted, not checked: damage does not show. `sweep status --verify` checks "
        "every row and shows the success at each point; run, export and plot always check."
    )
    return StudyCounts(
        path=str(store.path),
        trials=trials,
        missing=missing,
        failed=failed,
        errors=sorted(errors),
        by_other_code=by_other_code,
        seconds=seconds,
        damaged=contents.damaged,
        notes=notes,
    )
