"""Fitting where errors may be left over, which is not what the test is about."""

import warnings

from sklearn.exceptions import ConvergenceWarning


def fit_quietly(net, X, *args, **kwargs):
    """Fit and leave scikit-learn's ConvergenceWarning unsaid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return net.fit(X, *args, **kwargs)
