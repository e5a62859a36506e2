"""Packed model files: some ten times smaller, the same bits, and no way to fill the memory."""

import hashlib
import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import seqattractor as sa
from quiet import fit_quietly, quietly
from seqattractor.networks._model_file import read_model, write_model
from seqattractor.networks._origins import Origin, Redrawn, Start
from seqattractor.networks._packed_array import NotDrawnAlike, pack, unpack
from seqattractor.networks._registry import make_network
from seqattractor.networks._small_numbers import are_small, divide, from_bytes, from_places, to_bytes, to_places

X = sa.datasets.random_periodic(7, 40, rng=0)
MORE = sa.datasets.random_periodic(6, 40, rng=1)


# -- networks come back bit for bit ------------------------------------------------------------------------------


def registered(name):
    """A small network of the registry."""
    known = sa.networks.network_class(name)().get_params()
    small = {"n_hidden": 30, "n_latent": 20, "max_epochs": 20, "random_state": 0}
    return make_network(name, **{key: value for key, value in small.items() if key in known})


OTHERS = {
    "no seed": lambda: sa.SequenceAttractor(30),
    "a generator": lambda: sa.SequenceAttractor(30, random_state=np.random.default_rng(5)),
    "Mersenne": lambda: sa.SequenceAttractor(30, random_state=np.random.Generator(np.random.MT19937(1))),
    "order 2": lambda: sa.SequenceAttractor(30, order=2, random_state=0),
    "zero start": lambda: sa.SequenceAttractor(30, init_scale=0, random_state=0),
    "zero start, V": lambda: sa.SequenceAttractor(30, init_scale=0, learn="V", max_epochs=5, random_state=0),
    "threshold": lambda: sa.SequenceAttractor(30, learn="V", input_threshold=1.0, max_epochs=5, random_state=0),
    "odd eta": lambda: sa.SequenceAttractor(30, eta=0.07, kappa=0.3, init_scale=0.2, random_state=0),
    "plain loop": lambda: sa.SequenceAttractor(30, engine="reference", max_epochs=30, random_state=0),
    "biases": lambda: sa.SequenceAttractor(30, bias=True, random_state=None),
    "no epochs needed": lambda: sa.SequenceAttractor(30, kappa=1e-9, init_scale=10.0, random_state=0),
    "sparse without noise": lambda: sa.SparseSequenceAttractor(30, noise=0, max_epochs=20, random_state=0),
    "sparse of order 2": lambda: sa.SparseSequenceAttractor(30, order=2, max_epochs=20, random_state=np.random.default_rng(2)),
    "sparse without bias": lambda: sa.SparseSequenceAttractor(30, bias=0, max_epochs=20, random_state=0),
    "perceptron with zero start": lambda: sa.VisibleNetwork(init_scale=0, random_state=0),
}
NETWORKS = {name: lambda name=name: registered(name) for name in sa.networks.REGISTRY} | OTHERS


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


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_comes_back_bit_for_bit_and_goes_on_learning_as_if_it_had_not_been_saved(name, tmp_path):
    net = fit_quietly(NETWORKS[name](), X)
    for _ in range(2):
        net.save(tmp_path / "a.npz")
        again = sa.load(tmp_path / "a.npz")
        assert bits(again) == bits(net)
        again.save(tmp_path / "b.npz")
        assert (tmp_path / "b.npz").read_bytes() == (tmp_path / "a.npz").read_bytes()
        if not hasattr(net, "partial_fit"):
            return
        quietly(net.partial_fit, MORE)
        quietly(again.partial_fit, MORE)
        assert bits(again) == bits(net)


@pytest.mark.parametrize("name", ["attractor", "sparse", "perceptron"])
def test_weights_that_were_changed_by_hand_come_back_bit_for_bit(name, tmp_path):
    rng = np.random.default_rng(0)
    changes = [
        lambda weights: weights * (np.abs(weights) > np.median(np.abs(weights))),
        lambda weights: weights.astype(np.float32).astype(np.float64),
        lambda weights: -weights,
        lambda weights: weights + 1e-9 * rng.standard_normal(weights.shape),
        lambda weights: np.full(weights.shape, -0.0),
        lambda weights: weights * 1e200,
        lambda weights: np.asfortranarray(weights),
    ]
    for change in changes:
        for attribute in ("U_", "V_", "P_", "W_"):
            net = fit_quietly(registered(name), X)
            if hasattr(net, attribute):
                setattr(net, attribute, change(getattr(net, attribute)))
                net.save(tmp_path / "m.npz")
                assert bits(sa.load(tmp_path / "m.npz")) == bits(net)


def test_parameters_that_were_changed_after_learning_do_not_change_the_weights_in_the_file(tmp_path):
    for changed in (
        {"eta": 0.01},
        {"eta": 1e-9},
        {"init_scale": 0.5},
        {"random_state": 7},
        {"learn": "V", "input_threshold": 1.0},
    ):
        net = sa.SequenceAttractor(30, random_state=0).fit(X).set_params(**changed)
        net.save(tmp_path / "m.npz")
        assert bits(sa.load(tmp_path / "m.npz")) == bits(net)


# -- the size ----------------------------------------------------------------------------------------------------


def times_smaller(net, folder):
    """How many times smaller the packed file is."""
    net.save(folder / "packed.npz")
    net.save(folder / "whole.npz", compact=False)
    return (folder / "whole.npz").stat().st_size / (folder / "packed.npz").stat().st_size


@pytest.mark.parametrize(
    ("net", "T", "least"),
    [
        (sa.SequenceAttractor(500, random_state=0), 70, 10),
        (sa.SequenceAttractor(500, init_scale=0, random_state=0), 70, 10),
        (sa.SequenceAttractor(500, learn="V", random_state=0), 30, 20),
        (sa.SparseSequenceAttractor(500, noise=0, random_state=0), 200, 10),
    ],
)
def test_a_file_is_ten_times_smaller(net, T, least, tmp_path):
    assert times_smaller(net.fit(sa.datasets.random_periodic(T, 100, rng=0)), tmp_path) > least


def test_a_film_is_ten_times_smaller(tmp_path):
    net = sa.SequenceAttractor(100, random_state=0).fit(sa.datasets.moving_digits(3, 20, size=48))
    assert times_smaller(net, tmp_path) > 10


@pytest.mark.slow
def test_sparse_networks_with_noise_have_weights_that_differ_in_more_digits_and_are_six_times_smaller(tmp_path):
    net = sa.SparseSequenceAttractor(500, random_state=0).fit(sa.datasets.random_periodic(500, 100, rng=0))
    assert times_smaller(net, tmp_path) > 6


def test_learning_on_costs_some_room_since_weights_are_rounded_in_another_way(tmp_path):
    net = sa.SequenceAttractor(300, random_state=0).fit(sa.datasets.random_periodic(40, 100, rng=0))
    for _ in range(5):
        net.partial_fit(sa.datasets.random_periodic(10, 100, rng=1))
    assert times_smaller(net, tmp_path) > 7


def test_a_file_that_is_not_compact_has_all_arrays_and_draws_nothing(tmp_path):
    net = sa.SequenceAttractor(30, random_state=0).fit(X)
    net.save(tmp_path / "m.npz", compact=False)
    with np.load(tmp_path / "m.npz") as arrays:
        for name in ("U_", "V_", "P_", "visible_errors_"):
            assert np.array_equal(arrays[name], getattr(net, name))
    header = json.loads(zipfile.ZipFile(tmp_path / "m.npz").read("header.json"))
    assert header["forms"] == {}
    assert "drawn_from" not in header
    assert bits(sa.load(tmp_path / "m.npz")) == bits(net)
    with pytest.raises(TypeError, match="compact must be True or False"):
        net.save(tmp_path / "m.npz", compact="yes")


def test_what_would_shrink_too_much_to_be_trusted_is_not_compressed(tmp_path):
    """A file may take 250 times its size, and 64 MB more: zeros are packed, but not compressed."""
    arrays = {"zeros_": np.zeros((3000, 3000))}
    write_model(tmp_path / "m.npz", {}, arrays, {})
    assert 9e6 < (tmp_path / "m.npz").stat().st_size < 10e6
    assert np.array_equal(read_model(tmp_path / "m.npz")[1]["zeros_"], arrays["zeros_"])
    drawn = {"P_": Start((3000, 3000)).draw(np.random.default_rng(0))}  # nothing of it is in the file but its tails
    write_model(tmp_path / "m.npz", {}, drawn, {"P_": Origin(Start((3000, 3000)))}, np.random.default_rng(0))
    assert np.array_equal(read_model(tmp_path / "m.npz")[1]["P_"], drawn["P_"])


# -- whole numbers and places ------------------------------------------------------------------------------------

small = st.integers(-(2**30), 2**30 - 1)


@given(st.lists(small, min_size=1, max_size=30))
@example([-(2**30), 2**30 - 1])
def test_whole_numbers_come_back_from_their_bytes(numbers):
    array = np.array(numbers, dtype=np.int32)
    assert are_small(array)
    assert from_bytes(to_bytes(array)).tolist() == numbers
    b = len(to_bytes(array))
    assert b == 1 or not (-(256 ** (b - 1)) // 2 <= min(numbers) and max(numbers) < 256 ** (b - 1) // 2)


@given(rows=st.integers(1, 4), columns=st.integers(1, 5), factor=st.integers(1, 1000), data=st.data())
def test_division_is_undone_by_multiplication_and_finds_a_common_factor(rows, columns, factor, data):
    few = st.integers(-(2**29) // factor, 2**29 // factor)
    numbers = np.array(data.draw(st.lists(st.lists(few, min_size=columns, max_size=columns), min_size=rows, max_size=rows)))
    left = np.array(data.draw(st.lists(st.integers(0, factor - 1), min_size=rows, max_size=rows)))
    numbers = (numbers * factor + left[:, np.newaxis]).astype(np.int32)
    divided = numbers.copy()
    found, rest = divide(divided)
    assert found % factor == 0 or found == 1 == np.ptp(numbers, axis=1).max(initial=0) + 1
    assert np.array_equal(divided.astype(np.int64) * found + rest[:, np.newaxis], numbers)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_places_are_in_the_order_of_the_numbers_and_lead_back_to_them(numbers):
    array = np.array(numbers)
    places = to_places(array)
    assert from_places(places).tobytes() == array.tobytes()
    assert array[np.argsort(places)].tolist() == sorted(numbers)
    with np.errstate(over="ignore"):
        up = np.nextafter(array, np.inf)
    apart = (array != 0) & np.isfinite(up) & (up != 0)
    assert (to_places(up)[apart] - places[apart] == 1).all()


numbers_of_all_kinds = st.one_of(
    st.floats(width=64), st.integers(-300, 300).map(lambda k: k * 0.07), st.sampled_from([0.0, -0.0, 5e-324, -1.5, 1e308])
)


@settings(max_examples=200)
@given(
    numbers=st.lists(numbers_of_all_kinds, min_size=1, max_size=12),
    repeat=st.sampled_from([1, 300]),
    unit=st.sampled_from([None, 1.0, 0.07, 0.001, 2.0**-20, 1e300, 5e-324]),
    scale=st.sampled_from([None, 0.0, 0.001, 1.0, 1e300]),
    grid=st.sampled_from([0.0, 2.0**-8]),
    steps=st.integers(0, 1000),
)
def test_whatever_is_packed_comes_back_bit_for_bit(numbers, repeat, unit, scale, grid, steps):
    given_numbers = np.array([numbers] * repeat)
    start = Start(given_numbers.shape, scale, grid) if scale is not None else None
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        learned = start.draw(rng) + np.rint(rng.standard_normal(start.shape) * steps) * (unit or 0.0) if start else given_numbers
    for array in (given_numbers, learned, learned.reshape(-1)):
        redrawn = Redrawn(np.random.default_rng(0)) if start else None
        packed = pack(array, Origin(start, unit), redrawn)
        if packed is not None:
            form, parts = json.loads(json.dumps(packed[0])), packed[1]
            assert unpack(form, parts, Redrawn(np.random.default_rng(0))).tobytes() == array.tobytes()


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=9),
    st.sampled_from(["i1", "i2", "i4", "i8", "u1", "?"]),
    st.sampled_from([1, 500]),
)
def test_whole_numbers_of_all_sizes_come_back(numbers, kind, repeat):
    array = np.array(numbers * repeat).astype(kind)
    packed = pack(array, None, None)
    if packed is not None:
        again = unpack(*packed, None)
        assert again.dtype == array.dtype
        assert np.array_equal(again, array)


def test_what_starts_at_random_is_packed_and_its_tails_are_those_of_the_machine_that_saved_it():
    """Numbers beyond 3.65 are made with a logarithm, which another machine may round otherwise."""
    start = Start((100, 200), 0.5)
    array = start.draw(np.random.default_rng(0))
    form, parts = pack(array, Origin(start), Redrawn(np.random.default_rng(0)))
    assert 0 < len(parts["tails"]) < 30
    assert (np.abs(parts["tails"]) > 3.65).all()
    assert set(parts) == {"tails"}
    elsewhere = {"tails": np.nextafter(parts["tails"], 0)}
    with pytest.raises(NotDrawnAlike):
        unpack(form, elsewhere, Redrawn(np.random.default_rng(0)))


# -- files that are damaged or meant to harm ---------------------------------------------------------------------


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.npz"
    sa.SequenceAttractor(30, random_state=0).fit(X).save(path)
    return path


def rewrite(path, change=None, **parts):
    """Write a file again as a careful attacker would: with a changed header or parts, and a digest that fits."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    header = json.loads(members.pop("header.json"))
    del header["digest"]
    if change is not None:
        change(header)
    for name, array in parts.items():
        members.pop(f"{name.replace('__', '_.')}.npy", None)
        if array is not None:
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array)
            members[f"{name.replace('__', '_.')}.npy"] = buffer.getvalue()
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(members):
        digest.update(f"{name} {len(members[name])} ".encode() + members[name])
    header["digest"] = digest.hexdigest()
    with zipfile.ZipFile(path, "w") as new:
        new.writestr("header.json", json.dumps(header))
        for name, content in members.items():
            new.writestr(name, content, zipfile.ZIP_DEFLATED if name.count(".") > 1 else zipfile.ZIP_STORED)


def form(name, **changes):
    """A change of the form of an array; None takes something away."""

    def change(header):
        header["forms"][name].update(changes)
        header["forms"][name] = {key: value for key, value in header["forms"][name].items() if value is not None}

    return change


def start(name, **changes):
    """A change of the start of an array."""
    return lambda header: header["forms"][name]["start"].update(changes)


def top(**changes):
    """A change of the header."""
    return lambda header: header.update(changes)


def test_a_file_that_is_written_again_as_it_was_still_loads(model):
    before = bits(sa.load(model))
    rewrite(model)
    assert bits(sa.load(model)) == before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (form("U_", shape=[10**6, 10**6]), "bytes of memory, too much for a file of"),
        (form("U_", shape=[10**30, 1]), "bytes of memory, too much for a file of"),
        (form("U_", shape=[30, -40]), "an array of the kind 'f8' and the shape"),
        (form("U_", shape=[]), "an array of the kind"),
        (form("U_", shape=[True, 1200]), "an array of the kind"),
        (form("U_", shape=[30.0, 40]), "an array of the kind"),
        (form("U_", shape="30"), "an array of the kind"),
        (form("U_", shape=[1] * 100), "an array of the kind"),
        (form("U_", shape=[40, 30]), "rest are of uint8 and shape"),
        (form("U_", shape=[15, 40]), "the parts|steps are of uint8 and shape|rest are of uint8 and shape"),
        (form("U_", kind="O"), "an array of the kind 'O'"),
        (form("U_", kind="i8"), "a start that cannot be drawn"),
        (form("U_", unit=float("nan")), "in units of nan"),
        (form("U_", unit="x"), "in units of 'x'"),
        (form("U_", unit=1e308, factor=2), "U_ has entries that are not finite"),
        (form("U_", unit=None), "cannot be counted"),
        (form("U_", factor=None), "cannot be counted"),
        (form("U_", factor=-2), "cannot be counted"),
        (form("U_", factor=1), "parts"),
        (form("U_", factor=2**40), "cannot be counted"),
        (form("U_", factor=2.0), "cannot be counted"),
        (form("U_", start=None), "parts"),
        (form("U_", start=5), "damaged"),
        (form("P_", factor=1, unit=1.0), "parts"),
        (start("V_", first=10**12), "bytes of memory, too much for a file of"),
        (start("V_", first=-1), "a start that cannot be drawn"),
        (start("V_", first=0), "a start that cannot be drawn"),
        (start("V_", first=1199), "a start that cannot be drawn"),
        (start("V_", first=1201), "draws other ones here"),
        (start("V_", scale=None), "in units of None"),
        (start("V_", scale=1e308), "not finite"),
        (start("V_", grid=float("inf")), "in units of inf"),
        (start("V_", digest="0"), "draws other ones here"),
        (top(drawn_from=None), "no random generator"),
        (top(drawn_from=5), "no random generator"),
        (top(drawn_from={"__generator__": {}}), "KeyError"),
        (top(drawn_from={"__generator__": np.random.PCG64(3).state}), "draws other ones here"),
        (top(forms=None), "damaged"),
        (top(forms=[]), "damaged"),
        (top(forms={}), "belongs to nothing"),
        (lambda header: header.pop("forms"), "KeyError: 'forms'"),
        (lambda header: header["forms"].pop("U_"), "belongs to nothing"),
        (top(version=2), "has no 'U_.rest'"),
    ],
)
def test_a_form_that_does_not_fit_is_refused_in_one_sentence_and_takes_no_memory(model, change, says):
    rewrite(model, change)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=says) as refusal:
            sa.load(model)
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()
    assert "\n" not in str(refusal.value)
    assert str(model) in str(refusal.value)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"U__steps": None}, "parts"),
        ({"U__rest": None}, "parts"),
        ({"U__tails": None}, "draws other ones here"),
        ({"P__steps": np.zeros((1, 30, 40), np.uint8)}, "parts"),
        ({"W__steps": np.zeros((1, 30, 40), np.uint8)}, "belongs to nothing"),
        ({"U_": np.zeros((30, 40))}, "U_ twice"),
        ({"U__steps": np.zeros((1, 30, 40), np.int8)}, "steps are of int8"),
        ({"U__steps": np.zeros((1, 30, 41), np.uint8)}, "steps are of uint8 and shape"),
        ({"U__steps": np.zeros((0, 30, 40), np.uint8)}, "steps are of uint8 and shape"),
        ({"U__steps": np.zeros((5, 30, 40), np.uint8)}, "steps are of uint8 and shape"),
        ({"U__rest": np.zeros((1, 31), np.uint8)}, "rest are of uint8 and shape"),
        ({"U__tails": np.zeros((1, 1))}, "tails are of float64"),
        ({"U__tails": np.zeros(3, np.uint8)}, "tails are of uint8"),
        ({"V__ulps": np.zeros((1, 3), np.uint8)}, "ulps are of uint8 and shape"),
        ({"P__tails": np.full(3, np.nan)}, "draws other ones here|not finite|no float64"),
    ],
)
def test_parts_that_do_not_fit_are_refused(model, parts, says):
    rewrite(model, **parts)
    with pytest.raises(ValueError, match=says) as refusal:
        sa.load(model)
    assert "\n" not in str(refusal.value)
    assert str(model) in str(refusal.value)


def test_a_generator_that_is_none_is_refused_even_where_nothing_is_drawn(tmp_path):
    path = tmp_path / "m.npz"
    sa.SequenceAttractor(30, random_state=0).fit(X).save(path, compact=False)
    rewrite(path, top(drawn_from=5))
    with pytest.raises(ValueError, match="no random generator"):
        sa.load(path)


def test_whole_numbers_that_do_not_fit_their_kind_are_refused(tmp_path):
    path = tmp_path / "m.npz"
    sa.LookupMemory().fit(sa.datasets.random_periodic(40, 60, rng=0)).save(path)
    header = json.loads(zipfile.ZipFile(path).read("header.json"))
    name = next(name for name, described in header["forms"].items() if described["kind"] == "i1")
    rewrite(path, form(name, factor=500))
    with pytest.raises(ValueError, match="whose numbers are no int8"):
        sa.load(path)


@pytest.mark.parametrize("claimed", [4000, 3 * 10**8])
def test_a_part_that_unpacks_to_300_megabytes_is_cut_off_whatever_the_directory_says(model, claimed):
    bomb = model.with_name("bomb.npz")
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(bomb, "w") as new:
        for name in old.namelist():
            if name != "U_.steps.npy":
                new.writestr(name, old.read(name), old.getinfo(name).compress_type)
        info = zipfile.ZipInfo("U_.steps.npy")
        info.compress_type = zipfile.ZIP_DEFLATED
        with new.open(info, "w", force_zip64=True) as member:
            for _ in range(300):
                member.write(bytes(10**6))
        info.file_size = claimed
    assert bomb.stat().st_size < 2 * 10**6
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"truncated|not the size that is said|bytes of memory, too much"):
            sa.load(bomb)
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()
