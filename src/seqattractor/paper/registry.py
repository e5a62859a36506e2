"""All targets, and where they are written; a target's file is imported only when it is asked for."""

from importlib import import_module

from seqattractor.paper.target import Target

# Name: file and instance, in the order of the report, the paper's own first.
TARGETS = {
    "fig1": "fig1:TARGET",
    "fig3": "fig3:TARGET",
    "fig4": "fig4:TARGET",
    "fig5a": "counts:FIGURE_5A",
    "fig5b": "counts:FIGURE_5B",
    "fig6": "recall:FIGURE_6",
    "fig7": "recall:FIGURE_7",
    "fig8": "fig8:TARGET",
    "table1": "counts:TABLE_1",
    "table2": "counts:TABLE_2",
    "ablation-gait": "ablation:GAIT",
    "ablation-digits": "ablation:DIGITS",
    "sparse-inputs": "sparsity:INPUTS",
    "sparse-targets": "sparsity:TARGETS",
    "theorems": "theorems:TARGET",
    "capacity": "capacity:TARGET",
    "comparison": "comparison:TARGET",
}
PAST_THE_PAPER = ("capacity", "comparison")
"""These take long, so that "all" leaves them out."""


def get_target(name: str) -> Target:
    """The target of this name.

    Examples
    --------
    >>> get_target("table1").title
    'Table 1'
    """
    if name not in TARGETS:
        raise ValueError(f"there is no target {name!r}; choose from {', '.join(TARGETS)}, all.")
    file, _, instance = TARGETS[name].partition(":")
    target: Target = getattr(import_module(f"seqattractor.paper.{file}"), instance)
    return target
