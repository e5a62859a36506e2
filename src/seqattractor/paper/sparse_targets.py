"""Appendix F, sparse random projected targets: a threshold theta on P x(t+1) while learning U and V."""

from __future__ import annotations

from typing import Any

from seqattractor.paper.settings import SPARSITY
from seqattractor.paper.sparse_inputs import Sparsity


class SparseTargets(Sparsity):
    """Sparse random projected targets."""

    name = experiment = "sparse-targets"
    title = "Sparse targets (appendix F)"
    about = (
        "Learning U and V with hidden targets sign(P x(t+1) - theta). Theta is given in standard deviations of P x; the paper "
        "does not list its values, and theta = 0 is its own method."
    )

    def variants(self) -> list[dict[str, Any]]:
        """Every theta, 0 first."""
        return [{"learn": "UV", "theta": theta} for theta in SPARSITY["theta"]]

    def label(self, variant: dict[str, Any]) -> str:
        """Name theta."""
        return f"θ = {variant['theta']:g} SD"

    def threshold(self, theta: float) -> dict[str, float]:
        """On the targets of the hidden neurons."""
        return {"target_threshold": theta}


TARGET = SparseTargets()
