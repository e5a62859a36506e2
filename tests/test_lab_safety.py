"""The lab's server among strangers: foreign hosts and pages, bad files, nonsense, and the command that starts it."""

import base64
import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import zipfile
import zlib
from contextlib import suppress

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import seqattractor as sa
from lab_server import QUICK, Visitor, running_lab
from seqattractor.cli.lab import command as lab_command
from seqattractor.lab import app as lab_app
from seqattractor.lab.fields import Fields, pack, unpack
from seqattractor.lab.guard import is_allowed_host
from seqattractor.lab.limits import Limits, Refusal
from seqattractor.lab.materials import make_material


@pytest.fixture(scope="module")
def lab():
    with running_lab() as (address, app):
        yield address, app


@pytest.fixture
def visitor(lab):
    return Visitor(lab[0])


# -- who may ask -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "localhost@evil.example", "[::2]:1"]
)
def test_foreign_hosts_are_refused(lab, host):
    answer = httpx.get(f"{lab[0]}/", headers={"host": host})
    assert answer.status_code in (400, 403)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_the_own_machine_is_welcome(lab, host):
    port = lab[0].rsplit(":", 1)[1]
    assert httpx.get(f"{lab[0]}/", headers={"host": f"{host}:{port}"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "https://127.0.0.1"}, {"sec-fetch-site": "cross-site"}],
)
def test_foreign_pages_are_refused(lab, headers):
    answer = httpx.post(f"{lab[0]}/api/visit", headers=headers)
    assert answer.status_code == 403
    assert "other web sites" in answer.json()["error"]


def test_a_wider_lab_takes_numbers_but_no_unknown_names():
    assert is_allowed_host("192.168.1.5:8765", ["localhost"], any_address=True)
    assert not is_allowed_host("192.168.1.5:8765", ["localhost"], any_address=False)
    assert not is_allowed_host("rebound.example:8765", ["localhost"], any_address=True)
    assert is_allowed_host("lab.uni.example", ["lab.uni.example"], any_address=True)


def test_every_answer_forbids_foreign_content(lab):
    for path in ("/", "/main.js", "/api/catalogue", "/nothing"):
        policy = httpx.get(lab[0] + path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/%2e%2e/app.py",
        "/..%2fapp.py",
        "/static/../app.py",
        "//etc/passwd",
        "/%00",
        "/app.py",
        "/index.html%00.js",
    ],
)
def test_nothing_but_the_page_is_served(lab, path):
    port = int(lab[0].rsplit(":", 1)[1])
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.putrequest("GET", path, skip_host=True)  # as it is, not tidied up
    connection.putheader("Host", f"127.0.0.1:{port}")
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status in (400, 404)
    connection.close()


def test_the_page_is_light_and_loads_nothing_from_elsewhere():
    files = lab_app.page_files()
    assert sum(map(len, files.values())) < 200_000
    for name, content in files.items():
        foreign = content.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"http://" not in foreign, name
        assert b"https://" not in foreign, name


def test_unchanged_files_are_not_sent_again(lab):
    tag = httpx.get(f"{lab[0]}/style.css").headers["etag"]
    assert httpx.get(f"{lab[0]}/style.css", headers={"if-none-match": tag}).status_code == 304


# -- uploads ---------------------------------------------------------------------------------------------------------


def gif(frames=6, side=20):
    pictures = []
    for t in range(frames):
        image = np.full((side, side), 255, dtype=np.uint8)
        image[t : t + 6, 4 + t : 9 + t] = 0
        pictures.append(Image.fromarray(image))
    file = io.BytesIO()
    pictures[0].save(file, format="GIF", save_all=True, append_images=pictures[1:], duration=100)
    return file.getvalue()


def npz(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def png(size=(8, 8), color=0):
    file = io.BytesIO()
    Image.new("L", size, color).save(file, format="PNG")
    return file.getvalue()


def send(visitor, *files, head=None):
    line = json.dumps(head or {"files": [{"name": name, "size": len(content)} for name, content in files]}).encode()
    return visitor.http.post("/api/upload", content=line + b"\n" + b"".join(content for _, content in files))


def test_a_dropped_gif_is_learned(visitor):
    shown = send(visitor, ("moving.GIF", gif())).json()
    assert shown["frames"] == 6
    assert shown["kind"] == "pictures"
    assert shown["shape"][0] == shown["shape"][1]
    sequence = {"name": "frames", **{k: shown[k] for k in ("shape", "units", "lengths", "kind", "bits")}}
    assert visitor.learn(sequence, QUICK)["networks"][0]["right"] == 1.0


def test_dropped_pictures_are_frames_in_natural_order(visitor):
    light = [(f"frame{k}.png", png(color=255)) for k in (10, 1)]
    shown = send(visitor, light[0], ("frame2.png", png()), light[1]).json()
    X = unpack(shown["bits"], 3, shown["units"])
    assert (X[0] == X[2]).all()
    assert (X[1] != X[0]).all()


def test_dropped_arrays_are_learned_as_they_are(visitor):
    X = sa.datasets.random_periodic(8, 30, rng=0)
    shown = send(visitor, ("x.npz", npz(X=X))).json()
    assert (unpack(shown["bits"], 8, 30) == X).all()
    assert shown["kind"] == "units"


def huge_png():
    """A tiny file that promises 40000 x 40000 pixels."""
    content = bytearray(png())
    content[16:24] = (40000).to_bytes(4, "big") * 2
    content[29:33] = zlib.crc32(bytes(content[12:29])).to_bytes(4, "big")
    return bytes(content)


def pickled_npz():
    file = io.BytesIO()
    np.savez(file, X=np.array([{"a": 1}], dtype=object))
    return file.getvalue()


def lying_npy():
    """A header that promises a terabyte."""
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
    return b"\x93NUMPY\x01\x00" + (len(head) + 1).to_bytes(2, "little") + head + b"\n" + b"\0" * 64


BAD = {
    "no picture": ("a.gif", b"GIF89a, but nothing more"),
    "cut short": ("a.gif", gif()[:-200]),
    "text": ("notes.txt", b"hello"),
    "script": ("a.html", b"<script>"),
    "path": ("../../etc/passwd", b"root"),
    "path with an ending": ("../../../tmp/evil.npz", b"PK"),
    "one frame": ("a.png", png()),
    "empty zip": ("a.npz", b"PK\x05\x06" + b"\0" * 18),
    "pickle": ("a.npz", pickled_npz()),
    "lying header": ("a.npy", lying_npy()),
    "bomb": ("a.npz", npz(X=np.zeros((400, 200_000), dtype=np.int8))),
    "promised pixels": ("a.png", huge_png()),
    "too many pixels": ("a.png", png((3000, 2000))),
    "other numbers": ("a.npz", npz(X=np.arange(30.0).reshape(5, 6))),
    "too many frames": ("a.npz", npz(X=np.ones((401, 4), dtype=np.int8))),
    "too many units": ("a.npz", npz(X=np.ones((4, 5000), dtype=np.int8))),
    "not a number": ("a.npz", npz(X=np.full((4, 4), np.nan))),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_a_sentence_and_no_path_of_the_server(visitor, name):
    answer = send(visitor, BAD[name])
    assert answer.status_code in (400, 413), answer.text
    sentence = answer.json()["error"]
    assert sentence[0].isupper() or sentence[0].isalnum()
    assert sentence.endswith((".", ")"))
    assert "/tmp" not in sentence
    assert "seqattractor-lab-" not in sentence


def test_uploads_that_do_not_keep_to_their_head_are_refused(visitor):
    for head in (
        {"files": [{"name": "a.gif", "size": 99}]},
        {"files": []},
        {"files": [{"name": 3, "size": 3}]},
        {"files": [{"name": "a.gif", "size": "3"}]},
        {"files": [{"name": "a.gif", "size": -3}]},
        {"file": "a.gif"},
    ):
        assert send(visitor, ("a.gif", b"GIF"), head=head).status_code == 400
    assert visitor.http.post("/api/upload", content=b"no JSON at all").status_code == 400
    assert visitor.http.post("/api/upload", content=b"").status_code == 400
    assert visitor.http.post("/api/upload", content=b"x" * 8_000_001).status_code == 413


def test_a_zip_that_lies_about_its_sizes_does_no_harm(visitor):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", b"\0" * 100_000_000)
    content = bytearray(file.getvalue())
    central = content.rfind(b"PK\x01\x02")
    content[central + 24 : central + 28] = (1000).to_bytes(4, "little")
    assert send(visitor, ("a.npz", bytes(content))).status_code == 400


# -- nonsense --------------------------------------------------------------------------------------------------------

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
    assert httpx.post(f"{lab[0]}/api/learn", json={}).status_code == 410
    assert httpx.get(f"{lab[0]}/api/learn").status_code == 405
    assert httpx.delete(f"{lab[0]}/").status_code == 405
    assert httpx.get(f"{lab[0]}/api/nothing").json()["error"].startswith("There is no such")


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


# -- the command -----------------------------------------------------------------------------------------------------


def start_command(*options):
    return subprocess.Popen(
        [sys.executable, "-m", "seqattractor", "lab", "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def test_the_command_prints_an_address_that_answers_and_ends_with_ctrl_c():
    with start_command("--port", "0") as process:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:[0-9]+/", line).group()
        until = time.monotonic() + 30
        while time.monotonic() < until:
            with suppress(httpx.TransportError):
                assert "seqattractor lab" in httpx.get(address).text
                break
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert "closed" in rest
        assert "Traceback" not in errors


def test_the_command_warns_when_others_can_reach_it():
    with start_command("--port", "0", "--host", "0.0.0.0") as process:
        process.stdout.readline()
        warning = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert "Warning: everybody" in warning


def test_a_taken_port_is_explained():
    with socket.create_server(("127.0.0.1", 0)) as taken, start_command("--port", str(taken.getsockname()[1])) as process:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 2
        assert "cannot listen" in errors
        assert "Traceback" not in errors


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ValueError, match=r"pip install 'seqattractor\[lab\]'"):
        lab_command.callback("127.0.0.1", 0, (), 1, True)
