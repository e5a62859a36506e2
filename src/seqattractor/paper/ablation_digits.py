"""Appendix E on moving digits: Hebbian V, only V, and U and V learned."""

from seqattractor.paper.ablation_gait import Ablation


class AblationDigits(Ablation):
    """Three ways of learning on moving digits."""

    name = "ablation-digits"
    title = "Ablation on moving digits (appendix E)"
    uses = (("digits", "hebbian"), ("digits", "V"), ("digits", "UV"))
    frames_shown, shown = 8, (1, 6, 11, 16)
    about = "The sequences, network size and noise of figure 7, with three ways of learning; sequences 1, 6, 11 and 16 are shown."


TARGET = AblationDigits()
