"""Pictures: each function draws into the matplotlib Axes that it is given and returns them.

Colours are safe for colour-blind readers and show on light and dark ground; wrap drawing in `style` for text to match.
"""

from seqattractor.plots.curves import compared_bars, error_curves, success_curve
from seqattractor.plots.dynamics import attractor_bars, state_space
from seqattractor.plots.frames import filmstrip, raster
from seqattractor.plots.guarantees import certificate_profile, margin_and_radius, robustness_with_certificate
from seqattractor.plots.house import BLUE, GREEN, GREY, ORANGE, RED, style
from seqattractor.plots.neurons import code_overlap, hidden_raster, hidden_rates, weights_image
from seqattractor.plots.recall import overlap_curve, recall_strip

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "ORANGE",
    "RED",
    "attractor_bars",
    "certificate_profile",
    "code_overlap",
    "compared_bars",
    "error_curves",
    "filmstrip",
    "hidden_raster",
    "hidden_rates",
    "margin_and_radius",
    "overlap_curve",
    "raster",
    "recall_strip",
    "robustness_with_certificate",
    "state_space",
    "style",
    "success_curve",
    "weights_image",
]
