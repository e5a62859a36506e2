"""The lab's server: what the page asks for, stopping and continuing, limits, and many visitors at
once.
"""

import io
import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from PIL import Image

import lab_server
import seqattractor as sa
from lab_server import LONG, QUICK, SMALL, Visitor, running_lab
from seqattractor.engine import reference
from seqattractor.lab.choices import NETWORKS, degree_for, read_network
from seqattractor.lab.jobs import Job, Visits
from seqattractor.lab.materials import CATALOGUE, make_material
from seqattractor.lab.requests import Fields, Limits, Rejection, pack
from seqattractor.lab.requests import unpack as bits

lab, visitor = lab_server.lab, lab_server.visitor


# -- what the page asks for
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda e: e["name"])
def test_every_sequence_on_the_page_is_recalled_with_the_suggested_settings(visitor, entry):
    suggest = entry["suggest"]
    sequence = {"name": entry["name"]}
    end = visitor.learn(
        sequence, {"name": "attractor", **{k: v for k, v in suggest.items() if k != "flips"}}
    )
    assert end["state"] == "done"
    assert end["networks"][0]["right"] == 1.0
    shown = visitor.post("sequence", sequence).json()
    run = visitor.recall(flips=round(shown["units"] * suggest["flips"] / 100), seed=1)["runs"][0]
    assert run["good"], run["verdict"]
    assert run["locked_on"] <= 5


@pytest.mark.parametrize("name", list(NETWORKS))
def test_every_network_on_the_page_learns_and_answers(visitor, name):
    end = visitor.learn(SMALL, {"name": name, "hidden": 100, "epochs": 60})
    assert end["state"] == "done", end["note"]
    answer = visitor.recall()
    truth = bits(answer["runs"][0]["truth"], answer["rows"], 40)
    recalled = bits(answer["runs"][0]["bits"], answer["rows"], 40)
    assert (truth[0] == recalled[0]).all()  # a clean cue
    assert (answer["runs"][0]["hidden"] is None) == (name in ("perceptron", "dense"))
    if end["networks"][0]["right"] == 1.0:
        assert answer["runs"][0]["good"]
        assert (truth == recalled).all()


def test_errors_of_every_epoch_are_sent_in_order_while_it_learns(visitor):
    assert (
        visitor.post(
            "learn", {"sequence": SMALL, "networks": [QUICK, {"name": "perceptron"}]}
        ).status_code
        == 200
    )
    events = visitor.events()
    net = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(
        sa.datasets.random_periodic(12, 40, rng=3)
    )
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
    assert run["tau"] == sa.analysis.retrieved_at(trajectory, X)


def test_the_command_line_recalls_the_same_from_the_same_cue_and_seed(visitor, run, tmp_path):
    visitor.learn(SMALL, QUICK)
    (tmp_path / "model.npz").write_bytes(visitor.post("download", {"what": "model"}).content)
    for start, cue in [
        (0, {"flips": 9}),
        (3, {"flips": 16, "seed": 7}),
        (5, {"flips": 4, "noise": 6, "occlusion": 0.25, "seed": 2}),
    ]:
        answer = visitor.recall(start=start, **cue)
        shown = answer["runs"][0]
        options = {
            "--flips": cue["flips"],
            "--noise": cue.get("noise", 0),
            "--seed": cue.get("seed", 0),
        }
        if "occlusion" in cue:
            options["--occlude"] = cue["occlusion"]
        words = [word for pair in options.items() for word in pair]
        steps = answer["rows"] - 1
        code, out, _ = run(
            "recall",
            "model.npz",
            "--cue",
            f"0:{start}",
            "--steps",
            steps,
            *words,
            "--json",
            "-o",
            "r.npz",
        )
        reported = json.loads(out)
        assert code == 0
        assert (
            (bits(shown["bits"], answer["rows"], 40) > 0)
            == (np.load(tmp_path / "r.npz")["recall"] > 0)
        ).all()
        assert {name: reported[name] for name in ("locked_on", "tau", "verdict")} == {
            name: shown[name] for name in ("locked_on", "tau", "verdict")
        }


SHOWN_CODE = [
    (
        {"name": "toy", "which": "2"},
        [{"name": "attractor", "hidden": 60, "eta": 0.01}],
        {"flips": 1, "seed": 2},
    ),
    (
        {"name": "places", "frames": 20, "path": "eight"},
        [{"name": "attractor", "hidden": 120, "order": 0}],
        {"flips": 4, "noise": 2},
    ),
    (
        {"name": "tune"},
        [{"name": "dense", "degree": 3}, {"name": "perceptron", "order": 2}],
        {"start": 3, "painted": [1, 2]},
    ),
    ({"name": "digits", "frames": 8}, [{"name": "one-hot"}], {"start": 9}),
    (
        {"name": "tune"},
        [{"name": "dense", "order": 3}],
        {"start": 30, "flips": 1},
    ),  # round the end of the loop
    (SMALL, [QUICK, {"name": "dense"}], {"flips": 5, "noise": 3, "occlusion": 0.2, "seed": 8}),
    (
        {"name": "walker", "frames": 8, "size": "small"},
        [{"name": "attractor-V", "hidden": 40}],
        {"occlusion": 0.25, "seed": 4},
    ),
    (SMALL, [{**QUICK, "bias": 1}, {"name": "perceptron", "bias": 1}], {"flips": 3}),
]


@pytest.mark.parametrize(
    ("sequence", "networks", "cue"),
    SHOWN_CODE,
    ids=lambda v: v.get("name") if isinstance(v, dict) else "",
)
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
        assert ("bias=True" in code.text) == any(network.get("bias") for network in networks)


def test_drawn_frames_are_learned_and_their_code_reads_the_downloaded_sequence(
    visitor, tmp_path, monkeypatch, capsys
):
    X = sa.datasets.random_periodic(6, 36, rng=0)
    sequence = {"name": "frames", "shape": [6, 6], "lengths": [6], "bits": pack(X)}
    assert visitor.learn(sequence, QUICK)["networks"][0]["right"] == 1.0
    file = visitor.post("download", {"what": "sequence", "sequence": sequence})
    (tmp_path / "sequence.npz").write_bytes(file.content)
    monkeypatch.chdir(tmp_path)
    variables = {}
    exec(
        visitor.post("code", {"sequence": sequence, "networks": [QUICK], "cue": {"flips": 3}}).text,
        variables,
    )
    assert (variables["X"] == X).all()
    assert capsys.readouterr().out == "True\n"


def test_the_downloaded_model_is_the_network(visitor, tmp_path):
    visitor.learn(SMALL, QUICK, {"name": "dense"})
    X = sa.datasets.random_periodic(12, 40, rng=3)
    for k, cls in enumerate((sa.SequenceAttractor, sa.zoo.DenseSequenceMemory)):
        path = tmp_path / f"model{k}.npz"
        path.write_bytes(visitor.post("download", {"what": "model", "network": k}).content)
        net = sa.load(path)
        assert isinstance(net, cls)
        assert net.score(X) == 1.0


def test_animation_and_figure_are_pictures(visitor):
    visitor.learn(SMALL, QUICK, {"name": "perceptron"})
    gif = visitor.post("download", {"what": "gif", "cue": {"flips": 4}})
    assert gif.headers["content-type"] == "image/gif"
    assert Image.open(io.BytesIO(gif.content)).n_frames > 10
    figure = visitor.post("download", {"what": "figure", "cue": {"flips": 4}, "dark": 1})
    assert Image.open(io.BytesIO(figure.content)).size[0] > 1000


def test_the_certified_radius_is_that_of_the_library(visitor):
    visitor.learn(SMALL, QUICK, {"name": "dense"})
    radii = visitor.post("promise", {}).json()["radii"]
    X = sa.datasets.random_periodic(12, 40, rng=3)
    expected = sa.certify(
        sa.SequenceAttractor(n_hidden=80, random_state=0).fit(X), X, method="count", attack=False
    )
    assert radii[0] == [*expected.radius.tolist(), -1]
    assert radii[1] is None


def test_a_pattern_with_two_successors_is_explained_with_the_order_that_helps(visitor):
    sequence = {"name": "places", "path": "eight"}
    end = visitor.learn(sequence, {"name": "attractor"})
    assert end["state"] == "failed"
    assert 'set "Past patterns it sees" to 2' in end["note"]
    assert visitor.post("recall", {"cue": {}}).status_code == 409
    assert visitor.learn(sequence, {"name": "attractor", "order": 2})["networks"][0]["right"] == 1.0
    assert visitor.recall(flips=8)["runs"][0]["good"]


def test_a_recall_that_only_ends_on_stored_patterns_by_chance_is_no_success(visitor):
    visitor.learn({"name": "toy"}, {"name": "perceptron", "epochs": 50})
    run = visitor.recall(flips=1, seed=1)["runs"][0]
    assert not run["good"]
    assert run["verdict"].startswith("Not recalled")


def test_a_recall_that_continues_at_another_place_of_the_loop_reports_its_shift(visitor):
    visitor.learn(SMALL, QUICK)
    X = sa.datasets.random_periodic(12, 40, rng=3)
    units = np.flatnonzero(X[0] != X[3])
    answer = visitor.recall(painted=units.tolist())  # the first pattern, repainted to be the fourth
    run = answer["runs"][0]
    assert (
        run["verdict"]
        == "Out of phase: from step 0 on it follows the sequence exactly, but 3 frames ahead."
    )
    assert not run["good"]
    answer = visitor.recall(painted=units.tolist()[1:])
    assert (
        answer["runs"][0]["verdict"]
        == "Out of phase: from step 1 on it follows the sequence exactly, but 3 frames ahead."
    )
    run = answer["runs"][0]
    shown = bits(run["truth"], answer["rows"], 40)
    assert (shown[0] == X[0]).all()  # what the cue asks for
    assert (shown[1:] == X[(4 + np.arange(34)) % 11]).all()  # then what was caught
    assert run["caught"]["label"] == "x(t + 3)"
    assert "3 frames ahead" in run["words"]
    assert run["overlaps"] == overlaps_with(run, answer)


def overlaps_with(run, answer):
    """Overlaps of a recall with what stands under "Truth" beside it, from the bits that the page
    gets.
    """
    shown, recalled = (
        bits(run[name], answer["rows"], 40).astype(int) for name in ("truth", "bits")
    )
    return [round(float(m), 4) for m in (shown * recalled).mean(axis=1)]


def test_a_recall_that_ends_in_the_negative_is_shown_beside_the_negative_and_explained(visitor):
    visitor.learn(SMALL, QUICK)
    X = sa.datasets.random_periodic(12, 40, rng=3)
    answer = visitor.recall(painted=list(range(2, 40)))  # all but two units reversed
    run = answer["runs"][0]
    assert not run["good"]
    assert "the negative of sequence 1" in run["verdict"]
    shown = bits(run["truth"], answer["rows"], 40)
    since = run["caught"]["since"]
    assert since >= 1
    assert (shown[:since] == X[np.arange(since) % 11]).all()
    assert (shown[since:] == -X[np.arange(since, 35) % 11]).all()
    assert run["caught"]["label"] == "\N{MINUS SIGN}x(t)"
    assert "it is odd" in run["words"]
    assert run["overlaps"] == overlaps_with(run, answer)
    assert run["overlaps"][0] < -0.8
    assert run["overlaps"][since:] == [1.0] * (35 - since)


def test_a_network_with_biases_is_never_described_as_having_none(visitor):
    visitor.learn(SMALL, {**QUICK, "bias": 1})
    run = visitor.recall(painted=list(range(40)))["runs"][0]
    assert not run["good"]
    assert "no biases" not in run["words"]


def test_a_recall_that_fails_is_compared_with_what_the_cue_asks_for(visitor):
    visitor.learn({"name": "toy"}, {"name": "perceptron", "epochs": 50})
    run = visitor.recall(flips=1, seed=1)["runs"][0]
    assert run["caught"] is None
    assert run["overlaps"][-1] < 1.0


def test_each_of_two_networks_has_its_own_truth_and_the_figure_shows_both(visitor):
    visitor.learn(SMALL, QUICK, {"name": "one-hot"})
    X = sa.datasets.random_periodic(12, 40, rng=3)
    far = (
        sa.OneHotNetwork().fit(X).tolerance_ + 1
    )  # from x(t + 3), of units that are left as they are
    units = np.flatnonzero(X[0] != X[3]).tolist()[far:]
    answer = visitor.recall(painted=units)
    for run in answer["runs"]:
        assert run["overlaps"] == overlaps_with(run, answer)
    assert answer["runs"][0]["caught"]["label"] == "x(t + 3)"
    assert answer["runs"][1]["caught"] is None  # one wrong unit more than it bears
    sizes = []
    for painted in ([], units):  # with one truth for both, and with two
        figure = visitor.post("download", {"what": "figure", "cue": {"painted": painted}})
        sizes.append(Image.open(io.BytesIO(figure.content)).size[1])
    assert sizes[1] > sizes[0]


def test_noise_does_not_undo_the_flips_of_the_cue(visitor, capsys):
    visitor.learn(SMALL, {"name": "one-hot"})
    for seed in range(
        5
        # were the same units drawn, every first step would start from the clean pattern, and be
        # right
    ):
        run = visitor.recall(flips=12, noise=12, seed=seed)["runs"][0]
        assert run["overlaps"][1] < 1.0
    code = visitor.post(
        "code",
        {
            "sequence": SMALL,
            "networks": [{"name": "one-hot"}],
            "cue": {"flips": 12, "noise": 12, "seed": 3},
        },
    )
    variables = {}
    exec(code.text, variables)
    assert (variables["trajectory"][1] != variables["X"][1]).any()


def test_flips_with_the_seed_of_a_random_sequence_take_both_kinds_of_units(visitor):
    """One stream for both would flip only units that are +1."""
    on = []
    for seed in range(8):
        sequence = {"name": "random", "frames": 6, "units": 100, "seed": seed}
        visitor.learn(sequence, {"name": "one-hot"})
        answer = visitor.recall(flips=20, seed=seed)
        X, shown = (
            sa.datasets.random_periodic(6, 100, rng=seed),
            bits(answer["runs"][0]["bits"], answer["rows"], 100),
        )
        turned = shown[0] != X[0]
        assert turned.sum() == 20
        on.append((X[0][turned] > 0).mean())
    assert 0.3 < np.mean(on) < 0.7


PICTURES = [
    {"name": "walker"},
    {"name": "walker", "frames": 60, "size": "small"},
    {"name": "digits"},
    {"name": "places"},
    SMALL,
]


@pytest.mark.parametrize("sequence", PICTURES, ids=lambda s: f"{s['name']}-{s.get('frames')}")
def test_a_dense_memory_takes_and_reports_the_degree_that_its_patterns_need(visitor, sequence):
    shown = visitor.post("sequence", sequence).json()
    end = visitor.learn(sequence, {"name": "dense"})
    assert end["networks"][0]["right"] == 1.0
    degree = end["networks"][0]["degree"]
    assert degree == shown["degrees"][0]
    code = visitor.post(
        "code", {"sequence": sequence, "networks": [{"name": "dense"}], "cue": {}}
    ).text
    assert f"sa.zoo.DenseSequenceMemory(degree={degree})" in code or (
        degree == 2 and "sa.zoo.DenseSequenceMemory()" in code
    )
    assert visitor.recall(flips=shown["units"] // 10, seed=1)["runs"][0]["good"]


@given(st.integers(2, 12), st.integers(3, 30), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_the_chosen_degree_stores_every_transition_and_no_lower_one_is_as_safe(frames, units, seed):
    X = np.where(np.random.default_rng(seed).random((frames, units)) < 0.2, 1, -1)
    data = sa.Sequences(X)
    assume(not sa.find_conflicts(X))
    degree = degree_for(data)
    keys = np.unique(
        X[:-1], axis=0
    )  # the oracle: others' weights, at the largest overlap that a neuron may see
    m = np.minimum(1, (np.abs(keys @ keys.T) + 1) / (units - 1))
    np.fill_diagonal(m, 0)
    others = [float((m**d).sum(axis=1).max()) for d in (degree - 1, degree)]
    assert degree == 2 or others[0] > 0.5
    assert degree == 1000 or others[1] <= 0.5
    if others[1] <= 0.5:
        assert sa.zoo.DenseSequenceMemory(degree=degree).fit(X).score(X) == 1.0


def test_an_open_sequence_is_recalled_to_its_end_and_no_further(visitor):
    visitor.learn(
        {"name": "digits", "sequences": 2, "frames": 10}, {"name": "attractor", "hidden": 150}
    )
    answer = visitor.recall(start=13, flips=50)
    assert answer["rows"] == 7
    assert answer["runs"][0]["known"] == 7
    assert answer["runs"][0]["good"]
    assert visitor.post("recall", {"cue": {"start": 19}}).status_code == 400


# -- stop, continue, limits
# ------------------------------------------------------------------------------------------


def test_a_long_learning_can_be_stopped_used_and_continued(visitor):
    sequence, network = LONG
    assert visitor.post("learn", {"sequence": sequence, "networks": [network]}).status_code == 200
    visitor.wait_for("epochs")
    visitor.post("stop", {})
    end = visitor.events()[-1]["end"]
    assert end["state"] == "stopped"
    assert end["note"] == ""  # by the visitor, not by the clock
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
    net = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(
        sa.datasets.random_periodic(12, 40, rng=3)
    )
    reported = [
        error for event in events for part in event.get("epochs", []) for error in part["visible"]
    ]
    assert events[-1]["end"]["networks"][0]["converged"]
    assert reported == net.visible_errors_.tolist()


def small_job(network=QUICK):
    return Job(
        make_material(Fields(SMALL, "sequence"), Limits()),
        [read_network(Fields(network, "network"), Limits())],
        Limits(),
    )


def test_learning_and_continuing_are_done_by_the_exact_engine(monkeypatch):
    def reject(*args, **options):
        raise AssertionError("the plain loop was called")

    monkeypatch.setattr(reference, "learn", reject)
    job = small_job({**QUICK, "epochs": 4})
    job.run()
    job.prepare_to_continue(3)
    job.run()
    assert (job.state, len(job.outcome.visible[0])) == ("done", 7)


def test_a_new_learning_takes_the_place_of_the_old_one(visitor):
    sequence, network = LONG
    visitor.post("learn", {"sequence": sequence, "networks": [network]})
    assert visitor.learn(SMALL, QUICK)["networks"][0]["converged"]


def test_learning_ends_when_its_time_is_over():
    with running_lab(Limits(seconds=0.5)) as (address, _):
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
            {"name": "perceptron"},
            "million weights",
        ),
        ({"name": "random", "frames": 301}, QUICK, "between 3 and 300"),
        ({"name": "frames", "shape": [9, 9], "lengths": [401], "bits": ""}, QUICK, "400"),
        (SMALL, {"name": "attractor", "hidden": 10**9}, "between 1 and 2000"),
        (SMALL, {"name": "attractor", "epochs": 10**6}, "between 1 and 5000"),
        (SMALL, {"name": "attractor", "order": 7}, "between 0 and 6"),
        (SMALL, {"name": "attractor", "bias": 2}, "between 0 and 1"),
    ],
)
def test_sizes_beyond_the_limits_are_rejected_with_the_limit(visitor, sequence, network, word):
    answer = visitor.post("learn", {"sequence": sequence, "networks": [network]})
    assert answer.status_code in (400, 413)
    assert word in answer.json()["error"]


# -- several visitors
# ------------------------------------------------------------------------------------------------


def test_visitors_do_not_disturb_each_other(lab):
    one, two = Visitor(lab[0]), Visitor(lab[0])
    one.learn(SMALL, QUICK)
    two.learn({"name": "toy"}, {"name": "attractor", "hidden": 30})
    assert one.recall()["rows"] == 1 + 2 * 12 + 10
    assert two.recall()["rows"] == 1 + 2 * 6 + 10


def test_twenty_learners_at_once_all_finish_or_are_asked_to_wait():
    with running_lab(Limits(waiting=8)) as (address, _):
        visitors = [Visitor(address) for _ in range(20)]
        body = {"sequence": SMALL, "networks": [{"name": "attractor", "hidden": 60, "epochs": 40}]}

        def go(visitor):
            answer = visitor.post("learn", body)
            if answer.status_code == 503:
                return (
                    "please wait" in answer.json()["error"] and answer.headers["retry-after"] == "2"
                )
            return visitor.events()[-1]["end"]["state"] == "done"

        with ThreadPoolExecutor(20) as threads:
            outcomes = list(threads.map(go, visitors))
        assert all(outcomes)
        # Those who waited succeed when they ask again, and the server has stayed in good health.
        assert visitors[-1].post("learn", body).status_code == 200
        assert visitors[-1].events()[-1]["end"]["state"] == "done"


def test_waiting_visitors_see_how_many_are_before_them():
    with running_lab(Limits(workers=1)) as (address, _):
        first, second, third = (Visitor(address) for _ in range(3))
        for visitor in (first, second, third):
            visitor.post("learn", {"sequence": LONG[0], "networks": [LONG[1]]})
            if visitor is first:
                visitor.wait_for("epochs")  # it has left the queue
        assert third.wait_for("ahead") == {"ahead": 1}
        second.post("stop", {})
        assert second.events()[-1]["end"]["state"] == "stopped"
        first.post("stop", {})
        third.post("stop", {})


def a_job(size=0, running=False, key=None):
    """What visits ask of a job, with a record of whether it was stopped."""
    job = SimpleNamespace(network_bytes=lambda: size, running=running, stopped=False)
    job.key, job.can_be_dropped = key or id(job), False
    job.stop = lambda: setattr(job, "stopped", True)
    return job


def test_old_visits_end_and_their_jobs_stop():
    now = [0.0]
    visits = Visits(Limits(idle_seconds=100), clock=lambda: now[0])
    first, second = visits.open(), visits.open()
    first.job, second.job = a_job(), a_job()
    now[0] = 90
    visits.get(first.name)
    now[0] = 110
    with pytest.raises(Rejection, match="forgotten"):
        visits.get(second.name)
    assert second.job.stopped
    assert visits.get(first.name) is first  # seen at 90
    assert not first.job.stopped


def test_a_flood_of_new_visits_takes_nothing_from_visitors_who_have_learned_something():
    visits = Visits(Limits(visits=10))
    learned = [visits.open() for _ in range(3)]
    for visit in learned:
        visit.job = a_job()
    asking = visits.open()
    with asking.asks("recall", Limits()):
        for _ in range(1000):
            visits.open()
        assert len(visits) == 10
        for visit in [*learned, asking]:
            assert visits.get(visit.name) is visit
    assert not any(visit.job.stopped for visit in learned)


def test_a_full_lab_rejects_visits_until_somebody_was_idle_for_a_while():
    now = [0.0]
    visits = Visits(Limits(visits=3, spare_seconds=60), clock=lambda: now[0])
    opened = [visits.open() for _ in range(3)]
    for visit in opened:
        visit.job = a_job()
    opened[0].job.running = True
    with pytest.raises(Rejection, match="full") as rejected:
        visits.open()
    assert rejected.value.status == 503
    now[0] = 50
    visits.get(opened[1].name)
    now[0] = 61
    visits.open()
    assert [visit.job.stopped for visit in opened] == [
        False,
        False,
        True,
    ]  # the first one learns, the second one was here just now
    with pytest.raises(Rejection, match="forgotten"):
        visits.get(opened[2].name)


def test_a_flood_of_large_networks_takes_none_from_others():
    now = [0.0]
    visits = Visits(Limits(network_bytes=20_000, spare_seconds=60), clock=lambda: now[0])
    first, second, third = (visits.open() for _ in range(3))
    first.job, second.job = a_job(8000), a_job(8000)
    with pytest.raises(Rejection, match="fill the lab") as rejected:
        visits.make_room(third, a_job(8000))
    assert rejected.value.status == 503
    visits.make_room(third, a_job(4000))
    visits.make_room(second, a_job(12_000))  # in place of what it has
    now[0] = 61
    visits.get(first.name)
    visits.make_room(third, a_job(8000))
    assert second.job.stopped
    assert not first.job.stopped


def test_learning_beyond_the_memory_of_the_lab_is_rejected_and_frees_nothing():
    with running_lab(Limits(network_bytes=200_000)) as (address, _):
        one, two = Visitor(address), Visitor(address)
        one.learn(SMALL, QUICK)  # 80 * 40 * 3 numbers of 8 bytes
        answer = two.post("learn", {"sequence": SMALL, "networks": [{**QUICK, "hidden": 200}]})
        assert answer.status_code == 503
        assert "smaller" in answer.json()["error"]
        assert one.recall()["rows"] == 35
        two.learn(SMALL, QUICK)
