"""The networks are scikit-learn estimators."""

import copy

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

import seqattractor as sa
from parameter_checks import PARAMETER_CHECKS
from seqattractor.networks import make_network, network_names

SLOW = {"innate", "bcpnn", "rnn", "pinning"}  # take seconds whatever their size
NETWORK_NAMES = [name for name in network_names() if name not in SLOW]
NETWORKS = [
    sa.SequenceAttractor(n_hidden=5, max_epochs=3, random_state=0),
    sa.SparseSequenceAttractor(n_hidden=5, max_epochs=3, random_state=0),
    sa.VisibleNetwork(max_epochs=3, random_state=0),
    sa.zoo.HebbianMemory(),
    sa.zoo.PseudoInverseMemory(),
    sa.zoo.SlowSynapseMemory(),
    sa.OneHotNetwork(),
    sa.zoo.DenseSequenceMemory(self_overlap=True),
    sa.zoo.MixedSequenceMemory(self_overlap=True),
    sa.zoo.PredictiveCodingMemory(max_epochs=3),
    sa.zoo.LatentPredictiveMemory(4, max_epochs=3, random_state=0),
    sa.zoo.ScaffoldMemory(5, random_state=0),
    sa.zoo.SparseDistributedMemory(5, random_state=0),
    sa.zoo.CloneStructuredMemory(2, max_steps=3, n_init=1, random_state=0),
    sa.zoo.RecurrentNetwork(4, max_epochs=3, random_state=0),
    sa.zoo.LookupMemory(),
    sa.VisibleNetwork(leak=0.5, max_epochs=3, random_state=0),
    sa.zoo.StochasticMemory(4, max_epochs=3, random_state=0),
    sa.zoo.SpikeTimingMemory(max_epochs=3),
]


class Binarised(TransformerMixin, BaseEstimator):
    """A network behind a threshold of 0: scikit-learn's checks feed real numbers, which a memory of
    +-1 patterns rejects.
    """

    def __init__(self, net=None):
        self.net = net

    def fit(self, X, y=None):
        self.net_ = (
            clone(self.net).set_params(on_conflict="learn").fit(self._patterns(X, reset=True))
        )
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
@pytest.mark.parametrize("check", PARAMETER_CHECKS)
def test_scikit_learns_checks_of_parameters(net, check):
    check(type(net).__name__, clone(net))


@pytest.mark.parametrize(
    "net", [sa.FixedHiddenNetwork(7, kappa=2.0), sa.zoo.HebbianMemory(), sa.OneHotNetwork()]
)
def test_clones_have_the_same_parameters_and_nothing_learned(net):
    X = sa.datasets.random_periodic(4, 60, rng=0)
    net.set_params(on_conflict="learn")
    copy = clone(net.partial_fit(X))
    assert copy.get_params() == net.get_params()
    assert not hasattr(copy, "n_features_in_")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", NETWORK_NAMES)
def test_predict_gives_the_next_pattern_of_each_state(name):
    small = {
        "n_hidden": 5,
        "max_epochs": 3,
        "random_state": 0,
        "n_latent": 5,
        "max_steps": 3,
        "n_init": 1,
    }
    known = sa.networks.network_class(name)().get_params()
    net = make_network(name, **{key: value for key, value in small.items() if key in known})
    X = sa.datasets.random_sequences(1, 6, 12, rng=0)
    net.fit(X)
    twin = copy.deepcopy(net)
    predicted = net.predict(X)
    assert predicted.shape == X.shape
    assert predicted.dtype == np.int8
    np.testing.assert_array_equal(predicted, twin.step(X))


def test_predict_takes_windows_where_the_network_looks_back():
    X = sa.datasets.random_periodic(9, 20, rng=0)
    net = sa.zoo.LookupMemory(order=2).fit(X)
    windows = np.stack([X[:-2], X[1:-1]], axis=1)
    assert (net.predict(windows) == X[2:]).all()
    with pytest.raises(ValueError, match=r"the last 2 patterns, oldest first"):
        net.predict(X)
    for each, state in ((net, windows[0]), (sa.zoo.LookupMemory().fit(X), X[0])):
        with pytest.raises(
            ValueError,
            match=r"X is a single state, and predict takes a batch .*: use step, or X\[None\]",
        ):
            each.predict(state)
