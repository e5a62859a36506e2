"""Where starts are lost: the first step of the hidden neurons and the end, checked against recall
one start at a time.
"""

import warnings

import pytest
from matplotlib import pyplot as plt

import seqattractor as sa
from seqattractor.analysis._lost_starts import ENDS, FIRST_STEPS
from seqattractor.noise import as_generator


@pytest.fixture(scope="module")
def crowded():
    """A network that is full enough to lose starts in several ways, with its sequence."""
    X = sa.datasets.random_periodic(120, 40, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is meant to have errors left
        return sa.SparseSequenceAttractor(n_hidden=80, random_state=0).fit(X), X


def test_every_start_is_judged_as_recall_from_it_shows(crowded):
    net, X = crowded
    n, settle = len(X) - 1, 7
    losses = sa.lost_starts(net, X, flips=4, settle=settle, rng=1)
    cues = sa.noise.flip(X[:n], 4, as_generator(1, "basin"))
    assert len(set(losses.end)) > 2
    assert len(set(losses.first)) > 2
    for t, cue in enumerate(cues):
        clean, noisy = net.hidden(X[t]), net.hidden(cue)
        assert losses.missed[t] == sum((clean == 1) & (noisy == 0))
        assert losses.answered[t] == sum((clean == 0) & (noisy == 1))
        path = net.recall(cue, steps=settle)
        assert losses.first_right[t] == (path[1] == X[t + 1]).all()
        if (path[-1] == X[(t + settle) % n]).all():
            end = "in phase"
        elif (path[-1] == X).all(axis=1).any():
            end = "another phase"
        else:
            end = "elsewhere" if net.hidden(path[-2]).any() else "silence"
        assert ENDS[losses.end[t]] == end


def test_what_is_not_lost_is_the_basin(crowded):
    net, X = crowded
    losses = sa.lost_starts(net, X, flips=4, rng=1)
    assert losses.basin == sa.basin_fraction(net, X, flips=4, rng=1) < 1
    assert losses.counts.sum() == len(X) - 1
    assert losses.counts[:, 0].sum() == (~losses.lost).sum()


def test_the_rows_and_the_sentence_state_the_counts(crowded):
    net, X = crowded
    losses = sa.lost_starts(net, X, flips=4, rng=1)
    rows = list(losses.rows())
    assert [row["first step"] for row in rows] == list(FIRST_STEPS)
    assert [[row[end] for end in ENDS] for row in rows] == losses.counts.tolist()
    assert losses.describe().startswith(
        f"{losses.lost.sum()} of 119 starts with 4 flips are lost: in the first step "
    )
    figure = losses.plot().figure
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == list(ENDS)
    plt.close(figure)


def test_without_flips_hidden_neurons_do_what_they_do():
    X = sa.datasets.random_periodic(10, 40, rng=0)
    losses = sa.lost_starts(sa.SequenceAttractor(n_hidden=80, random_state=0).fit(X), X, flips=0)
    assert losses.counts.tolist() == [[9, 0, 0, 0]] + 3 * [[0, 0, 0, 0]]
    assert losses.describe() == "0 of 9 starts with 0 flips are lost."


def test_the_construction_of_theorem_1_misses_after_one_flip_and_falls_silent():
    X = sa.datasets.random_periodic(10, 40, rng=0)
    losses = sa.lost_starts(sa.OneHotNetwork(tolerance=0).fit(X), X, flips=1, settle=1, rng=0)
    assert losses.counts[FIRST_STEPS.index("miss"), ENDS.index("silence")] == 9


def test_open_sequences_and_longer_windows_are_judged_like_basins():
    X = sa.datasets.random_sequences(2, 12, 30, rng=0)
    net = sa.SequenceAttractor(n_hidden=90, order=2, random_state=0).fit(X)
    losses = sa.lost_starts(net, X, flips=6, rng=3)
    assert len(losses.end) == 20
    assert losses.basin == sa.basin_fraction(net, X, flips=6, rng=3)


def test_a_network_without_hidden_neurons_has_none_to_ask():
    X = sa.datasets.random_periodic(4, 40, rng=0)
    with pytest.raises(sa.networks.NotApplicable, match="has no hidden neurons"):
        sa.lost_starts(sa.zoo.HebbianMemory().fit(X), X)
