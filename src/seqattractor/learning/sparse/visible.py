"""What visible neurons learn from the codes of the hidden ones, in compiled code: eqs. (8)-(9)."""

from __future__ import annotations

from typing import Any

from seqattractor.learning.compiled import inlined, part
from seqattractor.learning.sparse.rows import add_multiple, add_rows
from seqattractor.learning.sparse.rule import WRONG_AVERAGING

_ROWS = 16  # of V transposed that are added at a time


@inlined
def learn_visible(t: int, n_active: int, x_next: Any, visible: Any, choice: Any, now: Any) -> int:
    """Let V learn x(t+1) from the hidden neurons that `visible.active` lists; returns sum nu, and leaves the updates in g."""
    active, g, Vt = visible.active, visible.g, visible.Vt
    g[:] = 0
    add_rows(g, 1, Vt, active, n_active, _ROWS)
    errors, wrong = _errors(g, x_next, now)
    if errors:
        for k in range(n_active):
            add_multiple(Vt[active[k]], 1, g)
    choice.wrong[t] += WRONG_AVERAGING * (wrong - choice.wrong[t])
    return errors


@part
def _errors(g: Any, x_next: Any, now: Any) -> tuple[int, int]:
    """Turn fields of visible neurons into their updates, 0 in the padding; returns sum nu, and how many are wrong."""
    kind = g.dtype.type
    margin, step, none = kind(now.visible_margin), kind(now.visible_step), kind(0)
    errors, wrong = kind(0), kind(0)
    for j in range(len(x_next)):
        target = kind(x_next[j])
        wrong = kind(wrong + ((g[j] >= 0) != (target > 0)))
        nu = kind(target * g[j]) <= margin
        errors = kind(errors + nu)
        g[j] = kind(target * step) if nu else none
    return int(errors), int(wrong)
