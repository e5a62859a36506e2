"""Fitting where errors may be left over, which is not what the test is about."""

import warnings

from sklearn.exceptions import ConvergenceWarning


def quietly(function, *args, **kwargs):
    """Call a function and leave scikit-learn's ConvergenceWarning unsaid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*args, **kwargs)


def fit_quietly(net, X, *args, **kwargs):
    """Fit and leave scikit-learn's ConvergenceWarning unsaid."""
    return quietly(net.fit, X, *args, **kwargs)
