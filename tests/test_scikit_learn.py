"""The networks are scikit-learn estimators."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

import seqattractor as sa

NETWORKS = [
    sa.SequenceAttractor(n_hidden=5, max_epochs=3, random_state=0),
    sa.SparseSequenceAttractor(n_hidden=5, max_epochs=3, random_state=0),
    sa.VisibleNetwork(max_epochs=3, random_state=0),
    sa.HebbianMemory(),
    sa.PseudoInverseMemory(),
    sa.SlowSynapseMemory(),
    sa.OneHotNetwork(),
    sa.DenseSequenceMemory(self_overlap=True),
    sa.MixedSequenceMemory(self_overlap=True),
    sa.PredictiveCodingMemory(max_epochs=3),
    sa.LatentPredictiveMemory(4, max_epochs=3, random_state=0),
    sa.ScaffoldMemory(5, random_state=0),
    sa.SparseDistributedMemory(5, random_state=0),
    sa.CloneStructuredMemory(2, max_steps=3, n_init=1, random_state=0),
    sa.RecurrentNetwork(4, max_epochs=3, random_state=0),
    sa.LookupMemory(),
    sa.VisibleNetwork(leak=0.5, max_epochs=3, random_state=0),
    sa.StochasticMemory(4, max_epochs=3, random_state=0),
    sa.SpikeTimingMemory(max_epochs=3),
]


class Binarised(TransformerMixin, BaseEstimator):
    """A network behind a threshold of 0: scikit-learn's checks feed real numbers, a memory of +-1 patterns refuses them."""

    def __init__(self, net=None):
        self.net = net

    def fit(self, X, y=None):
        self.net_ = clone(self.net).set_params(on_conflict="learn").fit(self._patterns(X, reset=True))
        return self

    def transform(self, X):
        check_is_fitted(self)
        return self.net_.step(self._patterns(X, reset=False)).astype(np.float64)

    def _patterns(self, X, *, reset):
        return sa.binarize(validate_data(self, X, reset=reset, dtype=np.float64), threshold=0.0)


class StreamBinarised(Binarised):
    """The same for networks that learn from a stream."""

    def partial_fit(self, X, y=None):
        new = not hasattr(self, "net_")
        if new:
            self.net_ = clone(self.net).set_params(on_conflict="learn")
        self.net_.partial_fit(self._patterns(X, reset=new))
        return self


def binarised(net):
    return (StreamBinarised if hasattr(net, "partial_fit") else Binarised)(net)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([binarised(net) for net in NETWORKS])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("net", NETWORKS, ids=lambda net: type(net).__name__)
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_set_params,
    ],
)
def test_scikit_learns_checks_of_parameters(net, check):
    check(type(net).__name__, clone(net))


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
