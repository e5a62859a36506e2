"""Pictures of a recall show what is right, what is wrong, and nothing else."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import seqattractor as sa
from seqattractor import plots


@pytest.fixture
def ax():
    figure = plt.figure()
    yield figure.add_subplot()
    plt.close(figure)


X = sa.datasets.random_periodic(7, 24, rng=0)


def test_wrong_units_have_a_colour_of_their_own_but_not_in_the_cue(ax):
    trajectory = X.copy()
    trajectory[0, :4] *= -1
    trajectory[3, 5] *= -1
    plots.recall_strip(trajectory, (4, 6), truth=X, n_frames=7, ax=ax)
    shown = np.asarray(ax.images[0].get_array().filled(-1))
    kind = 2 if trajectory[3, 5] > 0 else 3
    assert (shown == kind).sum() == 1
    assert (shown == 5 - kind).sum() == 0
    plots.recall_strip(trajectory, (4, 6), truth=X, order=4, n_frames=7, ax=ax)
    assert (np.asarray(ax.images[1].get_array().filled(-1)) > 1).sum() == 0


def test_units_without_a_shape_are_columns_over_time_with_the_first_at_the_bottom(ax):
    plots.recall_strip(X, (24,), ax=ax)
    shown = np.asarray(ax.images[0].get_array())
    assert np.array_equal(shown[::-1].T, (X > 0).astype(float))


def test_a_truth_that_ends_early_leaves_empty_frames(ax):
    plots.recall_strip(X, (4, 6), truth=X[:3], n_frames=7, ax=ax)
    assert ax.images[0].get_array().mask[:4, -6:].all()


def test_the_overlap_curve_is_the_overlap(ax):
    noisy = np.stack([sa.noise.flip(x, t, rng=t) for t, x in enumerate(X)])
    plots.overlap_curve(noisy, X, X=X, label="here", ax=ax)
    assert ax.lines[1].get_ydata() == pytest.approx(1 - 2 * np.arange(7) / 24)
    assert np.array_equal(ax.lines[0].get_ydata(), sa.overlap(noisy, X).max(axis=1))


@pytest.mark.parametrize("order", [1, 2])
def test_the_hidden_raster_shows_the_hidden_neurons_in_any_order_of_context(ax, order):
    net = sa.SequenceAttractor(n_hidden=40, order=order, random_state=0).fit(X)
    trajectory = net.recall(X[0] if order == 1 else X[:2], steps=5)
    plots.hidden_raster(net, trajectory, n_neurons=30, ax=ax)
    shown = np.asarray(ax.images[0].get_array())
    assert shown.shape == (30, 6)
    on = net.hidden(X[0] if order == 1 else X[:2])[:30] > 0
    assert (shown[: on.sum(), 0] > 0).all()  # those that are on at the first step come first
    assert (shown[on.sum() :, 0] < 0).all()


def test_weights_that_do_not_fit_a_frame_are_rejected(ax):
    plots.weights_image(np.random.default_rng(0).normal(size=(5, 48)), (4, 6), ax=ax)
    with pytest.raises(ValueError, match="cannot be drawn"):
        plots.weights_image(np.ones((5, 25)), (4, 6), ax=ax)
