"""The lab's server: what the page asks for, who may ask, what is refused, and many visitors at once."""

import base64
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import seqattractor as sa
from lab_server import Visitor, running_lab
from seqattractor.cli.lab import command as lab_command
from seqattractor.lab import app as lab_app
from seqattractor.lab.choices import read_network
from seqattractor.lab.fields import Fields, pack, unpack
from seqattractor.lab.guard import is_allowed_host
from seqattractor.lab.jobs import Job
from seqattractor.lab.limits import Limits, Refusal
from seqattractor.lab.materials import CATALOGUE, make_material
from seqattractor.lab.visits import Visits

SMALL = {"name": "random", "frames": 12, "units": 40, "seed": 3}
QUICK = {"name": "attractor", "hidden": 80}
# Never learned without errors: a long job that only a visitor or the clock ends.
LONG = ({"name": "random", "frames": 300, "units": 60}, {"name": "attractor", "hidden": 400, "epochs": 5000})


@pytest.fixture(scope="module")
def lab():
    with running_lab() as (address, app):
        yield address, app


@pytest.fixture
def visitor(lab):
    return Visitor(lab[0])


def bits(text, rows, units):
    return unpack(text, rows, units)


# -- what the page asks for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda e: e["name"])
def test_every_sequence_on_the_page_is_recalled_with_the_suggested_settings(visitor, entry):
    suggest = entry["suggest"]
    sequence = {"name": entry["name"]}
    end = visitor.learn(sequence, {"name": "attractor", **{k: v for k, v in suggest.items() if k != "flips"}})
    assert end["state"] == "done"
    assert end["networks"][0]["right"] == 1.0
    shown = visitor.post("sequence", sequence).json()
    run = visitor.recall(flips=round(shown["units"] * suggest["flips"] / 100), seed=1)["runs"][0]
    assert run["good"], run["verdict"]
    assert run["caught"] <= 5


@pytest.mark.parametrize("name", ["attractor", "only-v", "hebbian", "visible", "sparse", "one-hot", "dense"])
def test_every_network_on_the_page_learns_and_answers(visitor, name):
    end = visitor.learn(SMALL, {"name": name, "hidden": 100, "epochs": 60})
    assert end["state"] == "done", end["note"]
    answer = visitor.recall()
    truth = bits(answer["truth"], answer["rows"], 40)
    recalled = bits(answer["runs"][0]["bits"], answer["rows"], 40)
    assert (truth[0] == recalled[0]).all()  # an unspoilt cue
    assert (answer["runs"][0]["hidden"] is None) == (name in ("visible", "dense"))
    if end["networks"][0]["right"] == 1.0:
        assert answer["runs"][0]["good"]
        assert (truth == recalled).all()


def test_errors_of_every_epoch_are_told_in_order_while_it_learns(visitor):
    assert visitor.post("learn", {"sequence": SMALL, "networks": [QUICK, {"name": "visible"}]}).status_code == 200
    events = visitor.events()
    net = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(sa.datasets.random_periodic(12, 40, rng=3))
    hidden, visible = [], []
    for event in events:
        for part in event.get("epochs", []):
            if part["network"] == 0:
                assert part["from"] == len(visible)
                hidden += part["hidden"]
                visible += part["visible"]
    assert hidden == net.hidden_errors_.tolist()
    assert visible == net.visible_errors_.tolist()
    assert events[-1]["end"]["state"] == "done"


def test_the_recall_is_that_of_the_library(visitor):
    visitor.learn(SMALL, QUICK)
    answer = visitor.recall(start=2, flips=6, seed=5, painted=[0, 7], noise=1)
    X = sa.datasets.random_periodic(12, 40, rng=3)
    net = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(X)
    cue = sa.noise.flip(X[2], 6, rng=5)
    cue[[0, 7]] *= -1
    trajectory = net.recall(cue, steps=answer["rows"] - 1, noise=1, rng=5)
    run = answer["runs"][0]
    assert (bits(run["bits"], answer["rows"], 40) == trajectory).all()
    assert (bits(run["hidden"]["bits"], answer["rows"], 80) == net.hidden(trajectory)).all()
    assert run["tau"] == sa.caught_at(trajectory, X)


SHOWN_CODE = [
    ({"name": "toy", "which": "2"}, [{"name": "attractor", "hidden": 60, "eta": 0.01}], {"flips": 1, "seed": 2}),
    (
        {"name": "places", "frames": 20, "path": "eight"},
        [{"name": "attractor", "hidden": 120, "order": 0}],
        {"flips": 4, "noise": 2},
    ),
    ({"name": "tune"}, [{"name": "dense", "degree": 3}, {"name": "visible", "order": 2}], {"start": 3, "painted": [1, 2]}),
    ({"name": "digits", "frames": 8}, [{"name": "one-hot"}], {"start": 9}),
    ({"name": "walker", "frames": 8, "size": "small"}, [{"name": "only-v", "hidden": 40}], {"occlusion": 0.25, "seed": 4}),
]


@pytest.mark.parametrize(("sequence", "networks", "cue"), SHOWN_CODE, ids=lambda v: v.get("name") if isinstance(v, dict) else "")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_shown_python_code_does_the_same_as_the_page(visitor, sequence, networks, cue, capsys):
    code = visitor.post("code", {"sequence": sequence, "networks": networks, "cue": cue})
    assert code.status_code == 200, code.text
    variables = {}
    exec(code.text, variables)
    visitor.learn(sequence, *networks)
    answer = visitor.recall(**cue)
    for k, run in enumerate(answer["runs"]):
        trajectory = variables["trajectory" if len(networks) == 1 else f"trajectory_{'ab'[k]}"]
        shown = bits(run["bits"], answer["rows"], variables["X"].shape[1])
        assert (shown[-len(trajectory) :] == trajectory).all()


def test_drawn_frames_are_learned_and_their_code_reads_the_downloaded_sequence(visitor, tmp_path, monkeypatch, capsys):
    X = sa.datasets.random_periodic(6, 36, rng=0)
    sequence = {"name": "frames", "shape": [6, 6], "lengths": [6], "bits": pack(X)}
    assert visitor.learn(sequence, QUICK)["networks"][0]["right"] == 1.0
    file = visitor.post("download", {"what": "sequence", "sequence": sequence})
    (tmp_path / "sequence.npz").write_bytes(file.content)
    monkeypatch.chdir(tmp_path)
    variables = {}
    exec(visitor.post("code", {"sequence": sequence, "networks": [QUICK], "cue": {"flips": 3}}).text, variables)
    assert (variables["X"] == X).all()
    assert capsys.readouterr().out == "True\n"


def test_the_downloaded_model_is_the_network(visitor, tmp_path):
    visitor.learn(SMALL, QUICK, {"name": "dense"})
    X = sa.datasets.random_periodic(12, 40, rng=3)
    for k, cls in enumerate((sa.SequenceAttractor, sa.DenseSequenceMemory)):
        path = tmp_path / f"model{k}.npz"
        path.write_bytes(visitor.post("download", {"what": "model", "network": k}).content)
        net = sa.load(path)
        assert isinstance(net, cls)
        assert net.score(X) == 1.0


def test_animation_and_figure_are_pictures(visitor):
    visitor.learn(SMALL, QUICK, {"name": "visible"})
    gif = visitor.post("download", {"what": "gif", "cue": {"flips": 4}})
    assert gif.headers["content-type"] == "image/gif"
    assert Image.open(io.BytesIO(gif.content)).n_frames > 10
    figure = visitor.post("download", {"what": "figure", "cue": {"flips": 4}, "dark": 1})
    assert Image.open(io.BytesIO(figure.content)).size[0] > 1000


def test_the_certified_radius_is_that_of_the_library(visitor):
    visitor.learn(SMALL, QUICK, {"name": "dense"})
    radii = visitor.post("promise", {}).json()["radii"]
    X = sa.datasets.random_periodic(12, 40, rng=3)
    expected = sa.certify(sa.SequenceAttractor(n_hidden=80, random_state=0).fit(X), X, method="count", attack=False)
    assert radii[0] == [*expected.radius.tolist(), -1]
    assert radii[1] is None


def test_a_pattern_with_two_successors_is_explained_with_the_order_that_helps(visitor):
    sequence = {"name": "places", "path": "eight"}
    end = visitor.learn(sequence, {"name": "attractor"})
    assert end["state"] == "failed"
    assert "order=2" in end["note"]
    assert visitor.post("recall", {"cue": {}}).status_code == 409
    assert visitor.learn(sequence, {"name": "attractor", "order": 2})["networks"][0]["right"] == 1.0
    assert visitor.recall(flips=8)["runs"][0]["good"]


def test_a_recall_that_only_ends_on_stored_patterns_by_chance_is_no_success(visitor):
    visitor.learn({"name": "toy"}, {"name": "visible", "epochs": 50})
    run = visitor.recall(flips=1, seed=1)["runs"][0]
    assert not run["good"]
    assert run["verdict"].startswith("Not recalled")


def test_an_open_sequence_is_recalled_to_its_end_and_no_further(visitor):
    visitor.learn({"name": "digits", "sequences": 2, "frames": 10}, {"name": "attractor", "hidden": 150})
    answer = visitor.recall(start=13, flips=50)
    assert answer["rows"] == 7
    assert answer["known"] == 7
    assert answer["runs"][0]["good"]
    assert visitor.post("recall", {"cue": {"start": 19}}).status_code == 400


# -- stop, continue, limits ------------------------------------------------------------------------------------------


def test_a_long_learning_can_be_stopped_used_and_continued(visitor):
    sequence, network = LONG
    assert visitor.post("learn", {"sequence": sequence, "networks": [network]}).status_code == 200
    time.sleep(1.0)
    visitor.post("stop", {})
    asked = time.monotonic()
    end = visitor.events()[-1]["end"]
    assert time.monotonic() - asked < 5
    assert end["state"] == "stopped"
    epochs = end["networks"][0]["epochs"]
    assert 0 < epochs < 5000
    assert visitor.recall(flips=3)["rows"] > 1
    assert visitor.post("continue", {"epochs": 2}).status_code == 200
    again = visitor.events()[-1]["end"]
    assert again["networks"][0]["epochs"] == epochs + 2


def test_continuing_reaches_what_uninterrupted_learning_reaches(visitor):
    short = {**QUICK, "epochs": 4}
    assert not visitor.learn(SMALL, short)["networks"][0]["converged"]
    visitor.post("continue", {"epochs": 500})
    events = visitor.events()
    net = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(sa.datasets.random_periodic(12, 40, rng=3))
    told = [error for event in events for part in event.get("epochs", []) for error in part["visible"]]
    assert events[-1]["end"]["networks"][0]["converged"]
    assert told == net.visible_errors_.tolist()


def test_learning_that_begins_before_the_engine_is_compiled_goes_on_in_it_with_the_same_errors():
    engine = SimpleNamespace(name=lambda: "exact" if len(job.visible[0]) > 3 else "reference")
    job = Job(
        make_material(Fields(SMALL, "sequence"), Limits()), [read_network(Fields(QUICK, "network"), Limits())], Limits(), engine
    )
    job.run()
    net = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(job.material.X)
    assert job.networks[0].engine == "exact"
    assert job.visible[0] == net.visible_errors_.tolist()
    assert job.hidden[0] == net.hidden_errors_.tolist()
    assert job.state == "done"


def test_a_new_learning_takes_the_place_of_the_old_one(visitor):
    sequence, network = LONG
    visitor.post("learn", {"sequence": sequence, "networks": [network]})
    assert visitor.learn(SMALL, QUICK)["networks"][0]["converged"]


def test_learning_ends_when_its_time_is_over():
    with running_lab(Limits(seconds=0.5), warm_up=True) as (address, _):
        visitor = Visitor(address)
        end = visitor.learn(*LONG)
        assert end["state"] == "stopped"
        assert "0.5 s" in end["note"]


@pytest.mark.parametrize(
    ("sequence", "network", "word"),
    [
        ({"name": "walker"}, {"name": "attractor", "hidden": 1999}, "million weights"),
        (
            {"name": "frames", "shape": [64, 64], "lengths": [3], "bits": pack(np.ones((3, 4096)))},
            {"name": "visible"},
            "million weights",
        ),
        ({"name": "random", "frames": 301}, QUICK, "between 3 and 300"),
        ({"name": "frames", "shape": [9, 9], "lengths": [401], "bits": ""}, QUICK, "400"),
        (SMALL, {"name": "attractor", "hidden": 10**9}, "between 1 and 2000"),
        (SMALL, {"name": "attractor", "epochs": 10**6}, "between 1 and 5000"),
        (SMALL, {"name": "attractor", "order": 7}, "between 0 and 6"),
    ],
)
def test_sizes_beyond_the_limits_are_refused_with_the_limit(visitor, sequence, network, word):
    answer = visitor.post("learn", {"sequence": sequence, "networks": [network]})
    assert answer.status_code in (400, 413)
    assert word in answer.json()["error"]


# -- several visitors ------------------------------------------------------------------------------------------------


def test_visitors_do_not_disturb_each_other(lab):
    one, two = Visitor(lab[0]), Visitor(lab[0])
    one.learn(SMALL, QUICK)
    two.learn({"name": "toy"}, {"name": "attractor", "hidden": 30})
    assert one.recall()["rows"] == 1 + 2 * 12 + 10
    assert two.recall()["rows"] == 1 + 2 * 6 + 10


def test_fifty_learners_at_once_all_finish_or_are_told_to_wait():
    with running_lab(Limits(waiting=20), warm_up=True) as (address, _):
        visitors = [Visitor(address) for _ in range(50)]
        body = {"sequence": SMALL, "networks": [{"name": "attractor", "hidden": 60, "epochs": 40}]}

        def go(visitor):
            answer = visitor.post("learn", body)
            if answer.status_code == 503:
                return "please wait" in answer.json()["error"] and answer.headers["retry-after"] == "5"
            return visitor.events()[-1]["end"]["state"] == "done"

        with ThreadPoolExecutor(50) as threads:
            outcomes = list(threads.map(go, visitors))
        assert all(outcomes)
        # Those who waited succeed when they ask again, and the server has stayed in good health.
        assert visitors[-1].post("learn", body).status_code == 200
        assert visitors[-1].events()[-1]["end"]["state"] == "done"


def test_those_who_wait_are_told_how_many_are_before_them():
    with running_lab(Limits(workers=1), warm_up=True) as (address, _):
        first, second, third = (Visitor(address) for _ in range(3))
        for visitor in (first, second, third):
            visitor.post("learn", {"sequence": LONG[0], "networks": [LONG[1]]})
        with third.http.stream("GET", "/api/progress") as stream:
            line = next(line for line in stream.iter_lines() if line)
        assert json.loads(line[6:]) == {"ahead": 1}
        second.post("stop", {})
        assert second.events()[-1]["end"]["state"] == "stopped"
        first.post("stop", {})
        third.post("stop", {})


def test_old_visits_end_and_their_jobs_stop():
    now, stopped = [0.0], []
    visits = Visits(Limits(visits=3, idle_seconds=100), stopped.append, clock=lambda: now[0])
    first = visits.open()
    first.job = SimpleNamespace(networks=[])
    now[0] = 50
    second = visits.open()
    visits.get(first.name)
    now[0] = 140
    visits.get(first.name)  # seen at 50, so still there
    now[0] = 151
    with pytest.raises(Refusal, match="forgotten"):
        visits.get(second.name)  # not seen since 50
    assert stopped == []
    names = [visits.open().name for _ in range(3)]  # one more than there is room for
    assert len(visits) == 3
    assert stopped == [first.job]
    assert visits.get(names[0])


def test_networks_beyond_the_memory_budget_are_forgotten_oldest_first():
    visits = Visits(Limits(network_bytes=20_000), lambda job: None)
    opened = [visits.open() for _ in range(4)]
    for visit in opened:
        visit.job = SimpleNamespace(networks=[SimpleNamespace(V_=np.zeros(1000))])
    visits.get(opened[3].name)
    assert len(visits) == 2
    with pytest.raises(Refusal):
        visits.get(opened[0].name)


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
    import http.client

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
    X = bits(shown["bits"], 3, shown["units"])
    assert (X[0] == X[2]).all()
    assert (X[1] != X[0]).all()


def test_dropped_arrays_are_learned_as_they_are(visitor):
    X = sa.datasets.random_periodic(8, 30, rng=0)
    shown = send(visitor, ("x.npz", npz(X=X))).json()
    assert (bits(shown["bits"], 8, 30) == X).all()
    assert shown["kind"] == "units"


def huge_png():
    """A tiny file that promises 40000 x 40000 pixels."""
    content = bytearray(png())
    content[16:24] = (40000).to_bytes(4, "big") * 2
    import zlib

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
