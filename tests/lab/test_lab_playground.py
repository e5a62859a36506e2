"""The lab without a server: what its worker answers, compared with the server's answers; its
modules, by Node's own test runner; and what is exported.
"""

import base64
import io
import json
import os
import random
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import lab_playground
import lab_server
from lab_playground import NEEDS_NODE, NODE, answers
from lab_server import PAGE, Visitor
from seqattractor.datasets import moving_digits, place_cells, walker
from seqattractor.engine import kernels
from seqattractor.lab import export
from seqattractor.noise import as_generator, flip

lab, playground, modules = lab_server.lab, lab_playground.playground, lab_playground.modules
LOOKS_INSIDE = find_spec("seqattractor.lab.neurons") is not None  # the server, too
TESTS = sorted(Path(__file__).with_name("js").glob("*.test.mjs"))


# -- worker and library give the same answers
# ------------------------------------------------------


def any_digits(rng):
    """Moving digits with any choices."""
    return {
        "name": "digits",
        "sequences": rng.randint(1, 3),
        "frames": rng.randint(4, 12),
        "digits": rng.randint(1, 2),
        "seed": rng.randrange(10_000),
    }


def any_sequence(rng, large):
    """Any sequence that the page offers, or a drawn one."""
    seed = rng.randrange(10_000)
    frames = rng.randint(3, 9)
    bits = base64.b64encode(rng.randbytes(-(-frames * 30 // 8))).decode()
    return rng.choice(
        [
            {"name": "walker", "frames": rng.randint(8, 40), "size": "small"},
            *[any_digits(rng)] * large,
            {"name": "places", "frames": rng.randint(8, 40), "path": rng.choice(["loop", "eight"])},
            {"name": "tune"},
            {"name": "toy", "which": rng.choice(["1", "2", "xor"])},
            {"name": "frames", "shape": [5, 6], "lengths": [frames], "bits": bits},
            *[
                {
                    "name": "random",
                    "frames": rng.randint(3, 60),
                    "units": rng.randint(4, 100),
                    "seed": seed,
                }
            ]
            * 3,
        ]
    )


def any_network(rng, large):
    """Any network that the worker computes, with any settings."""
    return {
        "name": rng.choice([*export.OFFERED, "sparse"]),
        "hidden": rng.randint(5, 150 if large else 40),
        "kappa": rng.choice([0.3, 1.0, 2.5]),
        "eta": rng.choice([0.001, 0.01, 0.07]),
        "bias": rng.randint(0, 1),
        "epochs": rng.choice([1, rng.randint(2, 60), rng.randint(60, 300) if large else 20]),
        "order": rng.choice([1, 1, 1, 2, 3, 0]),
        "seed": rng.randrange(10_000),
    }


def any_visit(rng, ask, large):
    """What somebody asks who looks at a sequence, learns, recalls, continues and recalls again."""
    sequence = any_sequence(rng, large)
    shown = ask("sequence", sequence)
    if "frames" not in shown:
        return [["sequence", sequence]]
    N = shown["units"]
    cue = {
        "start": rng.randrange(shown["frames"]),
        "flips": rng.randint(0, N // 3),
        "occlusion": rng.choice([0, 0, 0.25, 0.5]),
        "noise": rng.choice([0, 0, 1]),
        "seed": rng.randrange(10_000),
        "painted": sorted(rng.sample(range(N), rng.choice([0, 2]))),
    }
    learned = {
        "sequence": sequence,
        "networks": [any_network(rng, large) for _ in range(rng.randint(1, 2))],
    }
    return [
        ["sequence", sequence],
        ["recall", {"sequence": sequence, "cue": cue, "orders": [1, 2]}],
        ["code", {**learned, "cue": cue}],
        ["learn", learned],
        ["progress", None],
        ["recall", {"cue": cue}],
        ["promise", {}],
        ["rates", {"cue": cue}],
        *(any_look_inside(rng, learned, cue, N) if LOOKS_INSIDE else []),
        ["continue", {"epochs": 5}],
        ["progress", None],
        ["recall", {"cue": cue}],
    ]


def any_look_inside(rng, learned, cue, N):
    """What somebody asks who silences neurons and goes back to an epoch."""
    network = learned["networks"][0]
    hidden = network["hidden"] if network["name"] != "perceptron" else 1
    silenced = sorted(rng.sample(range(hidden), min(hidden, 3)))
    # A tiny sparse network may learn twice, with and without noise: the server does not find its
    # epochs again then.
    twice = network["name"] == "sparse" and N * (network["order"] or 6) <= 32
    epoch = {} if twice else {"epoch": rng.randint(1, min(network["epochs"], 20))}
    inside = {"inside": {"network": 0, "silenced": silenced, **epoch}}
    return [
        ["wiring", {}],
        ["neuron", {"neuron": silenced[-1]}],
        ["neuron", {"neuron": 0, "inside": epoch}],
        ["recall", {"cue": cue, "inside": {"silenced": silenced}}],
        ["recall", {"cue": cue, **inside}],
        ["code", {**learned, "cue": cue, **inside}],
    ]


@pytest.fixture
def ask(lab):
    """Ask a server."""
    visitor = Visitor(lab[0])

    def one(path, body):
        if path == "progress":
            return visitor.events()
        answer = visitor.post(path, body)
        if answer.status_code != 200:
            return {"error": answer.json()["error"], "status": answer.status_code}
        return answer.text if path == "code" else answer.json()

    return one


def comparable(path, answer):
    """An answer without what depends on time, and on networks that the worker does not offer."""
    if path == "sequence":
        return {name: value for name, value in answer.items() if name != "degrees"}
    if path != "progress" or isinstance(answer, dict):
        return answer
    curves = {}
    for news in (one for event in answer for one in event.get("epochs", [])):
        hidden, visible = curves.setdefault(news["network"], ([], []))
        assert len(hidden) == news["from"]
        hidden += news["hidden"]
        visible += news["visible"]
    end = answer[-1]["end"]
    for network in end["networks"]:
        del network["degree"]
    return curves, end


def compare(modules, ask, seeds, *, large):
    visits = [any_visit(random.Random(seed), ask, large) for seed in seeds]
    learned = 0
    for seed, visit, theirs in zip(seeds, visits, answers(modules, visits), strict=True):
        for (path, body), answer in zip(visit, theirs, strict=True):
            expected = comparable(path, ask(path, body))
            assert comparable(path, answer) == expected, f"seed {seed}, {path}"
            learned += path == "recall" and "runs" in expected
            if path == "learn" and "error" in expected:
                break  # the server still has the networks of the visit before
    return learned


@NEEDS_NODE
def test_worker_and_library_give_the_same_answers_to_the_last_bit(modules, ask):
    assert compare(modules, ask, range(10), large=False) > 10


@pytest.mark.slow
@NEEDS_NODE
def test_worker_and_library_give_the_same_answers_in_200_random_settings(modules, ask):
    assert compare(modules, ask, range(1000, 1200), large=True) > 200


@NEEDS_NODE
def test_what_the_page_offers_first_is_the_same_too(modules, ask):
    learned = {"sequence": {"name": "walker"}, "networks": [{"name": "attractor", "hidden": 150}]}
    visit = [
        ["sequence", learned["sequence"]],
        ["learn", learned],
        ["progress", None],
        ["recall", {"cue": {"flips": 563, "seed": 1}}],
        ["promise", {}],
    ]
    (found,) = answers(modules, [visit])
    for (path, body), answer in zip(visit, found, strict=True):
        assert comparable(path, answer) == comparable(path, ask(path, body)), path


# -- sequences, random numbers, modules
# ------------------------------------------------------------


def bits_of(answer, X):
    """What an answer shows, as +1 and -1 like X."""
    bits = np.unpackbits(np.frombuffer(base64.b64decode(answer["bits"]), np.uint8))
    return np.where(bits[: X.patterns.size], 1, -1).reshape(X.shape)


@NEEDS_NODE
def test_moving_digits_are_the_librarys(modules):
    asked = [any_digits(random.Random(seed)) for seed in range(20)]
    (found,) = answers(modules, [[["sequence", one] for one in asked]])
    for one, answer in zip(asked, found, strict=True):
        X = moving_digits(one["sequences"], one["frames"], 40, one["digits"], rng=one["seed"])
        assert np.array_equal(bits_of(answer, X), X), one


@NEEDS_NODE
def test_every_path_of_place_cells_is_the_librarys(modules):
    """The worker computes them with the browser's sine, which may differ in the last place."""
    asked = [
        {"name": "places", "frames": frames, "path": path}
        for frames in range(8, 101)
        for path in ("loop", "eight")
    ]
    (found,) = answers(modules, [[["sequence", one] for one in asked]])
    for one, answer in zip(asked, found, strict=True):
        X = place_cells(one["frames"], one["path"])
        assert np.array_equal(bits_of(answer, X), X), one


def reference():
    """What numpy and the library draw with some seeds, for `random.test.mjs`."""
    found = []
    for seed in [*range(40), 9999, 2**32 - 1, 2**32, 2**40 + 7]:
        purpose = ["", "flip", "recall"][seed % 3]
        rng = as_generator(seed, purpose)
        found.append(
            {
                "seed": seed,
                "purpose": purpose,
                "randoms": rng.random(5).tolist(),
                "integers": [int(rng.integers(0, 2 + 37 * k)) for k in range(21)],
                "normals": rng.standard_normal(4000).tolist(),
                "choices": rng.choice([-1.0, 1.0], 9).tolist(),
                "again": rng.random(3).tolist(),
                "flipped": flip(np.ones((2, 30), np.int8), 7, seed).ravel().tolist(),
            }
        )
    return found


@NEEDS_NODE
def test_the_modules_pass_their_own_tests(modules, tmp_path):
    (tmp_path / "numpy.json").write_text(json.dumps(reference()))
    done = subprocess.run(
        [NODE, "--test", *map(str, TESTS)],
        env=os.environ | {"MODULES": str(modules), "NUMPY": str(tmp_path / "numpy.json")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"pass (\d+)", done.stdout)[1]) >= 20


@NEEDS_NODE
def test_a_sequence_to_take_away_is_the_librarys(modules):
    asked = {"name": "digits", "sequences": 2, "frames": 5, "digits": 2, "seed": 3}
    ((file,),) = answers(modules, [[["download", {"what": "sequence", "sequence": asked}]]])
    with np.load(io.BytesIO(base64.b64decode(file["bytes"]))) as arrays:
        X = moving_digits(2, 5, 40, 2, rng=3)
        assert np.array_equal(arrays["X"], X.patterns)
        assert arrays["X"].dtype == np.int8
        assert arrays["lengths"].tolist() == [5, 5]
        assert arrays["frame_shape"].tolist() == [40, 40]


def test_walks_are_frames_of_the_whole_walk():
    """Of which the worker gets the bits."""
    whole = walker(shrink=4)
    for frames in (8, 24, 34, 35, 90):
        span = 103 / 3 if frames <= 34 else 103
        places = np.floor(np.arange(frames) * span / frames).astype(int)
        assert np.array_equal(walker(frames, shrink=4)[:-1], whole[places])


@NEEDS_NODE
def test_the_core_is_called_as_it_is_declared(modules):
    """A kernel whose declaration changes must be called differently by the worker, too."""
    script = (
        "import { ORDER, STRUCTS } from './playground/core.js';"
        "console.log(JSON.stringify({ ORDER, STRUCTS }))"
    )
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", script], cwd=modules, capture_output=True, check=True
    )
    called = json.loads(done.stdout)
    for name, order in called["ORDER"].items():
        kernel = getattr(kernels, name)
        assert order.split() == [*kernel.axes, *(one.name for one in kernel.arguments)], name
    groups = {one.name: one for one in kernels.sparse_learn.arguments if hasattr(one, "members")}
    for name, members in called["STRUCTS"].items():
        declared = [m.name + "." * (m.use == "float") for m in groups[name].members]
        assert members.split() == declared, name


@NEEDS_NODE
@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("recall", {"cue": {}}, 409, "Nothing has been learned yet"),
        ("sequence", {"name": "nothing"}, 400, "must be one of"),
        ("sequence", {"name": "random", "frames": 2.5}, 400, "whole number"),
        ("sequence", {"name": "random", "units": 10**9}, 400, "between 4 and 1024"),
        ("sequence", {"name": "frames", "shape": [2, 2], "lengths": [3], "bits": "?"}, 400, "bits"),
        ("learn", {"sequence": {}, "networks": [{"name": "dense"}]}, 400, "must be one of"),
        ("download", {"what": "model"}, 404, "pip install 'seqattractor[lab]'"),
        ("upload", {}, 404, "pip install 'seqattractor[lab]'"),
    ],
)
def test_what_is_wrong_or_impossible_gets_a_sentence(modules, path, body, status, words):
    ((answer,),) = answers(modules, [[[path, body]]])
    assert answer["status"] == status
    assert words in answer["error"]


# -- what is exported
# ------------------------------------------------------------------------------


def test_an_export_is_light_and_takes_the_place_of_an_older_one(playground, tmp_path):
    files = {path.relative_to(playground) for path in playground.rglob("*") if path.is_file()}
    assert sum((playground / file).stat().st_size for file in files) < 700_000
    (tmp_path / "page").mkdir()
    export.export(tmp_path / "page")
    (tmp_path / "page" / "lab.js").write_text("old")
    export.export(tmp_path / "page")
    assert (tmp_path / "page" / "lab.js").read_bytes() == (playground / "lab.js").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["page"]


def test_the_command_writes_a_page_and_says_how_to_try_it(playground, run):
    code, printed, complaint = run("lab", "--export", "page")
    assert (code, complaint) == (0, "")
    assert re.fullmatch(r"page holds the page: \d+ files, \d+ kB\. Put .* page\n", printed)
    assert Path("page", "index.html").exists()
    code, _, complaint = run("lab", "model.npz", "--export", "other")
    assert code == 2
    assert "leave out MODEL" in complaint
    assert not Path("other").exists()


def test_an_export_leaves_other_files_alone(playground, tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match="holds other files"):
        export.export(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_without_a_core_for_browsers_nothing_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"is missing: wheels bring it along"):
        export.export(tmp_path / "page", tmp_path / "core.wasm")
    (tmp_path / "core.wasm").write_bytes(b"\0asm of something else")
    with pytest.raises(ValueError, match="compiled from other sources"):
        export.export(tmp_path / "page", tmp_path / "core.wasm")
    assert not (tmp_path / "page").exists()


def test_the_service_worker_names_every_file(playground):
    script = (playground / "sw.js").read_text()
    named = json.loads(re.search(r"const FILES = (.*);", script)[1])
    files = {p.relative_to(playground).as_posix() for p in playground.rglob("*") if p.is_file()}
    assert set(named) == (files - {"sw.js"}) | {"./"}


def test_every_module_begins_with_a_map():
    scripts = {name: text.decode() for name, text in PAGE.items() if name.endswith(".js")}
    own = Path(str(export.STATIC), "playground")
    scripts |= {f"playground/{path.name}": path.read_text() for path in own.glob("*.js")}
    for name, text in scripts.items():
        words = re.match(r"(// .*\n)*", text)[0]
        assert len(words) > 60, f"{name} does not say what it is"
