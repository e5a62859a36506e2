"""Figure 7: recall of moving digits from a corrupted first frame."""

from seqattractor.paper.fig6 import RecallFigure


class Figure7(RecallFigure):
    """Figure 7."""

    name = "fig7"
    title = "Figure 7"
    uses = (("digits", "UV"),)
    frames_shown, columns, scale = 8, 5, 1
    about = (
        "20 sequences of 20 frames (64 x 64 pixels) of two moving digits in a network with M = 1000 hidden neurons, each "
        "started from its first frame with 300 of 4096 pixels flipped; sequence 1 is shown. Unless --mnist-file names your copy "
        "of Moving MNIST or MNIST, the digits are scikit-learn's, moved in the same way."
    )


TARGET = Figure7()
