"""The Python code that does the same as the page, for people who want to go on from there."""

from __future__ import annotations

from seqattractor.lab.choices import Chosen
from seqattractor.lab.materials import Material
from seqattractor.lab.recall import Cue

__all__ = ["python_code"]


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
    deep = max(orders)
    made = material.code.splitlines()
    imports = [line for line in made if line.startswith("from ")]
    rest = [line for line in made if line and not line.startswith("from ")]
    lines = ["import seqattractor as sa", *imports, "", *rest]
    lines += [
        "",
        f"cue = X[{cue.start}:{cue.start + deep}]" + ("" if deep == 1 else "  # the patterns that the network sees at first"),
    ]
    if cue.occlusion:
        lines.append(f"cue = sa.noise.occlude(cue, {material.frame_shape}, fraction={cue.occlusion!r}, rng={cue.seed})")
    lines.append(f"cue = sa.noise.flip(cue, {cue.flips}, rng={cue.seed})")
    if cue.painted:
        lines.append(f"cue[-1, {list(cue.painted)}] *= -1  # painted by hand")
    noise = f", noise={cue.noise}, rng={cue.seed}" if cue.noise else ""
    for k, (choice, order) in enumerate(zip(chosen, orders, strict=True)):
        mark = f"_{'ab'[k]}" if len(chosen) > 1 else ""
        start = "cue[-1]" if order == 1 else f"cue[-{order}:]"
        lines += [
            "",
            f"net{mark} = {choice.code()}",
            f"net{mark}.fit({_lesson(material, order)})",
            f"trajectory{mark} = net{mark}.recall({start}, steps={steps}{noise})",
        ]
        if len(material.lengths) == 1 and material.loop[0]:
            lines.append(f"print(sa.retrieved(trajectory{mark}, X))  # the criterion of section 6.2")
        else:
            lines.append(f"print(net{mark}.score({_lesson(material, order)}))  # the fraction of transitions that are right")
    return "\n".join(lines) + "\n"


def _lesson(material: Material, order: int) -> str:
    """What the network is given: loops must reach as far round as it looks back."""
    return "X, lengths" if order == 1 or not any(material.loop) else f"sa.close_loops(X, lengths, order={order})"
