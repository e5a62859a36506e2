"""Nonsense sent to the lab's server: it answers with a sentence and goes on."""

import base64
import json

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab_server
from lab_server import PATIENCE, Visitor
from seqattractor.lab.materials import make_material
from seqattractor.lab.requests import Fields, Limits, Refusal, pack, unpack

lab, visitor = lab_server.lab, lab_server.visitor


POSTS = ("visit", "leave", "sequence", "upload", "learn", "continue", "stop", "recall", "promise", "code", "download")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False),
    st.text(max_size=8),
    st.sampled_from(["walker", "frames", "attractor", "gif", "../../etc/passwd", "__class__"]),
)
NAMES = st.sampled_from(
    [
        *("sequence", "networks", "cue", "name", "frames", "units", "shape", "lengths", "bits", "kind", "hidden", "kappa"),
        *("eta", "epochs", "order", "seed", "start", "flips", "occlusion", "painted", "noise", "what", "network", "orders"),
    ]
)
JSON = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=5)), max_leaves=14
)


@settings(max_examples=120)
@given(path=st.sampled_from(POSTS), body=JSON)
def test_nonsense_gets_a_sentence_and_never_an_error_of_the_server(lab, path, body):
    visitor = _fuzzer(lab[0])
    answer = visitor.http.post(f"/api/{path}", content=json.dumps(body).encode())
    assert answer.status_code < 500, (path, body, answer.text)
    if answer.status_code >= 400:
        assert answer.json()["error"].endswith((".", ")"))
    elif path == "learn":
        visitor.post("stop", {})


@settings(max_examples=40)
@given(path=st.sampled_from(POSTS), body=st.binary(max_size=60))
def test_bytes_that_are_no_json_get_a_sentence(lab, path, body):
    answer = _fuzzer(lab[0]).http.post(f"/api/{path}", content=body)
    assert answer.status_code < 500
    assert answer.status_code == 200 or answer.json()["error"].endswith(".")


_FUZZERS = {}


def _fuzzer(address):
    """A visitor for some nonsense; a new one now and then, since nonsense may make one leave."""
    if address not in _FUZZERS or _FUZZERS[address][1] == 8:
        _FUZZERS[address] = Visitor(address), 0
    visitor, uses = _FUZZERS[address]
    _FUZZERS[address] = visitor, uses + 1
    return visitor


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"9" * 100_000,
        b'{"name": NaN}',
        b'{"cue": {"flips": 1e400}}',
        b"\xff\xfe",
        b'{"name": "random", "frames": true}',
        b"{}" * 600_000,
    ],
    ids=["deep list", "deep object", "long number", "NaN", "infinite", "no UTF-8", "bool", "large"],
)
def test_hostile_json_is_refused(visitor, body):
    for path in ("sequence", "learn", "recall"):
        answer = visitor.http.post(f"/api/{path}", content=body)
        assert answer.status_code in (400, 409, 413), (path, answer.status_code)


def test_requests_without_a_visit_or_for_another_method_are_refused(lab):
    assert httpx.post(f"{lab[0]}/api/learn", json={}, timeout=PATIENCE).status_code == 410
    assert httpx.get(f"{lab[0]}/api/learn", timeout=PATIENCE).status_code == 405
    assert httpx.delete(f"{lab[0]}/", timeout=PATIENCE).status_code == 405
    assert httpx.get(f"{lab[0]}/api/nothing", timeout=PATIENCE).json()["error"].startswith("There is no such")


def test_downloads_before_learning_are_refused(visitor):
    for what in ("model", "gif", "figure"):
        assert visitor.post("download", {"what": what}).status_code == 409
    assert visitor.post("download", {"what": "../model"}).status_code == 400


@given(st.integers(1, 6), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_bits_survive_the_way(frames, units, seed):
    X = np.where(np.random.default_rng(seed).random((frames, units)) < 0.5, 1, -1).astype(np.int8)
    assert (unpack(pack(X), frames, units) == X).all()


def test_bits_of_the_wrong_length_are_refused():
    for text in ("", "####", base64.b64encode(b"12345").decode()):
        spec = Fields({"name": "frames", "shape": [3, 3], "lengths": [2], "bits": text}, "sequence")
        with pytest.raises(Refusal):
            make_material(spec, Limits())
