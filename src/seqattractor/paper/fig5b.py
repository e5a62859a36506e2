"""Figure 5 (b): the counts of table 2 as bars."""

from seqattractor.paper.fig5a import CountsFigure


class Figure5b(CountsFigure):
    """Figure 5 (b)."""

    name, experiment = "fig5b", "table2"
    title = "Figure 5 (b)"
    varied = "M"
    about = "The trials of table 2 as bars: success against the number M of hidden neurons, for sequences of length T = 70."


TARGET = Figure5b()
