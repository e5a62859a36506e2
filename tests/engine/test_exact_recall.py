"""Recall does not depend on how many cues are recalled at once, on BLAS or on the processor;
weights of seeds are frozen.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import seqattractor as sa

FROZEN = Path(__file__).parents[1] / "data" / "frozen_weights.json"


def whole_number_recall(U, V, cue, steps):
    """Eqs. (2)-(3) on whole numbers of eta, with Python's own arithmetic at ties: sign(0) = +1."""
    states = [cue.astype(np.int64)]
    for _ in range(steps):
        zeta = np.where(U @ states[-1] >= 0, 1, -1)
        states.append(np.where(V @ zeta >= 0, 1, -1))
    return np.array(states)


@pytest.mark.parametrize("eta", [1e-3, 0.07, 1 / 3])
def test_from_zero_weights_one_cue_and_a_batch_are_recalled_as_in_whole_numbers(eta):
    X = sa.datasets.random_periodic(12, 30, rng=0)
    net = sa.SequenceAttractor(
        n_hidden=24, init_scale=0, eta=eta, kappa=20 * eta, random_state=0
    ).fit(X)
    U, V = (np.rint(W / eta).astype(np.int64) for W in (net.U_, net.V_))
    cues = np.random.default_rng(1).choice(np.array([-1, 1], dtype=np.int8), (400, 30))
    assert int((cues @ U.T == 0).sum()) > 50  # ties, or the test could not fail
    batch = net.recall(cues, steps=6)
    for cue, recalled in zip(cues, batch, strict=True):
        np.testing.assert_array_equal(recalled, net.recall(cue, steps=6))
        np.testing.assert_array_equal(recalled, whole_number_recall(U, V, cue, 6))


def test_weights_of_a_rule_of_the_users_recall_one_cue_as_in_a_batch():
    class Tenths(sa.rules.Rule):
        def step(self, margin, rng):
            return 0.1 * (margin <= 1)

    net = sa.VisibleNetwork(Tenths(), eta=0.01, init_scale=0).fit(
        sa.datasets.random_periodic(12, 30, rng=0)
    )
    cues = np.random.default_rng(1).choice(np.array([-1, 1], dtype=np.int8), (400, 30))
    np.testing.assert_array_equal(
        net.recall(cues, steps=6), [net.recall(cue, steps=6) for cue in cues]
    )


def test_learned_weights_are_the_same_to_the_last_bit_in_both_engines_and_epoch_by_epoch():
    X = sa.datasets.random_periodic(15, 40, rng=3)
    for network, settings in (
        (sa.SequenceAttractor, {}),
        (sa.SequenceAttractor, {"bias": True}),
        (sa.SequenceAttractor, {"input_threshold": 0.004}),
        (sa.FixedHiddenNetwork, {"input_threshold": 1.0}),
    ):
        options = {"n_hidden": 50, "random_state": 5, **settings}
        exact = network(**options).fit(X)
        plain = network(**options, engine="reference").fit(X)
        stream = network(**options)
        for _ in range(exact.n_iter_):
            stream.partial_fit(X)
        for other in (plain, stream):
            np.testing.assert_array_equal(exact.U_, other.U_)
            np.testing.assert_array_equal(exact.V_, other.V_)
            np.testing.assert_array_equal(exact.visible_errors_, other.visible_errors_)


def test_weights_that_a_user_sets_are_recalled_and_weights_in_place_are_rejected(tmp_path):
    X = sa.datasets.random_periodic(12, 30, rng=0)
    net = sa.SequenceAttractor(n_hidden=40, random_state=0).fit(X)
    with pytest.raises(ValueError, match="read-only"):
        net.U_[0] = 0.0
    without = net.U_.copy()
    without[:20] = 0.0
    net.U_ = without
    np.testing.assert_array_equal(net.U_, without)
    assert (net.hidden(X)[:, :20] == 1).all()
    net.save(tmp_path / "lesion.npz")
    np.testing.assert_array_equal(
        sa.load(tmp_path / "lesion.npz").recall(X[0], 12), net.recall(X[0], 12)
    )


def test_weights_too_large_for_exact_sums_are_rejected():
    X = sa.datasets.random_periodic(12, 30, rng=0)
    with pytest.raises(ValueError, match="could not add them up exactly"):
        sa.SequenceAttractor(n_hidden=20, init_scale=1e5, random_state=0).fit(X)


RECALLS = """
import hashlib, warnings, numpy as np, seqattractor as sa
warnings.simplefilter("ignore")
X = sa.datasets.random_periodic(25, 40, rng=1)
cues = sa.noise.flip(np.repeat(np.asarray(X[:1]), 300, axis=0), 12, rng=2)
settings = ({}, {"init_scale": 0}, {"bias": True})
nets = [sa.SequenceAttractor(60, random_state=0, **s) for s in settings]
nets += [sa.LearnedTargetsAttractor(60, random_state=0)]
nets += [sa.VisibleNetwork(random_state=0, init_scale=s) for s in (0.0, 1e-3)]
nets += [sa.SparseSequenceAttractor(60, random_state=0), sa.zoo.PseudoInverseMemory()]
nets += [sa.zoo.ScaffoldMemory(60, random_state=0)]
for net in nets:
    net.fit(X)
    batch = net.recall(cues, 8)
    for cue, recalled in zip(cues[:40], batch):
        assert (net.recall(cue, 8) == recalled).all(), net
    print(type(net).__name__, hashlib.sha256(batch.tobytes()).hexdigest())
"""


def test_recall_is_the_same_with_every_kernel_of_blas():
    """OpenBLAS sums as on the processor that a variable names; with another BLAS this only runs the
    same twice.
    """
    seen = set()
    for processor in ("Prescott", "Haswell"):
        child = {**os.environ, "OPENBLAS_CORETYPE": processor}
        seen.add(
            subprocess.run(
                [sys.executable, "-c", RECALLS],
                env=child,
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
    assert len(seen) == 1


def _frozen_cases():
    """Networks of every path through the engines, each with the sequences that it learns."""
    short, crowd = (
        sa.datasets.random_periodic(20, 40, rng=0),
        sa.datasets.random_periodic(60, 40, rng=1),
    )
    film = sa.datasets.walker(n_frames=20, shrink=4)
    long = sa.datasets.random_sequences(1, 1500, 16, rng=2)
    A = sa.SequenceAttractor
    return {
        "random start": (A(80, random_state=1), short),
        "never converges": (A(60, max_epochs=60, random_state=1), crowd),
        "zero start": (A(80, init_scale=0, random_state=1), short),
        "pictures": (A(50, random_state=1), film),
        "biases": (A(80, bias=True, random_state=1), short),
        "input threshold": (A(80, input_threshold=0.01, random_state=1), short),
        "target threshold": (A(80, target_threshold=3.0, random_state=1), short),
        "only V": (sa.FixedHiddenNetwork(80, random_state=1), short),
        "only V, sparse inputs": (
            sa.FixedHiddenNetwork(80, input_threshold=2.0, random_state=1),
            short,
        ),
        "Hebbian V": (sa.HebbianReadoutNetwork(80, random_state=1), short),
        "learned targets": (sa.LearnedTargetsAttractor(80, random_state=1), short),
        "order 2": (A(80, order=2, random_state=1), short),
        "many steps": (A(30, max_epochs=3, on_conflict="learn", random_state=1), long),
        "no hidden neurons": (sa.VisibleNetwork(random_state=1), short),
        "no hidden neurons, biases": (sa.VisibleNetwork(bias=True, random_state=1), short),
        "no hidden neurons, leak": (sa.VisibleNetwork(leak=0.5, random_state=1), short),
        "sparse": (sa.SparseSequenceAttractor(60, random_state=1), short),
        "sparse, crowded": (sa.SparseSequenceAttractor(80, max_epochs=40, random_state=1), crowd),
        "sparse, no noise": (sa.SparseSequenceAttractor(60, noise=0, random_state=1), short),
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", list(_frozen_cases()))
def test_weights_of_a_seed_are_what_they_were(case):
    """To the last bit, so that engines can be compared; `python tests/engine/test_exact_recall.py`
    freezes anew.
    """
    assert _digest(*_frozen_cases()[case]) == json.loads(FROZEN.read_text())[case]


def _digest(net, X):
    """A digest of what a network has learned from X, and then from a stream."""
    net.fit(X)
    for _ in range(2):
        net.partial_fit(X)
    names = ("U_", "V_", "W_", "hidden_bias_", "visible_bias_", "hidden_errors_", "visible_errors_")
    parts = b"".join(
        np.ascontiguousarray(getattr(net, name), np.float64).tobytes()
        for name in names
        if hasattr(net, name)
    )
    return hashlib.sha256(parts).hexdigest()


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    FROZEN.parent.mkdir(exist_ok=True)
    FROZEN.write_text(
        json.dumps({case: _digest(*given) for case, given in _frozen_cases().items()}, indent=1)
        + "\n"
    )
