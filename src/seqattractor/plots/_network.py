"""The diagram of the network, figure 2 of the paper."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from seqattractor._checks import check_count
from seqattractor.plots._house import RED, axes_or_new, draws


@draws
def network_diagram(n_visible: int = 5, n_hidden: int = 4, *, ax: Axes | None = None) -> Axes:
    r"""Draw the network with hidden neurons as figure 2 of the paper does: as it is, and unfolded
    in time.

    Visible neurons are filled. On the right U leads from xi(t) to zeta(t), V from there to xi(t+1).

    Parameters
    ----------
    n_visible, n_hidden : int
        How many neurons to draw.

    Examples
    --------
    >>> ax = network_diagram()
    >>> sorted(text.get_text() for text in ax.texts if "xi" in text.get_text())
    ['$\\xi(t)$', '$\\xi(t+1)$']
    """
    ax = axes_or_new(ax)
    check_count(n_visible, "n_visible")
    check_count(n_hidden, "n_hidden")
    ink = str(ax.xaxis.label.get_color())  # of the style, for light or dark pages
    reach = max(n_visible, n_hidden) * 0.3  # half the width of a network
    right = 2 * reach + 4.2  # where the unfolded one stands
    folded = {"visible": _row(n_visible, 0.0, -0.62), "hidden": _row(n_hidden, 0.0, 0.62)}
    unfolded = {
        "now": _row(n_visible, right, -1.2),
        "hidden": _row(n_hidden, right, 0.0),
        "next": _row(n_visible, right, 1.2),
    }
    _connect(ax, folded["visible"], folded["hidden"], "<|-|>", ink)
    _connect(ax, unfolded["now"], unfolded["hidden"], "-|>", ink)
    _connect(ax, unfolded["hidden"], unfolded["next"], "-|>", ink)
    for name, places in (*folded.items(), *unfolded.items()):
        fill = ax.get_facecolor() if name == "hidden" else RED
        ax.scatter(
            places[:, 0],
            places[:, 1],
            s=110,
            facecolor=fill,
            edgecolor=ink,
            linewidth=1.2,
            zorder=3,
        )
    ax.annotate(
        "",
        (right - reach - 0.5, 0),
        (reach + 0.5, 0),
        arrowprops={"arrowstyle": "-|>", "linewidth": 2.2, "color": ink},
    )
    ax.text(right / 2, 0.22, "unfolded in time", ha="center", color=ink)
    for y, symbol in ((-1.2, r"$\xi(t)$"), (0.0, r"$\zeta(t)$"), (1.2, r"$\xi(t+1)$")):
        ax.text(right + reach + 0.35, y, symbol, va="center", color=ink)
    for y, symbol in ((-0.6, "$U$"), (0.6, "$V$")):
        ax.text(right + reach + 0.02, y, symbol, va="center", ha="center", color=ink)
    ax.text(0, -1.15, "visible neurons", ha="center", va="center", color=ink)
    ax.text(0, 1.15, "hidden neurons", ha="center", va="center", color=ink)
    ax.set(xlim=(-reach - 0.5, right + reach + 1.6), ylim=(-1.6, 1.6), aspect="equal")
    ax.set_axis_off()
    return ax


def _row(n: int, x: float, y: float) -> NDArray[np.float64]:
    """Return the places of n neurons side by side around x, shape (n, 2)."""
    return np.stack([x + 0.6 * (np.arange(n) - (n - 1) / 2), np.full(n, y)], axis=1)


def _connect(
    ax: Axes, below: NDArray[np.float64], above: NDArray[np.float64], arrow: str, color: str
) -> None:
    """Draw an arrow from every neuron of a row to every one of another."""
    style = {
        "arrowstyle": f"{arrow},head_length=0.35,head_width=0.16",
        "linewidth": 0.6,
        "color": color,
        "shrinkA": 6,
        "shrinkB": 6,
    }
    for start in below:
        for end in above:
            ax.annotate("", end, start, arrowprops=style)
