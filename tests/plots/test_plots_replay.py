"""Figures of replay show what the results hold."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

import seqattractor as sa
from seqattractor import plots

KINDS = {"forward": 4, "reverse": 4, "rates": 4}
SESSION = sa.datasets.recording(n_cells=30, n_laps=3, n_events=KINDS, loss=0.2, rng=0)


@pytest.fixture(scope="module")
def tested():
    net = sa.zoo.LookupMemory(on_conflict="learn")
    net.fit(sa.replay.consensus(SESSION.lap_counts(0.1)))
    counts = [*SESSION.event_counts(0.02), np.zeros((4, 30))]
    return sa.replay.test(net, counts, n_shuffles=40, rng=1)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_scores_stand_beside_their_shuffles(tested):
    ax = tested.plot()
    found, others = (line for line in ax.lines if line.get_marker() == ".")
    shown = np.concatenate([found.get_ydata(), others.get_ydata()])
    assert sorted(shown) == pytest.approx(sorted(tested.scores[tested.tested]))
    assert len(found.get_ydata()) == tested.significant().sum()
    assert ax.get_ylabel() == "score"


def test_the_histogram_has_all_events_that_were_tested(tested):
    ax = plots.replay_p_values(tested)
    assert sum(bar.get_height() for bar in ax.patches) == 12


def test_an_event_has_a_mark_for_each_active_cell(tested):
    for event in (0, 5, 12):
        ax = plots.replay_event(tested, event)
        marks = sum(len(line.get_xdata()) for line in ax.lines)
        assert marks == tested.events[event].sum()
        assert all(float(tick).is_integer() for tick in ax.get_xticks())


def test_cells_can_be_put_into_an_order_of_ones_own(tested):
    order = np.argsort(SESSION.fields[0])
    ax = plots.replay_event(tested, 0, order=order)
    rows = np.concatenate([line.get_ydata() for line in ax.lines]) - 0.5
    bins = np.concatenate([line.get_xdata() for line in ax.lines]) - 0.5
    marked = {(int(b), int(order[int(r)])) for b, r in zip(bins, rows, strict=True)}
    assert marked == set(zip(*map(list, np.nonzero(tested.events[0])), strict=True))
    with pytest.raises(ValueError, match="order must name each of the 30 cells once"):
        plots.replay_event(tested, 0, order=[0, 1])
    with pytest.raises(ValueError, match="event"):
        plots.replay_event(tested, 13)


def test_every_lap_has_a_dot_for_each_prediction():
    memory = sa.zoo.LookupMemory(on_conflict="learn")
    found = sa.replay.cross_validate(SESSION.lap_counts(0.1), memory, n_shuffles=5, rng=0)
    ax = found.plot()
    dots = [line.get_ydata() for line in ax.lines if line.get_marker() == "."]
    assert [each.tolist() for each in dots] == [
        getattr(found, name).tolist() for name in ("memory", "other_laps", "rates", "shuffled")
    ]


@pytest.mark.parametrize("draw", [plots.replay_scores, plots.replay_p_values])
def test_only_results_are_drawn(draw):
    with pytest.raises(TypeError, match=r"must be what sa\.replay\.test returns"):
        draw([1, 2])
    with pytest.raises(TypeError, match=r"must be what sa\.replay\.cross_validate returns"):
        plots.prediction_of_laps([1, 2])


def test_labels_of_a_figure_as_wide_as_a_column_do_not_overlap():
    memory = sa.zoo.LookupMemory(on_conflict="learn")
    found = sa.replay.cross_validate(SESSION.lap_counts(0.1), memory, n_shuffles=5, rng=0)
    figure, ax = plt.subplots(figsize=(85 / 25.4, 2.4), layout="constrained")
    found.plot(ax=ax)
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
