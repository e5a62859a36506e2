"""Networks out and in: torch, ONNX, NIR and safetensors give what the network gives, and networks
from elsewhere are analysed.
"""

import copy
import io
import json
import pickle
import sys
from fractions import Fraction

import nir
import numpy as np
import onnx
import onnxruntime
import pytest
import safetensors.numpy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import seqattractor as sa
from every_network import KINDS, all_states, draw_network, ways_to_certify
from quiet import fit_quietly
from seqattractor.io._attached import attach
from seqattractor.networks import make_network, network_names

WAYS = ways_to_certify()
X = sa.datasets.random_periodic(13, 30, rng=0)


# -- oracles
# --------------------------------------------------------------------------------------------------


def exact_next(layers, states):
    """What layers give for states in rational arithmetic, and whether no field is zero up to what
    float64 may err.
    """
    answers, sure = [], []
    for x in states:
        certain = True
        for layer in layers:
            rows = zip(
                layer.weights.tolist(), layer.offset.tolist(), layer.slack.tolist(), strict=True
            )
            sums = [
                (sum(Fraction(w) * int(v) for w, v in zip(W, x, strict=True)) + Fraction(c), slack)
                for W, c, slack in rows
            ]
            certain &= all(abs(total) > slack for total, slack in sums)
            x = [layer.high if total >= 0 else layer.low for total, _ in sums]
        answers.append(x)
        sure.append(certain)
    return np.array(answers), np.array(sure)


def run_nir(graph, spikes):
    """A NIR graph by its definition, in numpy."""
    after = dict(graph.edges)
    name, values = "input", spikes.astype(np.float64)
    while name in after:
        name = after[name]
        node = graph.nodes[name]
        if isinstance(node, nir.Affine):
            values = values @ node.weight.T + node.bias
        elif isinstance(
            node, nir.LIF
        ):  # tau dv/dt = v_leak - v + r I, in one step of Euler's method from any v
            assert np.all(node.tau == float(graph.metadata["dt"]))
            values = np.where(node.v_leak + node.r * values > node.v_threshold, 1.0, 0.0)
    return values


def run_onnx(model, states):
    session = onnxruntime.InferenceSession(
        model if isinstance(model, str) else model.SerializeToString()
    )
    return session.run(None, {"states": states.astype(np.float32)})[0]


# -- every network of threshold neurons
# -----------------------------------------------------------------------------


@settings(max_examples=35)
@given(
    way=st.sampled_from(sorted(WAYS)),
    kind=st.sampled_from(KINDS),
    order=st.sampled_from((1, 1, 2)),
    seed=st.integers(0, 999),
)
def test_every_tool_gives_what_exact_arithmetic_gives(way, kind, order, seed):
    cls, given_parameters = WAYS[way]
    rng = np.random.default_rng(seed)
    net = draw_network(cls, 3, rng, order=order, kind=kind, given=given_parameters)
    states = all_states(3 * net.order_)
    layers = net.layers()
    want, sure = exact_next(layers, states)
    if kind in ("whole", "mostly zero", "binary") and not any(layer.rounded for layer in layers):
        sure[:] = True  # sums are exact: ties are decided alike, too
    shaped = states.reshape(-1, *((3,) if net.order_ == 1 else (net.order_, 3)))

    module = sa.networks.to_torch(net)
    assert np.array_equal(module(torch.as_tensor(shaped)).numpy()[sure], want[sure])
    assert np.array_equal(want[sure], net.next_patterns(states)[sure])
    assert np.array_equal(run_onnx(sa.networks.to_onnx(net), shaped)[sure], want[sure])

    graph = sa.networks.to_nir(net)
    assert np.array_equal(2 * run_nir(graph, states > 0)[sure] - 1, want[sure])
    if graph.metadata["exact"] == "true":
        assert np.array_equal(2 * run_nir(graph, states > 0) - 1, want)
    assert np.array_equal(sa.networks.from_nir(graph).next_patterns(states)[sure], want[sure])

    back = sa.networks.from_torch(module)
    for ours, theirs in zip(layers, back.layers(), strict=True):
        assert np.array_equal(ours.weights, theirs.weights)
        assert np.array_equal(ours.offset, theirs.offset)
        assert (ours.low, ours.high) == (theirs.low, theirs.high)


TRAINED = {
    "attractor": sa.SequenceAttractor(60, random_state=0),
    "with biases": sa.SequenceAttractor(60, bias=True, random_state=0),
    "with a threshold": sa.FixedHiddenNetwork(60, input_threshold=2.0, random_state=0),
    "of order 2": sa.SequenceAttractor(60, order=2, random_state=0),
    "sparse": sa.SparseSequenceAttractor(60, max_epochs=60, random_state=0),
    "visible": sa.VisibleNetwork(random_state=0),
    "hebbian": sa.zoo.HebbianMemory(),
    "pseudo-inverse": sa.zoo.PseudoInverseMemory(),
}


@pytest.fixture(scope="module", params=TRAINED)
def trained(request):
    return fit_quietly(copy.deepcopy(TRAINED[request.param]), X)


def cues_for(net, many=40):
    noisy = [sa.noise.flip(X.patterns[:12], 3, rng=k) for k in range(many // 10)]
    cues = np.concatenate(noisy)
    return cues if net.order_ == 1 else np.stack([cues[:-1], cues[1:]], axis=1)


def test_recall_in_torch_and_onnx_is_recall(trained):
    cues = cues_for(trained)
    want = trained.recall(cues, steps=15)
    module = sa.networks.to_torch(trained)
    got = module.recall(torch.as_tensor(cues), steps=15)
    assert got.dtype == torch.float64
    assert np.array_equal(got.numpy(), want)
    assert np.array_equal(
        module.recall(torch.as_tensor(cues[0], dtype=torch.float32), 15).numpy(), want[0]
    )
    one = torch.as_tensor(cues[0].reshape(trained.order_, -1))
    assert np.array_equal(module.recall(one, 15), want[0])
    assert np.array_equal(module.recall(one[None], 15), want[:1])
    assert module(torch.as_tensor(cues[0], dtype=torch.float32)).dtype == torch.float32
    assert np.array_equal(module(torch.as_tensor(cues[0])).numpy(), trained.step(cues[0]))

    session = onnxruntime.InferenceSession(sa.networks.to_onnx(trained).SerializeToString())
    for some in (cues, cues[:1]):  # the batch is as long as one likes
        path = some.reshape(len(some), trained.order_, -1).astype(np.float32)
        for _ in range(15):
            states = path[:, -trained.order_ :] if trained.order_ > 1 else path[:, -1]
            path = np.concatenate([path, session.run(None, {"states": states})[0][:, None]], axis=1)
        assert np.array_equal(path, want[: len(some)])


def test_files_bring_the_network_back(trained, tmp_path):
    cues = cues_for(trained)
    want = trained.recall(cues, steps=9)
    for ending in ("npz", "safetensors", "onnx", "nir"):
        path = tmp_path / f"model.{ending}"
        trained.export(path)
        again = sa.networks.from_nir(nir.read(path)) if ending == "nir" else sa.load(path)
        assert np.array_equal(again.recall(cues, steps=9), want)
        assert again.order_ == trained.order_
        if ending in ("npz", "safetensors"):
            assert type(again) is type(trained)
            assert again.get_params() == trained.get_params()
            for name, value in vars(trained).items():
                if name.endswith("_") and not isinstance(value, np.random.Generator):
                    assert np.array_equal(getattr(again, name), value)
        else:
            assert isinstance(again, sa.ThresholdNetwork)
    assert np.array_equal(run_onnx(str(tmp_path / "model.onnx"), cues), trained.step(cues))
    graph = nir.read(tmp_path / "model.nir")
    flat = cues.reshape(len(cues), -1)
    assert np.array_equal(2 * run_nir(graph, flat > 0) - 1, trained.step(cues))
    assert graph.metadata["class"] == type(trained).__name__


def test_models_describe_themselves(trained):
    model = sa.networks.to_onnx(trained)
    onnx.checker.check_model(model, full_check=True)
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert facts["class"] == type(trained).__name__
    assert json.loads(facts["parameters"]).keys() == trained.get_params().keys()
    assert model.opset_import[0].version == 17
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    module = sa.networks.to_torch(trained)
    assert module.about["class"] == type(trained).__name__
    assert f"{trained.layers()[-1].weights.shape[1]} inputs, 30 neurons of -1 and 1" in repr(module)
    assert np.array_equal(module.visible.weight.numpy(), trained.layers()[-1].weights)
    assert np.array_equal(module.visible.bias.numpy(), trained.layers()[-1].offset)


def test_a_module_can_be_copied_pickled_and_filled_from_its_state():
    net = sa.SequenceAttractor(40, random_state=0).fit(X)
    other = sa.SequenceAttractor(40, random_state=1).fit(X)
    cues = torch.as_tensor(cues_for(net))
    module = sa.networks.to_torch(net)
    want = module.recall(cues, 20)
    assert torch.equal(copy.deepcopy(module).recall(cues, 20), want)
    assert torch.equal(pickle.loads(pickle.dumps(module)).recall(cues, 20), want)
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    twin = sa.networks.to_torch(other)
    twin.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(twin(cues), module(cues))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(module(cues), want[:, 1])


def test_a_module_rejects_what_would_make_it_wrong():
    net = sa.SequenceAttractor(10, order=2, random_state=0)
    fit_quietly(net, X)
    module = sa.networks.to_torch(net)
    states = torch.as_tensor(np.array(X[:2]))
    with pytest.raises(
        ValueError, match=r"shape \(30,\), but this network takes \(2, 30\), or \(batch, 2, 30\)"
    ):
        module(states[0])
    with pytest.raises(ValueError, match=r"only -1 and \+1"):
        module(states * 0)
    with pytest.raises(TypeError, match=r"torch\.as_tensor"):
        module(X[:2])
    with pytest.raises(ValueError, match="steps must be at least 0"):
        module.recall(states, -1)


# -- what cannot be written
# -----------------------------------------------------------------------------------------


def test_only_threshold_neurons_that_see_the_last_patterns_go_into_other_tools(tmp_path):
    for net in (
        sa.zoo.LookupMemory(),
        sa.zoo.DenseSequenceMemory(),
        sa.zoo.SlowSynapseMemory(),
        sa.VisibleNetwork(leak=0.5, random_state=0),
    ):
        fit_quietly(net, X)
        to = sa.networks
        for write in (
            to.to_torch,
            to.to_onnx,
            to.to_nir,
            lambda net: net.export(tmp_path / "a.onnx"),
        ):
            with pytest.raises(
                sa.networks.NotApplicable,
                match=f"{type(net).__name__} cannot be written for .*threshold neurons",
            ):
                write(net)
        net.export(tmp_path / "a.safetensors")
        assert type(sa.load(tmp_path / "a.safetensors")) is type(net)
    assert not (tmp_path / "a.onnx").exists()


@pytest.mark.parametrize(
    ("package", "extra", "use"),
    [
        ("torch", "torch", lambda net, path: sa.networks.to_torch(net)),
        ("torch", "torch", lambda net, path: sa.networks.from_torch(None)),
        ("onnx", "onnx", lambda net, path: sa.networks.to_onnx(net)),
        ("onnx", "onnx", lambda net, path: sa.load(path("a.onnx"))),
        ("nir", "nir", lambda net, path: sa.networks.to_nir(net)),
        ("nir", "nir", lambda net, path: net.export(path("b.nir"))),
        ("safetensors", "safetensors", lambda net, path: net.export(path("b.safetensors"))),
        ("safetensors", "safetensors", lambda net, path: sa.load(path("a.safetensors"))),
    ],
)
def test_an_absent_package_is_asked_for_in_one_sentence(package, extra, use, tmp_path, monkeypatch):
    net = sa.OneHotNetwork().fit(X)
    for ending in ("onnx", "nir", "safetensors"):
        net.export(tmp_path / f"a.{ending}")
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ValueError,
        match=rf'needs {package}, which is not installed: pip install "seqattractor\[{extra}\]"',
    ):
        use(net, lambda name: tmp_path / name)


def test_an_ending_selects_the_format(tmp_path):
    net = sa.OneHotNetwork().fit(X)
    with pytest.raises(ValueError, match=r"the endings are \.npz, \.safetensors, \.onnx, \.nir"):
        net.export(tmp_path / "model.h5")
    with pytest.raises(
        ValueError, match=r"torch\.save\(sa\.networks\.to_torch\(net\)\.state_dict\(\), path\)"
    ):
        net.export(tmp_path / "model.pt")
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        sa.load(tmp_path / "none.onnx")
    assert list(tmp_path.iterdir()) == []


# -- safetensors: any network, and files that cannot hurt
# -----------------------------------------------------------

QUICK = {"n_hidden": 12, "n_latent": 4, "max_epochs": 2, "trials": 2, "n_init": 1}


@pytest.mark.parametrize(
    "name", [name for name in network_names() if name not in ("innate", "pinning", "bcpnn", "rnn")]
)
def test_safetensors_hold_every_network(name, tmp_path):
    from seqattractor.networks.registry import parameters_of

    net = make_network(
        name, **{key: value for key, value in QUICK.items() if key in parameters_of(name)}
    )
    fit_quietly(net.set_params(on_conflict="learn"), X.patterns[:, :12])
    attach(net, sa.Sequences(X.patterns[:, :12], frame_shape=(3, 4)))
    net.export(tmp_path / "m.safetensors")
    again = sa.load(tmp_path / "m.safetensors")
    assert type(again) is type(net)
    for key, value in vars(net).items():
        if key.endswith("_") and not isinstance(value, np.random.Generator):
            assert np.array_equal(getattr(again, key), value), key
    arrays = safetensors.numpy.load_file(
        tmp_path / "m.safetensors"
    )  # and other programs read the arrays
    assert all(np.array_equal(getattr(net, key), value) for key, value in arrays.items())


def complaint(path):
    """Return the message about a file, or nothing if it is read."""
    try:
        return "" if sa.load(path) is not None else "nothing was read"
    except ValueError as error:
        return str(error)


def test_a_damaged_or_foreign_file_is_one_sentence(tmp_path):
    net = sa.SequenceAttractor(40, random_state=0).fit(X.patterns[:5])
    rng = np.random.default_rng(0)
    for ending in ("safetensors", "onnx"):
        path, broken = tmp_path / f"m.{ending}", tmp_path / f"broken.{ending}"
        net.export(path)
        content = path.read_bytes()
        for cut in (0, 7, len(content) // 2, len(content) - 1):
            broken.write_bytes(content[:cut])
            with pytest.raises(ValueError, match=r"broken.*(damaged|not written by)") as caught:
                sa.load(broken)
            assert "\n" not in str(caught.value)
        for _ in range(15):
            changed = bytearray(content)
            changed[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
            broken.write_bytes(changed)
            sentence = complaint(broken)
            assert "\n" not in sentence
            assert (
                sentence or ending == "onnx"
            )  # where the graph may have changed, but no weight did
            if not sentence:
                assert np.array_equal(sa.load(broken).V_, net.layers()[1].weights)
    safetensors.numpy.save_file({"U": np.eye(3)}, tmp_path / "foreign.safetensors")
    with pytest.raises(ValueError, match=r"not written by seqattractor.*sa\.networks\.from_arrays"):
        sa.load(tmp_path / "foreign.safetensors")
    model = sa.networks.to_onnx(net)
    del model.metadata_props[:]
    (tmp_path / "foreign.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ValueError, match=r"not written by seqattractor.*sa\.networks\.from_arrays"):
        sa.load(tmp_path / "foreign.onnx")


def test_a_file_reads_no_other_file(tmp_path):
    net = sa.OneHotNetwork().fit(X)
    net.export(tmp_path / "a.nir")
    with pytest.raises(ValueError, match=r"sa\.networks\.from_nir\(nir\.read\("):
        sa.load(tmp_path / "a.nir")
    model = sa.networks.to_onnx(net)
    onnx.external_data_helper.convert_model_to_external_data(
        model, location="weights.bin", size_threshold=0
    )
    onnx.save(model, tmp_path / "separate.onnx")
    with pytest.raises(ValueError, match="lie in other files"):
        sa.load(tmp_path / "separate.onnx")


# -- networks from elsewhere
# ----------------------------------------------------------------------------------------


def test_given_weights_are_analysed_as_learned_ones_are(tmp_path):
    net = sa.SequenceAttractor(60, bias=True, input_threshold=0.5, random_state=0).fit(X)
    given = sa.networks.from_arrays(
        net.U_,
        net.V_,
        theta=0.5,
        hidden_bias=net.hidden_bias_,
        visible_bias=net.visible_bias_,
        order=1,
        frame_shape=(5, 6),
    )
    cues = cues_for(net)
    assert np.array_equal(given.recall(cues, 20), net.recall(cues, 20))
    assert np.array_equal(given.hidden(cues), net.hidden(cues))
    assert given.score(X) == 1.0
    assert given.n_parameters() == net.n_parameters()
    assert sa.basin_fraction(given, X, flips=3, rng=0) == sa.basin_fraction(net, X, flips=3, rng=0)
    assert np.array_equal(sa.certify(given, X).radius, sa.certify(net, X).radius)
    assert repr(sa.find_attractors(given, X, starts=20, rng=0)) == repr(
        sa.find_attractors(net, X, starts=20, rng=0)
    )
    assert np.array_equal(
        sa.robustness_curve(given, X, rng=0).successes, sa.robustness_curve(net, X, rng=0).successes
    )
    assert sa.hidden_activity(given, X).n_codes == sa.hidden_activity(net, X).n_codes
    given.save(tmp_path / "given.npz")
    again = sa.load(tmp_path / "given.npz")
    assert np.array_equal(again.recall(cues, 20), net.recall(cues, 20))
    assert again.metadata_ == {"frame_shape": [5, 6]}
    assert not hasattr(given, "converged_")
    assert not hasattr(given, "n_iter_")
    with pytest.raises(TypeError, match=r"does not learn; let another network learn"):
        given.fit(X)
    assert given.score(X) == 1.0


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    order=st.integers(1, 3),
    hidden=st.integers(0, 4),
    silent=st.sampled_from((-1, 0)),
    N=st.integers(1, 3),
)
def test_given_weights_follow_the_equations(seed, order, hidden, silent, N):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: rng.integers(-2, 3, shape)  # noqa: E731 whole numbers: many ties
    b, theta, c = draw(hidden), draw(hidden), draw(N)
    W = draw(N, order * N)
    U, V = draw(hidden, order * N), draw(N, hidden)
    net = (
        sa.networks.from_arrays(U, V, theta=theta, hidden_bias=b, visible_bias=c, silent=silent)
        if hidden
        else sa.networks.from_arrays(W, visible_bias=c)
    )
    for x in all_states(order * N):
        if hidden:
            zeta = [1 if sum(U[i] * x) - theta[i] + b[i] >= 0 else silent for i in range(hidden)]
            want = [1 if sum(V[j] * zeta) + c[j] >= 0 else -1 for j in range(N)]
        else:
            want = [1 if sum(W[j] * x) + c[j] >= 0 else -1 for j in range(N)]
        assert net.next_patterns(x[None])[0].tolist() == want
    assert hasattr(net, "hidden") == bool(hidden)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"U": np.ones((4, 3)), "V": np.ones((3, 5))},
            "U has 4 rows, one for each hidden neuron, but V has 5 columns",
        ),
        (
            {"U": np.ones((3, 4)), "V": np.ones((3, 3))},
            "U has 4 columns, which is not a whole multiple of 3 visible neurons.*transposed",
        ),
        ({"U": np.ones((3, 2))}, "not a whole multiple of 3 visible neurons, the rows of U"),
        (
            {"U": np.ones((4, 3)), "V": np.ones((3, 4)), "order": 2},
            "order is 2, but U has 3 columns: 1 patterns of 3 units",
        ),
        (
            {"U": np.ones((4, 3)), "V": np.ones((3, 4)), "theta": [1, 2]},
            "theta has 2 numbers, but there are 4 neurons",
        ),
        ({"U": np.ones((4, 3)), "V": np.ones((3, 4)), "silent": 1}, "silent must be -1 or 0"),
        (
            {"U": np.eye(3), "theta": 1},
            "theta is for hidden neurons, and without V there are none; use visible_bias",
        ),
        ({"U": np.eye(3) * np.nan}, "U must be finite"),
        ({"U": np.eye(3), "frame_shape": (2, 2)}, "has 4 units, but the patterns have 3"),
    ],
)
def test_arrays_that_make_no_network_get_one_clear_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        sa.networks.from_arrays(**arguments)


class Step(torch.nn.Module):
    """A threshold function: `low` below zero, `at` at zero, 1 above."""

    def __init__(self, low=-1.0, at=1.0):
        super().__init__()
        self.low, self.at = low, at

    def forward(self, x):
        return torch.where(x > 0, 1.0, torch.where(x == 0, self.at, self.low)).to(x.dtype)


class TwoLayers(torch.nn.Module):
    """A module that uses its linear layers in `forward`."""

    def __init__(self, low, behind=torch.sign):
        super().__init__()
        self.into, self.out = torch.nn.Linear(6, 9), torch.nn.Linear(9, 6)
        self.low, self.behind = low, behind

    def forward(self, x):
        zeta = torch.where(self.into(x) >= 0, 1.0, self.low).to(x.dtype)
        return self.behind(self.out(zeta))


@pytest.mark.parametrize(
    "hidden", [Step(-1.0, 1.0), Step(-1.0, -1.0), Step(0.0, 1.0), Step(0.0, 0.0), Step(-1.0, 0.0)]
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_sequence_of_torch_layers_becomes_a_network(hidden, whole):
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Linear(6, 9), hidden, torch.nn.Linear(9, 6, bias=False), Step()
    )
    if whole:  # ties at every other state
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.copy_(torch.randint(-2, 3, parameter.shape))
    net = sa.networks.from_torch(module)
    states = all_states(6)
    if (hidden.low, hidden.at) == (
        -1.0,
        0.0,
    ):  # as torch.sign has it: 0 is no state, and counts as +1 here
        module[1] = Step(-1.0, 1.0)
    with torch.no_grad():
        assert np.array_equal(
            net.next_patterns(states), module.double()(torch.as_tensor(states).double()).numpy()
        )
    assert net.silent == hidden.low
    assert np.array_equal(net.V_, module[2].weight.detach().numpy())


def test_a_module_with_two_linear_layers_becomes_a_network_if_it_uses_them_so():
    for low in (-1.0, 0.0):
        module = TwoLayers(low)
        net = sa.networks.from_torch(module)
        states = all_states(6)
        assert net.silent == low
        assert np.array_equal(
            net.next_patterns(states),
            module.double()(torch.as_tensor(states).double()).detach().numpy(),
        )
    one = sa.networks.from_torch(torch.nn.Sequential(torch.nn.Linear(12, 6), Step()))
    assert (one.n_hidden, one.order_) == (0, 2)
    with pytest.raises(
        ValueError, match="does not give what its linear layers with a sign behind each give"
    ):
        sa.networks.from_torch(TwoLayers(-1.0, lambda x: -torch.sign(x)))


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            torch.nn.Sequential(
                torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3), Step()
            ),
            "Tanh is not a threshold at zero",
        ),
        (
            torch.nn.Sequential(torch.nn.Linear(3, 4), Step(), torch.nn.Linear(4, 3)),
            "is Linear, Step, Linear, but a network here is",
        ),
        (torch.nn.Sequential(*[torch.nn.Linear(3, 3), Step()] * 3), "3 linear layers|is Linear"),
        (torch.nn.Sequential(torch.nn.Linear(3, 3), Step(0.0)), "last layer gives 0 and 1"),
        (torch.nn.Sequential(torch.nn.Linear(4, 3), Step()), "not a whole multiple"),
        (torch.nn.ReLU(), "0 linear layers"),
    ],
)
def test_other_modules_get_one_clear_sentence(module, message):
    with pytest.raises(ValueError, match=message):
        sa.networks.from_torch(module)


def test_other_graphs_get_one_clear_sentence():
    shape, W = np.array([3]), np.eye(3)
    ends = {
        "input": nir.Input(input_type={"input": shape}),
        "output": nir.Output(output_type={"output": shape}),
    }
    graph = nir.NIRGraph(
        nodes=ends | {"a": nir.Affine(W, np.zeros(3))}, edges=[("input", "a"), ("a", "output")]
    )
    with pytest.raises(
        ValueError, match=r"the graph is Input -> Affine -> Output, but a network here is"
    ):
        sa.networks.from_nir(graph)
    with pytest.raises(TypeError, match=r"must be a nir\.NIRGraph"):
        sa.networks.from_nir([1])
    graph = nir.NIRGraph(
        nodes=ends | {"a": nir.Linear(W), "t": nir.Threshold(np.full(3, 0.5))},
        edges=[("input", "a"), ("a", "t"), ("t", "output")],
    )
    states = all_states(3)
    assert np.array_equal(
        sa.networks.from_nir(graph).next_patterns(states), states
    )  # a spike is above one half


# -- tensors as sequences
# -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.bool]
)
def test_tensors_are_sequences(dtype):
    tensor = torch.tensor(X.patterns > 0 if dtype == torch.bool else X.patterns, dtype=dtype)
    if dtype.is_floating_point:
        tensor.requires_grad_()
    net = sa.SequenceAttractor(60, random_state=0).fit(tensor)
    assert np.array_equal(net.V_, sa.SequenceAttractor(60, random_state=0).fit(X).V_)
    assert net.score([tensor, tensor]) == 1.0
    assert np.array_equal(net.recall(tensor[0], 12), X.patterns)
    U, V = (torch.tensor(array, requires_grad=True) for array in (net.U_, net.V_))
    assert sa.networks.from_arrays(U, V).score(tensor) == 1.0


# -- the command line
# -----------------------------------------------------------------------------------------------


def test_export_and_inspect_on_the_command_line(run, tmp_path):
    net = sa.SequenceAttractor(60, random_state=0).fit(X)
    sa.networks.from_arrays(net.U_, net.V_, frame_shape=(5, 6)).save(tmp_path / "given.npz")
    np.save(tmp_path / "X.npy", X.patterns)
    code, printed, _ = run(
        "export", "given.npz", "-o", "a.onnx", "-o", "a.nir", "-o", "a.safetensors"
    )
    assert code == 0
    assert printed.count("holds the ThresholdNetwork") == 3
    code, printed, _ = run(
        "inspect", "a.onnx", "--data", "X.npy", "--effort", "0.1", "--starts", "10"
    )
    assert code == 0
    assert "A ThresholdNetwork with 30 visible and 60 hidden neurons." in printed
    assert "100.0% of the 12 transitions" in printed
    code, printed, _ = run("export", "a.onnx", "-o", "b.npz", "--json")
    assert json.loads(printed)["written"][0]["format"] == "npz"
    assert np.array_equal(sa.load(tmp_path / "b.npz").recall(X[0], 12), X.patterns)
    code, _, complaint = run("export", "given.npz", "-o", "given.npz")
    assert (code, "written over" in complaint) == (2, True)
    code, _, complaint = run("export", "given.npz", "-o", "a.pt")
    assert (code, "Traceback" in complaint) == (2, False)
    code, printed, _ = run(
        "recall", "a.safetensors", "--cue", "X.npy", "--steps", "12", "-o", "out.gif"
    )
    assert code == 0
