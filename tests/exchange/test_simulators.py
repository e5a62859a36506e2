"""NIR graphs in real simulators of spiking neurons, which compute in float32: they do what the
network does.
"""

import importlib
import re
from importlib.metadata import version
from pathlib import Path

import nir
import numpy as np
import pytest
import torch
from sklearn.base import clone

import seqattractor as sa
from every_network import all_states
from quiet import fit_quietly

pytestmark = pytest.mark.filterwarnings(
    "ignore:nirtorch.load is being deprecated"
)  # norse and sinabs call it
DOCS = Path(__file__).parents[2] / "docs" / "export.rst"
DT = 1e-4
X = sa.datasets.random_periodic(30, 100, rng=0)
NETWORKS = {
    "SequenceAttractor": sa.SequenceAttractor(200, random_state=0),
    "SparseSequenceAttractor": sa.SparseSequenceAttractor(60, random_state=0),
}


def load_snntorch(graph, batch):
    return importlib.import_module("snntorch.import_nir").import_from_nir(graph)


def load_norse(graph, batch):
    return importlib.import_module("norse.torch").from_nir(graph, dt=DT)


def load_sinabs(graph, batch):
    return importlib.import_module("sinabs.nir").from_nir(graph, batch_size=batch)


LOADERS = {"snntorch": load_snntorch, "norse": load_norse, "sinabs": load_sinabs}


@pytest.fixture(params=LOADERS)
def simulator(request):
    # sinabs asks for an older nir than nirtorch does, and for drivers of its hardware, neither of
    # which it needs to read a graph.
    how = (
        "pip install --no-deps sinabs pbr"
        if request.param == "sinabs"
        else 'pip install -e ".[simulators]"'
    )
    missing = f"{request.param} is NOT INSTALLED, so nothing checks that it reads our graphs"
    pytest.importorskip(request.param, reason=f"{missing}: {how}")
    return request.param


def run(simulator, graph, states, steps=1):
    """Let a simulator run in a closed loop, which feeds spikes back with whatever state its neurons
    have: (steps, B, N).
    """
    module = LOADERS[simulator](graph, len(states))
    spikes, state, path = torch.tensor(states > 0, dtype=torch.float32), None, []
    for _ in range(steps):
        with torch.no_grad():
            answer = module(spikes) if state is None else module(spikes, state)
        spikes, state = answer if isinstance(answer, tuple) else (answer, None)
        path.append(np.where(spikes.numpy() > 0, 1, -1))
        assert set(np.unique(spikes.numpy())) <= {0.0, 1.0}
    return np.array(path)


@pytest.fixture(scope="module", params=NETWORKS)
def net(request):
    return fit_quietly(NETWORKS[request.param], X)


def test_a_simulator_steps_and_recalls_as_the_network_does(simulator, net, tmp_path):
    net.export(tmp_path / "model.nir")
    cues = sa.noise.flip(X[:30], 10, rng=1)
    path = run(simulator, nir.read(tmp_path / "model.nir"), cues, steps=60)
    assert np.array_equal(path[0], net.step(cues))
    assert np.array_equal(path.swapaxes(0, 1), net.recall(cues, steps=60)[:, 1:])
    row = re.search(
        rf"\* - {simulator} (\S+)\n((?:     - .*\n)+)", DOCS.read_text(encoding="utf-8")
    )
    assert row is not None, "the table of docs/export.rst has no such row"
    assert row[1] == version(simulator)
    assert row[2].count("30 of 30") == len(NETWORKS)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", range(5))
def test_snntorch_shows_the_patterns_of_our_spikes(name, seed, tmp_path):
    missing = "SNNTORCH DOES NOT CHECK OUR SPIKES: pip install -e '.[simulators]'"
    pytest.importorskip("snntorch", reason=missing)
    loop = sa.datasets.random_periodic(30, 100, rng=seed)
    net = fit_quietly(clone(NETWORKS[name]).set_params(random_state=seed), loop)
    net.export(tmp_path / "model.nir")
    cue = sa.noise.flip(loop[0], 10, rng=100 + seed)
    path = run("snntorch", nir.read(tmp_path / "model.nir"), cue[None], steps=60)[:, 0]
    assert np.array_equal(path, sa.spiking_recall(net, cue, 60).patterns[1:])
    assert sa.retrieved(path, loop)


def test_sums_of_few_bits_are_exact_in_float32_ties_included(simulator):
    rng = np.random.default_rng(0)
    states = all_states(9)
    for low in (-1, 0):
        U, V = rng.integers(-2, 3, (40, 9)), rng.integers(-2, 3, (9, 40))
        net = sa.networks.from_arrays(U, V, silent=low)
        fields = states.astype(int) @ U.T
        assert (fields == 0).mean() > 0.05
        graph = sa.networks.to_nir(net)
        assert graph.metadata["exact_in_float32"] == "true"
        assert np.array_equal(run(simulator, graph, states)[0], net.step(states))


def test_whether_float32_suffices_is_in_the_metadata():
    assert (
        sa.networks.to_nir(sa.networks.from_arrays(np.eye(2) + 2.0**-30)).metadata[
            "exact_in_float32"
        ]
        == "false"
    )
    assert (
        sa.networks.to_nir(sa.networks.from_arrays(np.eye(2) + 2.0**-15)).metadata[
            "exact_in_float32"
        ]
        == "true"
    )


def test_leaky_neurons_that_remember_are_no_threshold_neurons():
    graph = sa.networks.to_nir(sa.networks.from_arrays(np.eye(2)))
    del graph.metadata["dt"]
    with pytest.raises(
        ValueError, match=r"time constant of 0.0001 s.*graph.metadata\['dt'\] = '0.0001'"
    ):
        sa.networks.from_nir(graph)
    graph.metadata["dt"] = "0.0001"
    assert np.array_equal(sa.networks.from_nir(graph).next_patterns(all_states(2)), all_states(2))
