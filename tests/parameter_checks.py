"""The checks of scikit-learn that ask only about parameters, and feed an estimator nothing."""

from sklearn.utils import estimator_checks

PARAMETER_CHECKS = [
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
]
