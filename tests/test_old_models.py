"""Model files of version 0.1, in which a parameter chose between models of one class, and files from before arrays were packed
still load and recall the same."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import seqattractor as sa

FOLDER = Path(__file__).parent / "data" / "models_of_0_1_0"
CLASSES = {
    "attractor": sa.SequenceAttractor,
    "attractor-hebbian": sa.SequenceAttractor,
    "attractor-order-2": sa.SequenceAttractor,
    "sparse": sa.SparseSequenceAttractor,
    "perceptron": sa.VisibleNetwork,
    "hebbian": sa.HebbianMemory,
    "pseudo-inverse": sa.PseudoInverseMemory,
    "slow-synapses": sa.SlowSynapseMemory,
    "one-hot": sa.OneHotNetwork,
    "dense": sa.DenseSequenceMemory,
    "dense-pseudo-inverse": sa.DenseSequenceMemory,
    "modern-hopfield": sa.DenseSequenceMemory,
    "mixed": sa.MixedSequenceMemory,
    "predictive": sa.PredictiveCodingMemory,
    "predictive-2": sa.LatentPredictiveMemory,
    "lookup": sa.LookupMemory,
}
LATER = {
    *(sa.HebbianRateMemory, sa.SparseRateMemory, sa.DenseEpisodicMemory, sa.LinearEpisodicMemory, sa.DynamicEnergyMemory),
    *(sa.StochasticMemory, sa.SpikeTimingMemory, sa.BayesianColumnMemory, sa.InnateTrajectoryMemory, sa.PinnedRateMemory),
    *(sa.ScaffoldMemory, sa.SparseDistributedMemory, sa.CloneStructuredMemory, sa.RecurrentNetwork),
}
"""These came after version 0.1: no old file can hold one."""
X = sa.datasets.random_periodic(5, 8, rng=3)


@pytest.mark.parametrize("name", CLASSES)
def test_a_model_of_0_1_loads_as_its_class_of_today_and_recalls_as_it_did(name, tmp_path):
    with pytest.warns(UserWarning, match="without a digest"):
        net = sa.load(FOLDER / f"{name}.npz")
    assert type(net) is CLASSES[name]
    cue = X[:2] if net.order_ == 2 else sa.noise.flip(X[0], 1, rng=np.random.default_rng(1))
    with np.load(FOLDER / "recalls.npz") as recalls:
        assert np.array_equal(net.recall(cue, steps=12), recalls[name])
    net.save(tmp_path / "again.npz")
    again = sa.load(tmp_path / "again.npz")
    assert type(again) is type(net)
    assert np.array_equal(again.recall(cue, steps=12), net.recall(cue, steps=12))


@pytest.mark.parametrize("name", ["attractor", "attractor-order-2", "sparse", "perceptron"])
def test_a_file_from_before_arrays_were_packed_loads_recalls_as_it_did_and_can_be_packed(name, tmp_path):
    path = FOLDER.with_name("models_of_version_2") / f"{name}.npz"
    net = sa.load(path)
    cue = X[:2] if net.order_ == 2 else sa.noise.flip(X[0], 1, rng=np.random.default_rng(1))
    with np.load(path.with_name("recalls.npz")) as recalls:
        assert np.array_equal(net.recall(cue, steps=12), recalls[name])
    with np.load(path) as arrays:
        assert {"W_"} <= set(arrays) or {"U_", "V_", "P_"} <= set(arrays)
        net.save(tmp_path / "again.npz")
        for attribute in arrays:
            if attribute not in ("header.json", "average_field_"):  # nothing learns from average fields any more
                assert getattr(sa.load(tmp_path / "again.npz"), attribute).tobytes() == arrays[attribute].tobytes()


def test_every_network_of_the_package_is_among_them_or_is_new():
    assert {*CLASSES.values(), *LATER} == {sa.networks.network_class(name) for name in sa.networks.REGISTRY}


def test_the_command_line_says_so_in_one_line():
    command = [sys.executable, "-m", "seqattractor", "inspect", str(FOLDER / "attractor.npz"), "--effort", "0.01"]
    complaints = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    assert [line.startswith("warning: ") for line in complaints if "without a digest" in line] == [True]
    assert not any("UserWarning" in line for line in complaints)
