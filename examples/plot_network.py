"""
The network
===========

Figure 2 of the paper. Visible neurons (filled) and hidden ones are connected both ways, but not
among themselves. One step is a feedforward network with one hidden layer: U leads to the hidden
neurons, V from there to the next visible state.
"""

from matplotlib import pyplot as plt

from seqattractor import plots

with plots.style():
    figure, ax = plt.subplots(figsize=(8.0, 2.6))
    plots.network_diagram(ax=ax)
plt.show()
