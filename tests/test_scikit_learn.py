"""The networks are scikit-learn estimators."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import seqattractor as sa

REAL_VALUED = "feeds real-valued or count data; a memory of +-1 patterns refuses them and points to sa.binarize"


def expected_failures(net):
    """Which of scikit-learn's checks do not apply, and why: they all begin by fitting data that are not +-1."""
    names = [
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_overwrite_params",
        "check_estimators_pickle",
        "check_estimators_nan_inf",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1feature",
        "check_fit2d_1sample",
        "check_fit2d_predict1d",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_pipeline_consistency",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
        "check_estimators_partial_fit_n_features",
    ]
    return dict.fromkeys(names, REAL_VALUED)


@parametrize_with_checks(
    [
        sa.SequenceAttractor(n_hidden=5, max_epochs=3),
        sa.SparseSequenceAttractor(n_hidden=5, max_epochs=3),
        sa.VisibleNetwork(max_epochs=3),
        sa.OneHotNetwork(),
        sa.DenseSequenceMemory(),
        sa.PredictiveCodingMemory(max_epochs=3),
        sa.LookupMemory(),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("net", [sa.SequenceAttractor(7, kappa=2.0, learn="V"), sa.HebbianMemory(), sa.OneHotNetwork()])
def test_clones_have_the_same_parameters_and_nothing_learned(net):
    X = sa.datasets.random_periodic(4, 60, rng=0)
    net.set_params(on_conflict="learn")
    copy = clone(net.partial_fit(X))
    assert copy.get_params() == net.get_params()
    assert not hasattr(copy, "n_features_in_")


def test_grid_search_finds_settings_that_store_the_sequence():
    X = sa.datasets.random_periodic(9, 20, rng=0)
    everything = [(np.arange(len(X)), np.arange(len(X)))]  # a memory is tested on what it stored
    search = GridSearchCV(
        sa.SequenceAttractor(random_state=0, max_epochs=60),
        {"kappa": [0.5, 1.0], "eta": [1e-3, 1e-2], "n_hidden": [2, 60]},
        cv=everything,
    )
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the two-neuron networks do not converge
        search.fit(X)
    assert search.best_params_["n_hidden"] == 60
    assert search.best_score_ == 1.0
