"""The Python code that does the same as the page, for people who want to go on from there."""

from __future__ import annotations

from seqattractor.lab.choices import Chosen
from seqattractor.lab.materials import Material
from seqattractor.lab.recall import Cue


def python_code(material: Material, chosen: list[Chosen], orders: list[int], cue: Cue, steps: int) -> str:
    """Write a script that learns the material with each network and recalls it from the cue.

    Parameters
    ----------
    material : Material
    chosen : list of Chosen
    orders : list of int
        How many past patterns each network looks at.
    cue : Cue
    steps : int

    Returns
    -------
    str
        It ends with a trajectory of each network, ``trajectory`` or ``trajectory_a`` and ``trajectory_b``.
    """
    deep, corruption = max(orders), cue.corruption
    made = ["import numpy as np", "", "import seqattractor as sa", "", material.code]
    if len(chosen) > 1 and cue.noise:
        made.insert(0, "from copy import deepcopy\n")
    lines = [
        *made,
        "",
        f"rng = np.random.default_rng({cue.seed})",
        f"cue = X[{cue.start}:{cue.start + deep}]" + ("" if deep == 1 else "  # the patterns that the network sees at first"),
    ]
    if corruption.occlusion:
        shape = material.data.frame_shape
        lines.append(f"cue = sa.noise.occlude(cue, {shape}, fraction={corruption.occlusion!r}, rng=rng)")
    lines.append(f"cue = sa.noise.flip(cue, {corruption.flips}, rng=rng)")
    if corruption.painted:
        lines.append(f"cue[-1, {list(corruption.painted)}] *= -1  # painted by hand")
    noise = f", noise={cue.noise}, rng={'deepcopy(rng)' if len(chosen) > 1 else 'rng'}" if cue.noise else ""
    for k, (choice, order) in enumerate(zip(chosen, orders, strict=True)):
        mark = f"_{'ab'[k]}" if len(chosen) > 1 else ""
        start = "cue[-1]" if order == 1 else f"cue[-{order}:]"
        # A loop must reach as far round as the network looks back.
        data = "X" if order == 1 or not any(material.data.loops) else f"sa.close_loops(X, order={order})"
        lines += [
            "",
            f"net{mark} = {choice.code()}",
            f"net{mark}.fit({data})",
            f"trajectory{mark} = net{mark}.recall({start}, steps={steps}{noise})",
        ]
        if material.data.loops == (True,):
            lines.append(f"print(sa.retrieved(trajectory{mark}, X))  # the criterion of section 6.2")
        else:
            lines.append(f"print(net{mark}.score({data}))  # the fraction of transitions that are right")
    return "\n".join(lines) + "\n"
