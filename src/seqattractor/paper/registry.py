"""The names of all targets, and where they are written; a target's file is imported only when it is asked for."""

from importlib import import_module

from seqattractor.paper.target import Target

__all__ = ["PAST_THE_PAPER", "TARGETS", "get_target"]

# In the order of the report: the paper's own first.
TARGETS = {
    "fig1": "fig1",
    "fig3": "fig3",
    "fig4": "fig4",
    "fig5a": "fig5a",
    "fig5b": "fig5b",
    "fig6": "fig6",
    "fig7": "fig7",
    "fig8": "fig8",
    "table1": "table1",
    "table2": "table2",
    "ablation-gait": "ablation_gait",
    "ablation-digits": "ablation_digits",
    "sparse-inputs": "sparse_inputs",
    "sparse-targets": "sparse_targets",
    "theorems": "theorems",
    # Past the paper; these take long, so that "all" leaves them out.
    "capacity": "capacity",
    "comparison": "comparison",
}
PAST_THE_PAPER = ("capacity", "comparison")


def get_target(name: str) -> Target:
    """The target of this name.

    Examples
    --------
    >>> get_target("table1").title
    'Table 1'
    """
    if name not in TARGETS:
        raise ValueError(f"there is no target {name!r}; choose from {', '.join(TARGETS)}, all.")
    target: Target = import_module(f"seqattractor.paper.{TARGETS[name]}").TARGET
    return target
