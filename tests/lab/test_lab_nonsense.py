"""Nonsense sent to the lab's server: it answers with a sentence and continues. See also
trust/test_trust_requests.py.
"""

import base64

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab_server
from lab_server import PATIENCE
from seqattractor.lab.materials import make_material
from seqattractor.lab.requests import Fields, Limits, Rejection, pack, unpack

lab, visitor = lab_server.lab, lab_server.visitor


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
def test_hostile_json_is_rejected(visitor, body):
    for path in ("sequence", "learn", "recall"):
        answer = visitor.http.post(f"/api/{path}", content=body)
        assert answer.status_code in (400, 409, 413), (path, answer.status_code)


def test_requests_without_a_visit_or_for_another_method_are_rejected(lab):
    assert httpx.post(f"{lab[0]}/api/learn", json={}, timeout=PATIENCE).status_code == 410
    assert httpx.get(f"{lab[0]}/api/learn", timeout=PATIENCE).status_code == 405
    assert httpx.delete(f"{lab[0]}/", timeout=PATIENCE).status_code == 405
    assert (
        httpx.get(f"{lab[0]}/api/nothing", timeout=PATIENCE)
        .json()["error"]
        .startswith("There is no such")
    )


def test_downloads_before_learning_are_rejected(visitor):
    for what in ("model", "gif", "figure"):
        assert visitor.post("download", {"what": what}).status_code == 409
    assert visitor.post("download", {"what": "../model"}).status_code == 400


@given(st.integers(1, 6), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_bits_survive_the_way(frames, units, seed):
    X = np.where(np.random.default_rng(seed).random((frames, units)) < 0.5, 1, -1).astype(np.int8)
    assert (unpack(pack(X), frames, units) == X).all()


def test_bits_of_the_wrong_length_are_rejected():
    for text in ("", "####", base64.b64encode(b"12345").decode()):
        spec = Fields({"name": "frames", "shape": [3, 3], "lengths": [2], "bits": text}, "sequence")
        with pytest.raises(Rejection):
            make_material(spec, Limits())
