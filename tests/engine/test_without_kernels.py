"""Without the compiled core all networks learn and recall the same in plain numpy, and one warning
explains why it is slow.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import seqattractor as sa
from quiet import fit_quietly
from seqattractor.engine import kernels
from seqattractor.zoo import innate as _innate
from seqattractor.zoo import pinned as _pinned

PACKAGE = Path(kernels.__file__).parents[1]
NETWORKS = {
    "attractor": partial(sa.SequenceAttractor, 60, random_state=0),
    "biases": partial(sa.SequenceAttractor, 60, bias=True, order=2, random_state=0),
    "learned targets": partial(sa.LearnedTargetsAttractor, 60, init_scale=0, random_state=0),
    "visible": partial(sa.VisibleNetwork, random_state=0),
    "sparse": partial(sa.SparseSequenceAttractor, 60, max_epochs=30, random_state=0),
}


def results():
    """Digests of what each network learns and recalls: by `fit`, by `partial_fit`, one state for
    long, and many states.
    """
    X = sa.datasets.random_periodic(10, 40, rng=0)
    cues = np.where(np.random.default_rng(1).random((100, 40)) < 0.1, -X[0], X[0]).astype(np.int8)
    found = {}
    for name, make in NETWORKS.items():
        net = fit_quietly(make(), X)
        states = [net.recall(cue, 20) for cue in ([X[:2]] if net.order_ == 2 else [X[0], cues])]
        net.partial_fit(X)
        weights = [
            np.asarray(value)
            for key, value in sorted(vars(net).items())
            if key in ("U_", "V_", "W_", "Q_", "P_")
        ]
        arrays = [*weights, *states, net.visible_errors_]
        found[name] = hashlib.sha256(
            b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
        ).hexdigest()
    return found


@pytest.fixture
def run(tmp_path):
    """A function that runs Python with a copy of the package that has no library."""
    shutil.copytree(
        PACKAGE,
        tmp_path / "seqattractor",
        ignore=shutil.ignore_patterns("__pycache__", "static", "_core.*"),
    )

    def in_subprocess(code):
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, *Path(__file__).parents[:2])))
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    return in_subprocess


def test_all_networks_learn_and_recall_the_same_and_one_warning_explains_why_it_is_slow(run):
    done = run(
        "import json, test_without_kernels as here; print(json.dumps(here.results() | {'in': "
        "str(here.PACKAGE)}))"
    )
    found = json.loads(done.stdout)
    assert found.pop("in") != str(PACKAGE)
    assert found == results()
    lines = [line for line in done.stderr.splitlines() if "RuntimeWarning" in line]
    assert len(lines) == 1, done.stderr
    assert f"{kernels.library_path().name} is missing" in lines[0]
    assert "`pip install .`" in lines[0]


def test_a_cluster_cannot_learn_without_kernels(monkeypatch):
    monkeypatch.setattr(kernels, "why_unavailable", lambda: "there is no core.")
    with pytest.raises(
        RuntimeError, match="fit_on_cluster cannot be used here, but fit can: there is no core"
    ):
        sa.SequenceAttractor(20).fit_on_cluster(None, sa.datasets.random_periodic(6, 20, rng=0))


def test_recursive_least_squares_is_the_same_but_for_rounding(monkeypatch):
    rng = np.random.default_rng(0)
    n, K, steps, m = 12, 5, 30, 4
    counts = rng.integers(1, K + 1, n)
    weights, sources = rng.standard_normal((n, K)), rng.integers(0, n, (n, K))
    drive, wanted, x = (
        rng.standard_normal((steps, n)),
        rng.uniform(-1, 1, (steps - 5, n)),
        rng.standard_normal(n),
    )
    P, Q = np.repeat(np.eye(K)[np.newaxis], m, axis=0), np.eye(m)
    innate, pinning = (weights, P, x), (rng.standard_normal((n, n)), Q, x)

    def both():
        w, p, s = (array.copy() for array in innate)
        rates = _innate.run_innate(_innate.Wiring(w, sources, counts), drive, wanted, p, s, 10.0)
        J, q, z = (array.copy() for array in pinning)
        return (
            rates,
            w,
            p,
            s,
            _pinned.run_pinning(J, np.arange(3, 3 + m), drive, np.abs(wanted), q, z, 10.0),
            J,
            q,
            z,
        )

    by_kernels = both()
    for module in (_innate, _pinned):
        monkeypatch.setattr(module, "has_kernels", lambda: False)
    for one, other in zip(by_kernels, both(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
