"""Model files: whole, ours, without pickle, and good to learn on from."""

import hashlib
import io
import json
import os
import signal
import struct
import subprocess
import sys
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seqattractor as sa
from quiet import fit_quietly, quietly
from seqattractor._files import atomic_write
from seqattractor.io._attached import attach, attached
from seqattractor.networks.registry import make_network

X = sa.datasets.random_periodic(7, 20, rng=0)
NETWORKS = [
    sa.SequenceAttractor(30, random_state=0),
    sa.FixedHiddenNetwork(30, max_epochs=2000, random_state=0),
    sa.SequenceAttractor(30, random_state=np.random.default_rng(5), order=2),
    sa.VisibleNetwork(random_state=0),
    sa.zoo.PseudoInverseMemory(),
    sa.OneHotNetwork(),
]


@pytest.mark.parametrize("net", NETWORKS, ids=lambda net: type(net).__name__)
def test_a_network_comes_back_as_it_was_saved(net, tmp_path):
    net.fit(X)
    net.metadata_ = {"frame_shape": [4, 5], "name": "wälk"}
    net.save(tmp_path / "model.npz")
    again = sa.load(tmp_path / "model.npz")
    assert type(again) is type(net)
    for name, value in net.get_params().items():
        if name != "random_state":
            assert getattr(again, name) == value
    assert again.metadata_ == net.metadata_
    for name, value in vars(net).items():
        if name.endswith("_"):
            assert type(getattr(again, name)) is type(value)
            assert np.array_equal(getattr(again, name), value)
    cue = X[:2] if again.order_ == 2 else X[0]
    assert np.array_equal(again.recall(cue, steps=9), net.recall(cue, steps=9))


@settings(max_examples=15)
@given(seed=st.integers(0, 999), rounds=st.integers(1, 4))
def test_learning_on_after_loading_equals_never_having_saved(seed, rounds, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.npz"
    straight = sa.SequenceAttractor(12, random_state=seed)
    broken = sa.SequenceAttractor(12, random_state=seed)
    for _ in range(rounds):
        straight.partial_fit(X)
        broken.partial_fit(X)
        broken.save(path)
        broken = sa.load(path)
    assert np.array_equal(straight.U_, broken.U_)
    assert np.array_equal(straight.V_, broken.V_)
    assert np.array_equal(straight.visible_errors_, broken.visible_errors_)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.npz"
    sa.SequenceAttractor(30, random_state=0).fit(X).save(path)
    return path


def registered(name):
    """A small network of the registry."""
    known = sa.networks.network_class(name)().get_params()
    small = {"n_hidden": 30, "n_latent": 20, "max_epochs": 20, "random_state": 0}
    return make_network(name, **{key: value for key, value in small.items() if key in known})


OTHERS = {
    "no seed": lambda: sa.SequenceAttractor(30),
    "order 2": lambda: sa.SequenceAttractor(30, order=2, random_state=np.random.default_rng(5)),
    "zero start": lambda: sa.SequenceAttractor(30, init_scale=0, random_state=0),
    "threshold": lambda: sa.FixedHiddenNetwork(
        30, input_threshold=1.0, max_epochs=5, random_state=0
    ),
    "plain loop": lambda: sa.SequenceAttractor(
        30, engine="reference", max_epochs=30, random_state=0
    ),
    "biases": lambda: sa.SequenceAttractor(30, bias=True, random_state=None),
    "learned targets": lambda: sa.LearnedTargetsAttractor(30, random_state=0),
    "sparse without noise": lambda: sa.SparseSequenceAttractor(
        30, noise=0, max_epochs=20, random_state=0
    ),
    "sparse of order 2": lambda: sa.SparseSequenceAttractor(
        30, order=2, max_epochs=20, random_state=np.random.default_rng(2)
    ),
}
ALL = {name: lambda name=name: registered(name) for name in sa.networks.REGISTRY} | OTHERS


def bits(net):
    """All that a network has learned, arrays as their bytes and generators as their states."""
    found = {}
    for name, value in vars(net).items():
        if name.endswith("_"):
            if isinstance(value, np.ndarray):
                value = (value.dtype.str, value.shape, value.tobytes())
            elif isinstance(value, np.random.Generator):
                value = json.dumps(value.bit_generator.state, default=str)
            found[name] = value
    return found


@pytest.mark.parametrize("name", ALL)
def test_every_network_comes_back_bit_for_bit_and_continues_learning_as_if_never_saved(
    name, tmp_path
):
    net = fit_quietly(ALL[name](), X)
    for _ in range(2):
        net.save(tmp_path / "a.npz")
        again = sa.load(tmp_path / "a.npz")
        assert bits(again) == bits(net)
        again.save(tmp_path / "b.npz")
        assert (tmp_path / "b.npz").read_bytes() == (tmp_path / "a.npz").read_bytes()
        if not hasattr(net, "partial_fit"):
            return
        quietly(net.partial_fit, X[::-1])
        quietly(again.partial_fit, X[::-1])
        assert bits(again) == bits(net)


class Another(np.random.Generator):
    """The generator of a numpy whose streams are not those of today."""

    def _draw(self, *args, **options):
        raise RuntimeError("a number was drawn")

    def __deepcopy__(self, memo):
        return type(self)(self.bit_generator)

    standard_normal = normal = random = uniform = integers = choice = permutation = shuffle = (
        bytes
    ) = _draw


@pytest.mark.parametrize("name", ALL)
def test_a_model_file_outlives_the_random_numbers_of_numpy(name, tmp_path, monkeypatch):
    """Weights are in the file: they load, and recall the same, where numpy would draw other
    numbers.
    """
    net = fit_quietly(ALL[name](), X)
    cue = X[: net.order_] if net.order_ > 1 else X[0]
    recalled = net.recall(cue, steps=9)
    net.save(tmp_path / "m.npz")
    expected = bits(net)
    monkeypatch.setattr(np.random, "Generator", Another)
    monkeypatch.setattr(np.random, "default_rng", lambda seed=None: Another(np.random.PCG64(seed)))
    again = sa.load(tmp_path / "m.npz")
    assert bits(again) == expected
    assert np.array_equal(again.recall(cue, steps=9), recalled)


def test_the_file_is_an_npz_that_numpy_reads_without_pickle(model):
    with np.load(model, allow_pickle=False) as arrays:
        assert np.array_equal(arrays["U_"], sa.load(model).U_)
    header = json.loads(zipfile.ZipFile(model).read("header.json"))
    assert header["format"] == "seqattractor-model"
    assert header["class"] == "SequenceAttractor"
    assert header["parameters"]["n_hidden"] == 30


@pytest.mark.parametrize("keep", [0, 10, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_named_as_such(model, keep):
    data = model.read_bytes()
    model.write_bytes(data[: int(keep * len(data)) if keep < 1 else keep])
    with pytest.raises(ValueError, match=r"model\.npz .*truncated"):
        sa.load(model)


def test_a_file_with_a_flipped_byte_is_named_as_damaged(model):
    data = bytearray(model.read_bytes())
    data[len(data) // 2] ^= 255
    model.write_bytes(bytes(data))
    with pytest.raises(ValueError, match=r"truncated|damaged"):
        sa.load(model)


def digest(header, members):
    """Return the digest that the header of a file must have."""
    found = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(members):
        found.update(f"{name} {len(members[name])} ".encode() + members[name])
    return found.hexdigest()


def rewrite(model, change=lambda header: header, arrays=None, compression=zipfile.ZIP_STORED):
    """Write the model again as a careful attacker would: with a changed header or arrays, and a
    digest that fits.
    """
    with zipfile.ZipFile(model) as old:
        members = {name: old.read(name) for name in old.namelist()}
    header = change(json.loads(members.pop("header.json")))
    for name, content in (arrays or {}).items():
        members.pop(f"{name}.npy", None)
        if content is not None:
            members[f"{name}.npy"] = content if isinstance(content, bytes) else as_npy(content)
    if isinstance(header, dict):
        header.pop("digest", None)
        header["digest"] = digest(header, members)
    with zipfile.ZipFile(model, "w", compression) as new:
        for name, content in {"header.json": json.dumps(header).encode(), **members}.items():
            new.writestr(name, content)


def as_npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def without(*names):
    return lambda header: {k: v for k, v in header.items() if k not in names}


def within(part, **changes):
    return lambda header: {**header, part: {**header[part], **changes}}


GENERATOR = {
    "bit_generator": "PCG64",
    "state": {"state": 2**200, "inc": -1},
    "has_uint32": 0,
    "uinteger": 0,
}

OTHER = {
    "bit_generator": "MT19937",
    "state": {"key": [1] * 624, "pos": 10**6},
}  # numpy would read at this place
CONSTANT = {
    "bit_generator": "PCG64",
    "state": {"state": 0, "inc": 0},
    "has_uint32": 0,
    "uinteger": 0,
}  # zeros for ever


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: {**h, "version": 99}, "version 99, but this seqattractor reads version 1"),
        (lambda h: {**h, "format": "other"}, "not a seqattractor model"),
        (lambda h: [], "not a seqattractor model"),
        (lambda h: {**h, "class": "Unheard"}, "class 'Unheard', which is not known"),
        (lambda h: {**h, "class": "object"}, "class 'object', which is not known"),
        (lambda h: {**h, "class": {}}, "is not known"),
        (lambda h: {**h, "parameters": {"n_hidde": 3}}, "damaged .*n_hidde"),
        (lambda h: {**h, "parameters": 5}, "damaged"),
        (without("values"), "damaged .*values"),
        (without("parameters"), "damaged .*parameters"),
        (within("parameters", kappa=-1.0), "damaged .*kappa must be above 0"),
        (within("parameters", random_state={"__generator__": GENERATOR}), "damaged"),
        (within("parameters", random_state={"__generator__": {}}), "damaged"),
        (within("parameters", random_state={"__generator__": OTHER}), "damaged .*PCG64"),
        (
            within("parameters", random_state={"__generator__": CONSTANT}),
            "damaged .*random generator",
        ),
        (within("values", n_features_in_=None), "damaged .*n_features_in_"),
        (within("values", n_features_in_=10**30), "damaged"),
        (within("values", order_=2), "damaged .*order_ is 2, but order is 1"),
        (within("values", n_iter_={}), "damaged .*n_iter_"),
        (within("values", n_iter_=3), "damaged .*n_iter_ is 3, but E is"),
        (within("values", n_iter_="3"), "damaged .*n_iter_ is '3'"),
        (within("values", converged_=1), "damaged .*converged_ is 1"),
        (within("parameters", n_hidden=7), "damaged .*n_hidden is 7, but M is 30"),
        (within("parameters", max_epochs=10**30), "damaged .*max_epochs"),
        (within("parameters", order="x"), "damaged .*order must be"),
        (within("parameters", on_conflict="x"), "damaged .*on_conflict must be"),
        (within("parameters", verbose=[1]), "damaged .*verbose is"),
        (lambda h: {**h, "version": True}, "version True"),
        (lambda h: {**h, "class": "x" * 10_000}, "is not known"),
        (within("values", n_iter_=float("nan")), "damaged .*n_iter_"),
        (within("values", recall=None), "damaged .*has no 'recall'"),
        (within("values", metadata_=3), "damaged .*metadata_"),
        (within("values", __class__="x"), "damaged .*has no '__class__'"),
    ],
)
def test_a_header_that_does_not_fit_is_rejected_in_one_sentence_with_the_name_of_the_file(
    model, change, message
):
    rewrite(model, change)
    with pytest.raises(ValueError, match=message) as rejection:
        sa.load(model)
    assert "\n" not in str(rejection.value)
    assert str(model) in str(rejection.value)


HUGE = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000, 100), }"
EMPTY = b"{'descr': '|S0', 'fortran_order': False, 'shape': (1099511627776,), }"


def npy(header, content=b"\0" * 64):
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"U_": None}, "U_ is missing"),
        ({"U_": np.ones((3, 3))}, r"U_ has the shape \(3, 3\), but M is 30"),
        ({"V_": np.ones((20, 31))}, r"V_ has the shape \(20, 31\), but M is 30"),
        ({"U_": np.ones((30, 20), dtype=np.int8)}, "U_ is of int8"),
        ({"U_": np.full((30, 20), np.nan)}, "U_ has entries that are not finite"),
        ({"U_": npy(HUGE)}, "MemoryError|EOF"),
        ({"U_": npy(EMPTY, b"")}, "of .S0, and not of numbers|MemoryError|EOF"),
        ({"U_": npy(b"{'descr': (")}, "TokenError"),
        ({"U_": b"no array"}, "magic string"),
        ({"W_": np.ones(3)}, "has no 'W_'"),
        ({"recall": np.ones(3)}, "has no 'recall'"),
        ({"evil": np.array([{"a": 1}], dtype=object)}, "Object arrays cannot be loaded"),
        ({"attached_patterns_": np.ones((4, 4))}, "attached_patterns_ is of float64"),
        ({"U_": np.ones((30, 20), dtype=np.float16)}, "U_ is of float16"),
        ({"visible_errors_": np.array([-1])}, "visible_errors_ has"),
        ({"U_": np.zeros((30, 20), dtype=[("a", "f8")])}, "and not of numbers"),
    ],
)
def test_an_array_that_does_not_fit_is_named(model, arrays, message):
    rewrite(model, arrays=arrays)
    with pytest.raises(ValueError, match=f"{model}.*damaged.*{message}"):
        sa.load(model)


@pytest.mark.parametrize(
    ("bias", "arrays", "message"),
    [
        (True, {"hidden_bias_": None}, "hidden_bias_ is missing"),
        (True, {"target_bias_": np.zeros(3)}, r"target_bias_ has the shape \(3,\), but M is 30"),
        (
            True,
            {"visible_bias_": np.full(20, np.nan)},
            "visible_bias_ has entries that are not finite",
        ),
        (False, {"hidden_bias_": np.zeros(30)}, "hidden_bias_, but bias is not set"),
    ],
)
def test_a_file_holds_biases_if_and_only_if_its_parameter_is_set(tmp_path, bias, arrays, message):
    path = tmp_path / "model.npz"
    fit_quietly(sa.SequenceAttractor(30, bias=bias, random_state=0), X).save(path)
    sa.load(path)
    rewrite(path, arrays=arrays)
    with pytest.raises(ValueError, match=f"{path}.*damaged.*{message}"):
        sa.load(path)


@pytest.mark.parametrize(
    ("network", "arrays", "message"),
    [
        (sa.LearnedTargetsAttractor, {"Q_": None}, "the array Q_ is missing"),
        (
            sa.LearnedTargetsAttractor,
            {"Q_": np.zeros((30, 3), dtype=np.int64)},
            r"Q_ has the shape \(30, 3\), but N is 20",
        ),
        (sa.LearnedTargetsAttractor, {"Q_": np.zeros((30, 20))}, "Q_ is of float64"),
        (
            sa.SequenceAttractor,
            {"Q_": np.zeros((30, 20), dtype=np.int64)},
            "a SequenceAttractor has no 'Q_'",
        ),
    ],
)
def test_a_file_holds_feedback_if_and_only_if_targets_were_learned(
    tmp_path, network, arrays, message
):
    path = tmp_path / "model.npz"
    fit_quietly(network(30, random_state=0), X).save(path)
    sa.load(path)
    rewrite(path, arrays=arrays)
    with pytest.raises(ValueError, match=f"{path}.*damaged.*{message}"):
        sa.load(path)


def test_a_hostile_number_of_epochs_takes_no_memory_in_learning_on(tmp_path):
    """The plan of a `fit` has an entry for each epoch: 2**31 of them filled the memory."""
    path = tmp_path / "model.npz"
    fit_quietly(sa.SparseSequenceAttractor(30, max_epochs=5, random_state=0), X).save(path)
    rewrite(path, within("values", max_epochs_=2**31))
    net = sa.load(path)
    tracemalloc.start()
    net.partial_fit(X)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


@pytest.mark.parametrize("changed", [{"pulse": 2**31}, {"pulse": 1e9}, {"read_out_interval": 1e-6}])
def test_a_hostile_time_is_rejected_since_it_would_be_walked_step_by_step(tmp_path, changed):
    path = tmp_path / "model.npz"
    fit_quietly(make_network("innate", n_hidden=8, trials=2, random_state=0), X).save(path)
    rewrite(path, within("parameters", **changed))
    with pytest.raises(
        ValueError, match=f"{path} is damaged .pulse must be at most 10000 steps of integration"
    ):
        sa.load(path)


def test_a_changed_weight_is_noticed(model):
    with zipfile.ZipFile(model) as old:
        members = {name: old.read(name) for name in old.namelist()}
    U = np.lib.format.read_array(io.BytesIO(members["U_.npy"]))
    U[3, 4] += 1e-9
    members["U_.npy"] = as_npy(U)
    with zipfile.ZipFile(model, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    with pytest.raises(ValueError, match="its contents are not what was saved"):
        sa.load(model)


def test_a_compressed_file_is_not_unpacked(model):
    rewrite(model, arrays={"U_": np.zeros((30, 2_000_000))}, compression=zipfile.ZIP_DEFLATED)
    assert model.stat().st_size < 10**6
    tracemalloc.start()
    with pytest.raises(ValueError, match="is compressed"):
        sa.load(model)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    for name in "ab":
        sa.SequenceAttractor(30, random_state=0).fit(X).save(tmp_path / name)
        time.sleep(0 if name == "b" else 2.1)  # the times in a zip have steps of two seconds
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


class OwnTable(sa.SequenceMemory):
    """A network of a user's, who declares nothing."""

    def fit_transitions(self, transitions, callback=None):
        self.table_, self.count_ = transitions.targets, len(transitions.targets)

    def next_patterns(self, states, memory=None):
        return self.table_[np.arange(len(states)) % self.count_]


def test_a_file_sets_only_fitted_attributes_of_networks_of_users(tmp_path):
    path = tmp_path / "own.npz"
    OwnTable().fit(X).save(path)
    assert sa.load(path).count_ == len(X) - 1
    for name in ("_private", "other", "recall", "fit_transitions"):
        OwnTable().fit(X).save(path)
        rewrite(path, within("values", **{name: 1}))
        with pytest.raises(ValueError, match=f"has no '{name}'"):
            sa.load(path)


@pytest.mark.parametrize(
    "table", [None, np.ones((3, 3), dtype=np.int8), np.zeros((6, 20), dtype=np.int8)]
)
def test_networks_of_users_that_cannot_make_a_step_are_rejected(tmp_path, table):
    path = tmp_path / "own.npz"
    OwnTable().fit(X).save(path)
    rewrite(path, arrays={"table_": table})
    with pytest.raises(ValueError, match=f"{path} is damaged"):
        sa.load(path)


def test_networks_that_could_not_be_loaded_are_not_saved(tmp_path, model):
    before = model.read_bytes()
    mersenne = sa.SequenceAttractor(30, random_state=np.random.Generator(np.random.MT19937(1))).fit(
        X
    )
    with pytest.raises(TypeError, match="random_state must be made by numpy"):
        mersenne.save(model)
    net = sa.load(model)
    net.more_ = 3
    with pytest.raises(ValueError, match="cannot be saved: a SequenceAttractor has no 'more_'"):
        net.save(model)
    for changed in ({"n_hidden": 7}, {"n_hidden": -1}, {"order": 2}, {"kappa": "x"}):
        with pytest.raises((ValueError, TypeError), match="cannot be saved"):
            sa.load(model).set_params(**changed).save(model)
    net = sa.load(model)
    net.P_[0, 0] = np.inf
    with pytest.raises(ValueError, match="P_ has entries that are not finite"):
        net.save(model)
    net = sa.load(model)
    net.metadata_ = {"text": "x" * 10**7}
    with pytest.raises(ValueError, match=r"take 1000\d{4} bytes"):
        net.save(model)
    assert model.read_bytes() == before


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", sa.networks.REGISTRY)
def test_every_network_comes_back_with_its_sequences_attached(name, tmp_path):
    """Stored patterns and attached ones have different numbers of rows."""
    known = sa.networks.network_class(name)().get_params()
    small = {
        k: v
        for k, v in {
            "n_hidden": np.int64(8),
            "n_latent": 6,
            "max_epochs": 3,
            "random_state": 0,
        }.items()
        if k in known
    }
    net = make_network(name, **small).fit(X)
    attach(net, X)
    net.save(tmp_path / "m.npz")
    again = sa.load(tmp_path / "m.npz")
    assert np.array_equal(again.recall(X[0], steps=5), net.recall(X[0], steps=5))
    assert np.array_equal(attached(again).sequences, X)


@pytest.mark.parametrize(
    "metadata",
    [
        {"frame_shape": 5},
        {"frame_shape": [-4, -5]},
        {"frame_shape": [2**32, 2**32, 20]},
        {"frame_shape": ["a"]},
        {"lengths": "abc"},
        {"lengths": [3, 3]},
        {"names": 5},
        {"units": ["one"]},
        {"rate": "fast"},
        {"step": -1},
        {"kind": []},
        {"options": 7},
        {"code": 7},
        {"code": {"n_levels": 3}},
        {"code": {"n_levels": 2, "kind": "roman"}},
        {"code": {"n_levels": 2, "low": float("nan")}},
        {"code": {"n_levels": 10**30}},
        {"code": {"kind": "gray"}},
        {"code": {"n_levels": 2, "self": 1}},
        {"closed": 10**30},
    ],
)
def test_metadata_about_sequences_is_checked(model, metadata):
    net = sa.load(model)
    attach(net, X)
    net.metadata_ |= metadata
    net.save(model)
    with pytest.raises(
        ValueError, match="the metadata of the sequences do not fit the model"
    ) as error:
        attached(sa.load(model))
    assert "\n" not in str(error.value)


def test_members_that_share_their_bytes_are_not_read(tmp_path):
    """A directory with many names for one place would fill the memory with copies."""
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", b"{}")
        archive.writestr("00000000.npy", b"x" * 10**6)
    data = path.read_bytes()
    end, entry = (
        data.rindex(b"PK\x05\x06"),
        data[data.rindex(b"PK\x01\x02") : data.rindex(b"PK\x05\x06")],
    )
    copies = b"".join(entry.replace(b"00000000", f"{k:08}".encode()) for k in range(1, 1001))
    numbers = struct.pack(
        "<HHI", 1002, 1002, int.from_bytes(data[end + 12 : end + 16], "little") + len(copies)
    )
    path.write_bytes(data[:end] + copies + data[end : end + 8] + numbers + data[end + 16 :])
    tracemalloc.start()
    with pytest.raises(ValueError, match="its members overlap"):
        sa.load(path)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_a_long_directory_is_not_read(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for k in range(30_000):
            archive.writestr(str(k), b"")
    with pytest.raises(ValueError, match="its directory has"):
        sa.load(path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        sa.load(tmp_path / "pipe")


def test_a_file_of_the_other_order_of_bytes_is_read(model):
    net = sa.load(model)
    rewrite(model, arrays={"U_": net.U_.astype(">f8")})
    assert np.array_equal(sa.load(model).U_, net.U_)
    assert sa.load(model).U_.dtype.isnative


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_rejected_and_nothing_else_happens(model, seed):
    """A small run of the campaign: bytes flipped, cut, repeated and swapped; the file is rejected,
    or it is what was saved.
    """
    whole, rng = model.read_bytes(), np.random.default_rng(seed)
    weights = sa.load(model).U_
    rejected = 0
    for _ in range(100):
        data = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            at, to = sorted(rng.integers(0, len(data), 2).tolist())
            match rng.integers(4):
                case 0:
                    data[at] ^= 1 << rng.integers(8)
                case 1:
                    del data[at : at + int(rng.integers(1, 50))]
                case 2:
                    data[to:to] = data[at : at + int(rng.integers(1, 50))]
                case 3:
                    data[at], data[to] = data[to], data[at]
        model.write_bytes(bytes(data))
        try:
            same = np.array_equal(sa.load(model).U_, weights)
        except ValueError as rejection:
            rejected += str(model) in str(rejection)
            same = True
        assert same
    assert rejected > 80


def test_a_pipe_or_a_device_is_not_replaced_by_a_file(model):
    pipe = model.with_name("pipe")
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="is not a regular file"):
        sa.load(model).save(pipe)
    assert pipe.is_fifo()


def test_missing_files_and_other_files_get_one_clear_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        sa.load(tmp_path / "none.npz")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        sa.load(tmp_path)
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(ValueError, match="not a seqattractor model"):
        sa.load(tmp_path / "text.npz")
    np.savez(tmp_path / "plain.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="no header"):
        sa.load(tmp_path / "plain.npz")


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(model):
    before = model.read_bytes()
    net = sa.load(model)
    net.odd_ = object()
    with pytest.raises(TypeError, match="odd_ is of type object, which a model file cannot hold"):
        net.save(model)

    def interrupted():
        with atomic_write(model) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert model.read_bytes() == before
    assert [p.name for p in model.parent.iterdir()] == ["model.npz"]


SAVING = """
import sys
import seqattractor as sa

net = sa.load(sys.argv[1])
while True:
    net.save(sys.argv[1])
    print("saved", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", range(1, 6))
def test_ctrl_c_at_any_moment_leaves_a_whole_file_and_no_other(model, after):
    """The file is written again and again, and the interruption comes at some moment after it was
    written `after` times.
    """
    sa.load(model).save(model)
    whole = model.read_bytes()
    with subprocess.Popen(
        [sys.executable, "-c", SAVING, str(model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as child:
        for _ in range(after):
            assert child.stdout.readline() == "saved\n"
        child.send_signal(signal.SIGINT)
    assert child.returncode != 0
    assert model.read_bytes() == whole
    assert [path.name for path in model.parent.iterdir()] == ["model.npz"]


@pytest.mark.parametrize("where", ["fsync", "replace", "open", "chmod"])
def test_ctrl_c_around_each_step_of_writing_leaves_the_old_file_and_no_other(
    model, monkeypatch, where
):
    before, net = model.read_bytes(), sa.OneHotNetwork().fit(X)
    real = getattr(os, where)

    def interrupted(*args, **options):
        if where == "open":  # the file is there, and nobody has got hold of it yet
            os.close(real(*args, **options))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, where, interrupted)
        with pytest.raises(KeyboardInterrupt):
            net.save(model)
    assert model.read_bytes() == before
    assert [path.name for path in model.parent.iterdir()] == ["model.npz"]


def test_new_files_and_folders_have_the_permissions_that_the_user_gives_to_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        sa.OneHotNetwork().fit(X).save(tmp_path / "m.npz")
        sa.io.write(tmp_path / "frames", sa.Sequences(X, frame_shape=(4, 5)))
    finally:
        os.umask(before)
    assert (tmp_path / "m.npz").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "frames").stat().st_mode & 0o777 == 0o750


def test_links_in_a_circle_are_rejected(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="symbolic links"):
        sa.OneHotNetwork().fit(X).save(tmp_path / "a")


def test_a_long_name_that_the_file_system_takes_can_be_written(tmp_path):
    path = tmp_path / ("x" * 250)
    sa.OneHotNetwork().fit(X).save(path)
    assert sa.load(path).score(X) == 1


def test_a_file_that_is_replaced_passes_its_permissions_on(model):
    model.chmod(0o640)
    sa.load(model).save(model)
    assert model.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link_to_the_new_content(model):
    link = model.with_name("link.npz")
    link.symlink_to(model)
    sa.OneHotNetwork().fit(X).save(link)
    assert link.is_symlink()
    assert type(sa.load(model)) is sa.OneHotNetwork


def test_a_read_only_file_is_rejected_and_stays_as_it_is(model):
    before = model.read_bytes()
    model.chmod(0o444)
    with pytest.raises(PermissionError, match=r"model\.npz is read-only"):
        sa.OneHotNetwork().fit(X).save(model)
    assert model.read_bytes() == before
    assert [path.name for path in model.parent.iterdir()] == [model.name]


def test_a_name_that_cannot_be_written_is_shown_as_it_was_given(model):
    with pytest.raises(OSError, match="too long") as caught:
        sa.load(model).save(model.with_name("x" * 300))
    assert str(caught.value.filename).endswith("/" + "x" * 300)


def test_a_folder_that_does_not_exist_is_named(tmp_path, model):
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist"):
        sa.load(model).save(tmp_path / "nowhere" / "m.npz")
