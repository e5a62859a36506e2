"""What a notebook shows of a network: what it saw and whether it converged."""

import copy
import html
import pickle
import re

import pytest
from sklearn import config_context

import seqattractor as sa
from quiet import fit_quietly

X = sa.datasets.random_periodic(8, 40, rng=0)
NET = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(X)


def shown(net):
    """The words above scikit-learn's diagram."""
    page = net._repr_html_()
    assert "sk-top-container" in page
    return html.unescape(re.sub(r"<[^>]+>", " ", page.split("<style>")[0]))


def test_a_card_shows_the_data_and_how_learning_ended():
    assert "with 40 visible and 80 hidden neurons, 6,400 parameters" in shown(NET)
    assert (
        "fit saw 1 sequence with 7 transitions; net.score(X) counts those that it makes"
        in shown(NET)
    )
    assert f"converged: the last of {NET.n_iter_} epochs had no error" in shown(NET)
    two = sa.SequenceAttractor(80, order=2, random_state=0).fit(
        [X, sa.datasets.random_periodic(8, 40, rng=1)]
    )
    assert "that see the last 2 patterns" in shown(two)
    assert "fit saw 2 sequences with 12 transitions" in shown(two)


def test_errors_that_are_left_are_shown():
    net = fit_quietly(sa.SequenceAttractor(2, max_epochs=3, random_state=0), X)
    missing = round((1 - net.score(X)) * 7)
    assert f"of which {missing} are not stored" in shown(net)
    assert f"{net.hidden_errors_[-1]} hidden and {net.visible_errors_[-1]} visible errors" in shown(
        net
    )
    assert "not converged" in shown(net)


def test_transitions_without_their_full_margin_are_distinguished():
    net = fit_quietly(sa.SequenceAttractor(80, max_epochs=40, random_state=0), X)
    assert not net.converged_
    assert net.score(X) == 1
    assert "all of which were right when it ended, though not with their full margins" in shown(net)


def test_numbers_that_were_not_counted_are_not_shown(tmp_path):
    unknown = "unknown, since a network does not store them; net.score(X) counts"
    assert unknown in shown(copy.deepcopy(NET).partial_fit(X))
    NET.save(tmp_path / "net.npz")
    assert unknown in shown(sa.load(tmp_path / "net.npz"))
    assert "has learned nothing yet" in shown(sa.zoo.HebbianMemory())
    assert shown(pickle.loads(pickle.dumps(NET))) == shown(NET)


def test_a_failed_fit_leaves_the_card_unchanged():
    net = copy.deepcopy(NET)
    with pytest.raises(ValueError, match="must hold only -1 and \\+1"):
        net.fit([[[0, 3]]])
    assert shown(net) == shown(NET)


def test_text_is_shown_where_it_is_configured():
    with config_context(display="text"):
        assert not hasattr(NET, "_repr_html_")
        assert NET.__repr__().startswith("SequenceAttractor(")
