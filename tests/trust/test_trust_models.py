"""Damaged and hostile model files by the thousand: rejected in one sentence, or what was saved."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import json
import os
import re
import struct
import sys
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqattractor as sa

sys.path.insert(0, str(Path(__file__).parent))
from campaign import Campaign, alone, campaign

X = sa.datasets.random_periodic(5, 8, rng=3)
SMALL = {"n_hidden": 20, "n_latent": 5, "max_epochs": 5, "random_state": 0}
STEPS = 6
MOST_MEMORY = 800e6  # bytes of the process, which takes some 350 million; files have thousands


class OfAUser(sa.SequenceMemory):
    """A network of a user's that declares nothing."""

    def __init__(self, ridge: float = 1.0) -> None:
        self.ridge = ridge

    def fit_transitions(self, transitions: Any, callback: Any = None) -> None:
        """Ridge regression."""
        x = transitions.inputs.astype(float)
        self.W_ = np.linalg.solve(
            x.T @ x + self.ridge * np.eye(x.shape[1]), x.T @ transitions.targets
        ).T
        self.count_ = len(x)

    def next_patterns(self, states: Any, memory: Any = None) -> Any:
        """A linear readout."""
        return np.where(states @ self.W_.T >= 0, 1, -1).astype(np.int8)


@dataclass(frozen=True)
class Model:
    """A whole file, and what is true of it."""

    name: str
    content: bytes
    members: dict[str, bytes]
    arrays: dict[str, np.ndarray]
    recall: np.ndarray

    @property
    def header(self) -> dict[str, Any]:
        """A copy of its header."""
        return json.loads(self.members["header.json"])


def recalled(net: sa.SequenceMemory) -> np.ndarray:
    """What a network recalls from the first patterns, with errors in arithmetic (overflow)
    allowed.
    """
    cue = X[: net.order_] if net.order_ > 1 else X[0]
    with np.errstate(all="ignore"):
        return net.recall(cue, steps=STEPS)


def models(folder: Path) -> list[Model]:
    """Small trained networks of every class, and one of the user's."""
    nets: dict[str, Any] = {"own": OfAUser()}
    for name in sa.networks.REGISTRY:
        parameters = {
            k: v for k, v in SMALL.items() if k in sa.networks.network_class(name)().get_params()
        }
        nets[name] = make(name, parameters)
    nets["attractor of order 2"] = sa.SequenceAttractor(
        20, order=2, max_epochs=5, random_state=np.random.default_rng(1)
    )
    nets["attractor that continued"] = sa.SequenceAttractor(
        20, bias=True, max_epochs=5, random_state=2
    )
    whole = []
    for name, net in nets.items():
        path = folder / "whole.npz"
        net.fit(X)
        if name == "attractor that continued":
            net.partial_fit(X[::-1])
        net.metadata_ = {"frame_shape": [2, 4], "name": "wälk"}
        if len(whole) % 2:
            net.attached_patterns_ = np.packbits(X > 0, axis=1)
        net.save(path)
        whole.append(read(name, path))
    return whole


def make(name: str, parameters: dict[str, Any]) -> Any:
    """A network of the registry."""
    from seqattractor.networks.registry import make_network

    return make_network(name, **parameters)


def read(name: str, path: Path) -> Model:
    """A whole file."""
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    arrays = {
        member.removesuffix(".npy"): from_npy(content)
        for member, content in members.items()
        if member != "header.json"
    }
    return Model(name, path.read_bytes(), members, arrays, recalled(sa.load(path)))


def from_npy(content: bytes) -> np.ndarray:
    """An array."""
    return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)


def as_npy(array: np.ndarray) -> bytes:
    """A file of numpy's, of objects too."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npy(description: str, content: bytes, version: int = 1) -> bytes:
    """A file of numpy's with any description."""
    text = description.encode("latin1")
    return (
        b"\x93NUMPY"
        + bytes([version, 0])
        + len(text).to_bytes(2 if version == 1 else 4, "little")
        + text
        + content
    )


def zipped(members: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    """An archive; names may repeat."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", compression) as archive:
        warnings.simplefilter("ignore")
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return buffer.getvalue()


def with_digest(header: Any, members: dict[str, bytes]) -> list[tuple[str, bytes]]:
    """What an attacker writes with knowledge of how the digest is made."""
    if isinstance(header, dict):
        header.pop("digest", None)
        found = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
        for name in sorted(members):
            found.update(f"{name} {len(members[name])} ".encode() + members[name])
        header["digest"] = found.hexdigest()
    return [("header.json", json.dumps(header).encode()), *members.items()]


# -- damage: accidents, after which a file is rejected or still what was saved
# -----------------------------------


def flip(model: Model, rng: np.random.Generator) -> bytes:
    """Some bits are wrong."""
    data = bytearray(model.content)
    for _ in range(rng.integers(1, 4)):
        data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def cut(model: Model, rng: np.random.Generator) -> bytes:
    """The end, the beginning or a piece is missing."""
    at, to = sorted(rng.integers(0, len(model.content), 2).tolist())
    return [model.content[:at], model.content[at:], model.content[:at] + model.content[to:]][
        rng.integers(3)
    ]


def insert(model: Model, rng: np.random.Generator) -> bytes:
    """Something stands before, behind or inside the file."""
    more = rng.bytes(int(rng.integers(1, 200)))
    at = int(rng.choice([0, len(model.content), rng.integers(len(model.content))]))
    return model.content[:at] + more + model.content[at:]


def blank(model: Model, rng: np.random.Generator) -> bytes:
    """A block of zeros, as after a crash of the file system, or a block in the wrong place."""
    at, to = sorted(rng.integers(0, len(model.content), 2).tolist())
    block = bytes(to - at) if rng.random() < 0.5 else model.content[: to - at]
    return model.content[:at] + block + model.content[to:]


def zipped_again(model: Model, rng: np.random.Generator) -> bytes:
    """Another program wrote the archive again, with a changed weight or header, and did not know of
    the digest.
    """
    members = dict(model.members)
    if rng.random() < 0.2:
        header = model.header
        header["values"]["n_iter_"] = int(rng.integers(100))
        members["header.json"] = json.dumps(header).encode()
    else:
        name = str(rng.choice(sorted(model.arrays)))
        array = model.arrays[name].copy()
        at = tuple(rng.integers(array.shape))
        array[at] = (
            array[at] ^ 1
            if array.dtype.kind == "u"
            else -array[at]
            if array.dtype.kind == "i" and array[at]
            else array[at] + 1
        )
        members[f"{name}.npy"] = as_npy(array)
    return zipped(list(members.items()))


DAMAGES = [flip, flip, cut, insert, blank, zipped_again]


# -- attacks: with knowledge of the format and a digest that fits
# ------------------------------------------


WILD: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        10**6,
        2**31,
        2**63,
        10**30,
        10**400,
        -(10**30),
        0.5,
        1e308,
        -0.0,
    ),
    *(
        float("nan"),
        float("inf"),
        "",
        "auto",
        "x",
        "next",
        "\n\n",
        "../../etc/passwd",
        "__class__",
        "\ud800",
    ),
    *(
        [],
        {},
        [1, 2],
        {"a": 1},
        [[[]]],
        {"__generator__": 5},
        {"__generator__": {"bit_generator": "Generator"}},
    ),
]
GENERATORS: list[Any] = [
    {
        "bit_generator": "PCG64",
        "state": {"state": 2**200, "inc": -1},
        "has_uint32": 0,
        "uinteger": 0,
    },
    {"bit_generator": "PCG64", "state": {"state": 0, "inc": 0}, "has_uint32": 0, "uinteger": 0},
    {"bit_generator": "MT19937", "state": {"key": [0] * 624, "pos": 0}},
    {"bit_generator": "MT19937", "state": {"key": [1] * 624, "pos": 10**9}},
    {"bit_generator": "MT19937", "state": {"key": [1] * 3, "pos": 2}},
    {"bit_generator": "BitGenerator", "state": {}},
    {"bit_generator": "seed", "state": {}},
    {
        **{
            "bit_generator": "Philox",
            "state": {"counter": [0] * 4, "key": [1, 2]},
            "buffer": [0] * 4,
        },
        **{"buffer_pos": -(10**6), "has_uint32": 0, "uinteger": 0},
    },
]


def wild_header(model: Model, rng: np.random.Generator) -> bytes:
    """A value of the header is anything."""
    header = model.header
    wild = copy.deepcopy(WILD[rng.integers(len(WILD))])
    part = str(rng.choice(["", "parameters", "values", "values"]))
    if part:
        names = [*header[part], "recall", "_x", "new_", "fit", "metadata_", "n_hidden", "order_"]
        header[part][str(rng.choice(names))] = wild
    else:
        header[str(rng.choice([*header, "more"]))] = wild
    return zipped(with_digest(header, arrays_of(model)))


def huge_number(model: Model, rng: np.random.Generator) -> bytes:
    """A number of the header is far too large or too small: a size, a count, a time, the order."""
    header = model.header
    numbers = [
        (part, name)
        for part in ("parameters", "values")
        for name, value in header[part].items()
        if is_number(value)
    ]
    part, name = numbers[rng.integers(len(numbers))]
    header[part][name] = [10**5, 10**7, 10**8, 10**9, 2**31, 2**40, 1e-6, 1e-300, 1e9][
        rng.integers(9)
    ]
    if name in ("order", "order_"):
        header["parameters"]["order"] = header["values"]["order_"] = header[part][name]
    return zipped(with_digest(header, arrays_of(model)))


def is_number(value: Any) -> bool:
    """Whether it is a number, or a word that stands for one."""
    return value == "auto" or (isinstance(value, int | float) and not isinstance(value, bool))


def wild_generator(model: Model, rng: np.random.Generator) -> bytes:
    """A state of a random generator that there cannot be."""
    header = model.header
    state = copy.deepcopy(GENERATORS[rng.integers(len(GENERATORS))])
    header["parameters"]["random_state"] = {"__generator__": state}
    if "rng_" in header["values"] and rng.random() < 0.5:
        header["values"]["rng_"], header["parameters"]["random_state"] = (
            header["parameters"]["random_state"],
            0,
        )
    return zipped(with_digest(header, arrays_of(model)))


def missing_header(model: Model, rng: np.random.Generator) -> bytes:
    """A part of the header is missing."""
    header = model.header
    part = header if rng.random() < 0.3 else header[str(rng.choice(["parameters", "values"]))]
    if part:
        part.pop(str(rng.choice(sorted(part))))
    return zipped(with_digest(header, arrays_of(model)))


def hostile_json(model: Model, rng: np.random.Generator) -> bytes:
    """A header that is hard to read."""
    text = [
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"",
        b"\xff\xfe",
        b'"',
        b"null",
        b"NaN",
        b"1" * 10_000,
        b'{"format": "seqattractor-model", "version": 1, "class": "LookupMemory", "class": 1}',
        b'{"format": "seqattractor-model", "version": ' + b"9" * 5000 + b"}",
        json.dumps({**model.header, "metadata_": "[" * 1000}).encode(),
        b"[" + b"[]," * 30_000 + b"[]]",
    ][rng.integers(12)]
    return zipped([("header.json", text), *arrays_of(model).items()])


def wild_array(model: Model, rng: np.random.Generator) -> bytes:
    """An array of another shape, kind or content; one too many or too few."""
    members = arrays_of(model)
    name = str(rng.choice(sorted(model.arrays)))
    array = model.arrays[name]
    match int(rng.integers(14)):
        case 0:
            members.pop(f"{name}.npy")
        case 1:
            names = ["W_", "new_", "recall", "_x", "__dict__", "n_features_in_", "inverse_"]
            members[f"{rng.choice(names)}.npy"] = as_npy(array)
        case 2:
            members[f"{name}.npy"] = as_npy(
                np.full(array.shape, rng.choice([np.nan, np.inf, 1e308, -1e308, 5e-324]))
            )
        case 3:
            members[f"{name}.npy"] = as_npy(np.concatenate([array, array]))
        case 4:
            members[f"{name}.npy"] = as_npy(array[:0])
        case 5:
            members[f"{name}.npy"] = as_npy(array.reshape(-1))
        case 6:
            members[f"{name}.npy"] = as_npy(array.T)
        case 7:
            kinds = [
                "f2",
                "f4",
                ">f8",
                "i1",
                "i2",
                ">i8",
                "u1",
                "u8",
                "?",
                "c16",
                "S3",
                "U3",
                "M8[s]",
                "O",
                "f8",
                "i8",
            ]
            members[f"{name}.npy"] = as_npy(array.astype(str(rng.choice(kinds))))
        case 8:
            members[f"{name}.npy"] = as_npy(
                np.full(array.shape, rng.choice([0, 2, -(2**40), 2**16 + 1, 2**63 - 1]))
            )
        case 9:
            members[f"{name}.npy"] = as_npy(np.zeros(array.shape, [("a", "f8"), ("b", "O")]))
        case 10:
            members[f"{name}.npy"] = as_npy(array[None])
        case 11:
            members[f"{name}.npy"] = as_npy(np.asfortranarray(array))
        case 12:
            members[f"{name}.npy"] = as_npy(rng.permuted(array))
        case 13:
            members[f"{name}.npy"] = rng.bytes(int(rng.integers(300)))
    return zipped(with_digest(model.header, members))


def hostile_npy(model: Model, rng: np.random.Generator) -> bytes:
    """A description of an array that promises too much, or is none."""
    members = arrays_of(model)
    name = str(rng.choice(sorted(members)))
    descriptions = [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000, 100), }",
        "{'descr': '|S0', 'fortran_order': False, 'shape': (1099511627776,), }",
        "{'descr': '|V0', 'fortran_order': False, 'shape': (1099511627776,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4611686018427387904, "
        "4611686018427387904), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -8), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (True, 8), }",
        "{'descr': '<f8', 'fortran_order': 1, 'shape': (8,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 8, }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (8,), }",
        "{'descr': [('a', '<f8', (1000000000,))], 'fortran_order': False, 'shape': (8,), }",
        "{'descr': ('<f8', (8,)), 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (8,), 'more': 1}",
        "{'descr': (",
        "(" * 9000,
        "-" * 9000 + "1",
        "{'descr': __import__('os').abort(), 'fortran_order': False, 'shape': (8,), }",
        f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({'1, ' * 100}8,), }}",
        "\0" * 100,
        " " * 60_000,
    ]
    content = npy(
        descriptions[rng.integers(len(descriptions))], bytes(64), version=int(rng.integers(1, 5))
    )
    members[name] = content
    return zipped(with_digest(model.header, members))


def hostile_zip(model: Model, rng: np.random.Generator) -> bytes:
    """An archive that is a bomb, or has one name twice."""
    members = with_digest(model.header, arrays_of(model))
    match int(rng.integers(11)):
        case 0:
            return zipped(
                [*members, (f"{sorted(model.arrays)[0]}.npy", as_npy(np.zeros(10**5)))],
                zipfile.ZIP_DEFLATED,
            )
        case 1:
            return zipped([*members, members[rng.integers(len(members))]])
        case 2:
            return zipped([*members, ("../evil.npy", as_npy(np.ones(3)))])
        case 3:
            return zipped([*members, ("evil.py", b"raise SystemExit")])
        case 4:  # many names for the same bytes
            return overlapping(zipped(members), copies=int(rng.integers(2, 200)))
        case 5:
            return zipped(members) + bytes(int(rng.integers(1, 70_000)))
        case 6:
            return zipped([(name.upper(), content) for name, content in members])
        case 7 | 9:  # sizes in the directory that are not those of the members
            data = bytearray(zipped(members))
            at = data.index(b"PK\x01\x02") if rng.random() < 0.5 else data.rindex(b"PK\x01\x02")
            data[at + 20 : at + 28] = struct.pack(
                "<II", *rng.integers(0, 2**32, 2, dtype=np.uint64).tolist()
            )
            return bytes(data)
        case 8:  # an array that is a bomb, whatever the directory declares
            return bomb(members, f"{rng.choice(sorted(model.arrays))}.npy", rng)
        case _:
            return zipped(
                members,
                int(rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])),
            )


def bomb(members: list[tuple[str, bytes]], name: str, rng: np.random.Generator) -> bytes:
    """Zeros by the megabyte in place of an array, which is compressed, and a size that is true or
    not.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for other, content in members:
            if other != name:
                archive.writestr(zipfile.ZipInfo(other), content)
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(info, "w") as member:
            member.write(
                npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 100000000), }", b"")
            )
            for _ in range(100):
                member.write(bytes(10**6))
        info.file_size = int(rng.choice([info.file_size, 1000, 2**26]))
    return buffer.getvalue()


def overlapping(data: bytes, copies: int) -> bytes:
    """The last member is listed many times under names of the same length."""
    end = data.rindex(b"PK\x05\x06")
    count, size, start = struct.unpack("<HII", data[end + 10 : end + 20])
    entry = data[data.rindex(b"PK\x01\x02") : end]
    length = int.from_bytes(entry[28:30], "little")
    more = b"".join(
        entry[:46] + f"{k:0{length - 4}}.npy".encode() + entry[46 + length :] for k in range(copies)
    )
    tail = struct.pack("<HHII", count + copies, count + copies, size + len(more), start)
    return data[:end] + more + data[end : end + 8] + tail + data[end + 20 :]


def arrays_of(model: Model) -> dict[str, bytes]:
    """All members but the header."""
    return {name: content for name, content in model.members.items() if name != "header.json"}


ATTACKS = [
    *(
        wild_header,
        wild_header,
        huge_number,
        huge_number,
        huge_number,
        wild_array,
        wild_array,
        wild_generator,
        missing_header,
    ),
    *(hostile_json, hostile_npy, hostile_zip),
]


# -- what must be true of a file that loads
# ---------------------------------------------------------------------


def check_damaged(net: Any, model: Model) -> None:
    """After an accident: everything is what was saved."""
    assert np.array_equal(recalled(net), model.recall), "it recalls something else"
    for name, array in model.arrays.items():
        assert np.array_equal(getattr(net, name), array), f"{name} is not what was saved"


def check_attacked(net: Any, model: Model) -> None:
    """After an attack: all numbers are finite, all attributes those of an honest network, and
    recall gives patterns.
    """
    honest = (
        set(model.arrays)
        | set(model.header["values"])
        | {"metadata_", "attached_patterns_", "_ready"}
    )
    honest |= {
        f"{held}_of_{name}" for name in model.arrays for held in ("_steps", "_step_size")
    }  # instead of some arrays
    assert set(vars(net)) <= honest | set(net.get_params()), f"it has {set(vars(net)) - honest}"
    for name, array in model.arrays.items():
        if name != "attached_patterns_":
            found = getattr(net, name)
            assert found.ndim == array.ndim or isinstance(net, OfAUser), (
                name
            )  # which declares no shapes
            assert np.isfinite(found).all(), name
    states = recalled(net)
    assert states.shape == (net.order_ + STEPS, net.n_features_in_)
    assert np.array_equal(np.abs(states), np.ones_like(states))
    if hasattr(
        net, "partial_fit"
    ):  # learning on may reject, but no compiled kernel may leave its arrays
        with contextlib.suppress(ValueError, TypeError, OverflowError), np.errstate(all="ignore"):
            net.partial_fit(X)


def load(path: Path) -> Any:
    """Load a file; a rejection must name it and be short."""
    try:
        return sa.load(path)
    except ValueError as rejection:
        if not re.match(rf"(the model file )?{path} (is|holds) .{{,600}}$", str(rejection)):
            raise AssertionError(
                f"this sentence has too little or too much in it: {rejection}"
            ) from None
        raise


def model_files(folder: Path, cases: int) -> Campaign:
    """The campaign."""
    os.chdir(folder)
    warnings.simplefilter(
        "ignore"
    )  # of learning that did not converge, and of what numpy reads in hostile arrays
    whole = models(folder)
    path = Path("a")  # a name that stands in many messages
    with campaign("model files") as verdicts:
        for case in range(cases):
            rng = np.random.default_rng([14, case])
            model, attacked = whole[case % len(whole)], bool(case // len(whole) % 2)
            hows = ATTACKS if attacked else DAMAGES
            how = hows[rng.integers(len(hows))]
            path.write_bytes(how(model, rng))
            with verdicts.case(
                f"case {case}: {model.name}, {how.__name__}", rejections=(ValueError,), seconds=120
            ):
                net = load(path)
                if attacked:
                    check_attacked(net, model)
                else:
                    check_damaged(net, model)
    return verdicts


@pytest.mark.parametrize("cases", [300, pytest.param(20_000, marks=pytest.mark.trust)])
def test_damaged_and_hostile_model_files_are_rejected_or_whole(tmp_path, cases):
    verdicts = alone(model_files, tmp_path, cases)
    verdicts.finish(cases, keep=cases == 20_000)
    assert verdicts.largest_memory < MOST_MEMORY
