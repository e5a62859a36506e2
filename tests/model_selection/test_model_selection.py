"""Choosing parameters with scikit-learn: its own splits of a sequence are of no use, ours choose
what recalls.
"""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import seqattractor as sa
from seqattractor.model_selection import LearnAll, recall_scorer

SIZES = {"n_hidden": [4, 20, 120]}
NET = sa.SequenceAttractor(random_state=0, max_epochs=150)


def searched(X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the smallest networks do not converge
        return GridSearchCV(NET, SIZES, **options).fit(X)


@pytest.mark.parametrize("seed", range(3))
def test_default_splits_choose_a_network_that_stores_nothing_and_ours_one_that_recalls(seed):
    X = sa.datasets.random_periodic(13, 40, rng=seed)
    usual, ours = searched(X), searched(X, cv=LearnAll(), scoring=recall_scorer(flips=[2, 4]))
    assert usual.cv_results_["mean_test_score"].tolist() == [
        0.0,
        0.0,
        0.0,
    ]  # no network makes transitions that were not shown
    assert usual.best_params_ == {"n_hidden": 4}
    assert usual.best_estimator_.score(X) < 0.5
    assert ours.best_params_ == {"n_hidden": 120}
    assert ours.best_estimator_.score(X) == 1
    assert (
        sa.basin_fraction(ours.best_estimator_, X, flips=3, rng=99) > 0.8
    )  # with cues that chose nothing


def test_several_sequences_are_a_list_and_stay_separate():
    data = sa.Sequences(
        np.concatenate([sa.datasets.random_periodic(7, 40, rng=k) for k in (1, 2)]), lengths=[7, 7]
    )
    search = searched(data.split(), cv=LearnAll(), scoring=recall_scorer(flips=2, trials=2))
    assert search.best_params_ == {"n_hidden": 120}
    assert search.best_estimator_.score(data) == 1
    assert search.predict(data[:3]).tolist() == data[1:4].tolist()
    with pytest.raises(
        ValueError,
        match=r"the rows of these 2 sequences for one; give them as a list: X\.split\(\)",
    ):
        searched(data, cv=LearnAll(), error_score="raise")


def test_the_same_cues_for_every_network_whenever_it_is_asked():
    X = sa.datasets.random_periodic(13, 40, rng=0)
    net = sa.SequenceAttractor(60, random_state=0).fit(X)
    scorer = recall_scorer(flips=[3, 8], trials=2, rng=5)
    assert scorer(net, X) == scorer(net, X) == recall_scorer(flips=[3, 8], trials=2, rng=5)(net, X)
    each = [recall_scorer(flips=k, trials=2, rng=5)(net, X) for k in (3, 8)]
    assert scorer(net, X) == pytest.approx(np.mean(each))
    assert {recall_scorer(flips=8, rng=k)(net, X) for k in range(6)} != {
        recall_scorer(flips=8)(net, X)
    }


def test_without_flips_it_is_one_exactly_where_everything_is_stored():
    X = sa.datasets.random_periodic(13, 40, rng=0)
    assert recall_scorer(flips=0)(sa.zoo.LookupMemory().fit(X), X) == 1
    assert recall_scorer(flips=0)(sa.zoo.LookupMemory().fit(X), X[::-1]) < 1


def test_pipelines_and_cross_validation():
    X = sa.datasets.random_periodic(13, 40, rng=0)
    grey = np.where(X > 0, 0.9, 0.2)
    pipeline = make_pipeline(
        FunctionTransformer(lambda x: sa.binarize(x, threshold=0.5)), sa.zoo.LookupMemory()
    )
    assert cross_val_score(
        pipeline, grey, cv=LearnAll(), scoring=recall_scorer(flips=2)
    ).tolist() == [1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recall_scorer(flips=-1), "flips must be whole numbers from 0"),
        (lambda: recall_scorer(flips=[]), "flips must be whole numbers"),
        (lambda: recall_scorer(trials=0), "trials must be at least 1"),
        (lambda: recall_scorer(settle=0), "settle must be at least 1"),
        (lambda: recall_scorer(rng=np.random.default_rng(0)), "rng must be a whole number"),
        (lambda: recall_scorer()("net", [[1]]), "the estimator must be a network of seqattractor"),
    ],
)
def test_nonsense_gets_one_sentence(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
