"""`seqattractor inspect`: what a model stores and guarantees, for people, as JSON and as a page."""

from __future__ import annotations

import itertools
import json
import re
import time

import numpy as np
import pytest

import seqattractor as sa
from seqattractor.io._attached import attach
from seqattractor.tasks.inspect import inspect_network

X = sa.datasets.random_periodic(8, 40, rng=0)


@pytest.fixture(scope="module")
def net():
    return sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X)


@pytest.fixture
def model(net, tmp_path):
    net.save(tmp_path / "model.npz")
    return tmp_path / "model.npz"


def test_a_model_alone_shows_its_loop_and_what_it_guarantees(run, model):
    code, out, _ = run("inspect", model, "--starts", 30)
    assert code == 0
    assert "40 visible and 100 hidden neurons" in out
    assert "seen as cycles from random starts" in out
    assert re.search(
        r"Any \d wrong units are corrected in one step, at each of \d+ stored transitions", out
    )
    for part in (
        "Guarantee",
        "Measured robustness",
        "Attractors",
        "Hidden neurons",
        "Without hidden neurons",
    ):
        assert part in out


def test_json_agrees_with_the_library(run, net, model, tmp_path):
    np.save(tmp_path / "x.npy", X)
    code, out, _ = run("inspect", model, "--data", "x.npy", "--json", "--starts", 20, "--flips", 3)
    values = json.loads(out)
    certificate = sa.certify(net, X)
    assert code == 0
    assert [values[name] for name in ("source", "lengths", "transitions", "score")] == [
        "data",
        [8],
        7,
        1.0,
    ]
    assert values["certificate"] == {
        "summary": certificate.describe(),
        "rows": list(certificate.rows()),
    }
    assert (values["flips"], values["basin"]) == (3, 1.0)
    assert "20 of 20 starts came into the loop of sequence 0" in values["from_stored"]["summary"]
    assert values["hidden"]["summary"] == sa.hidden_activity(net, X).describe()
    assert all(row["separable"] for row in values["separability"]["rows"]) == bool(sa.separable(X))
    asked = values["separability_with_biases"]  # only where biases could make a difference
    assert (asked is None) == bool(sa.separable(X))
    assert values["left_out"] == {}


def test_sequences_in_the_model_file_are_used(run, net, tmp_path):
    attach(net, X)
    net.save(tmp_path / "stored.npz")
    values = json.loads(run("inspect", "stored.npz", "--json", "--starts", 5)[1])
    assert (values["source"], values["lengths"]) == ("model", [8])
    del net.metadata_, net.attached_patterns_


CRITERION = "locked on: every frame from there to the end right and in phase"


def test_the_one_criterion_is_named_and_counted(run, net, tmp_path):
    attach(net, X)
    net.save(tmp_path / "stored.npz")
    del net.metadata_, net.attached_patterns_
    code, out, _ = run("inspect", "stored.npz", "--starts", 5, "--flips", 3)
    assert code == 0
    assert f"From the first pattern without noise, 1 of 1 sequence {CRITERION}." in out
    assert re.search(rf"With 3 units flipped: \d+ of 20 trials {CRITERION}", out)
    assert (
        "By the paper's criterion, the whole loop in any phase (section 6.2), within"
        in " ".join(out.split())
    )
    values = json.loads(run("inspect", "stored.npz", "--json", "--starts", 5, "--flips", 3)[1])
    assert values["criterion"] == CRITERION
    assert (values["recalls"][0]["lock_step"], values["recalls"][0]["tau"]) == (0, 0)
    assert len(values["trials"]["rows"]) == 20


def test_a_model_that_does_not_store_what_it_learned_ends_with_exit_code_1(run, tmp_path):
    film = sa.datasets.random_sequences(1, 30, 40, rng=0)
    poor = sa.SequenceAttractor(n_hidden=8, max_epochs=30, random_state=0)
    with pytest.warns(match="transitions are not stored"):
        poor.fit(film)
    attach(poor, film)
    poor.save(tmp_path / "poor.npz")
    code, out, _ = run("inspect", "poor.npz", "--starts", 5)
    assert code == 1
    assert f"0 of 1 sequence {CRITERION}. Sequence 0: not recalled: " in out
    assert "Worst step: " in out
    assert "overlap at the end: " in out
    missing = int(poor.wrong_units(film).any(axis=1).sum())
    assert f"{missing} of 29 transitions are wrong even without flips" in out
    assert re.search(
        r"The next pattern is right in only \d+ of 500 trials even without flips".lower(),
        out.lower(),
    )
    assert run("inspect", "poor.npz", "--starts", 5, "--json")[0] == 1


def test_what_is_reached_in_any_phase_is_not_taken_for_what_is_in_phase(tmp_path):
    alike = sa.noise.flip(
        np.repeat(X[:1], 12, axis=0), 3, rng=0
    )  # patterns so near to each other that noise mixes them up
    loop = sa.Sequences(np.concatenate([alike, alike[:1]]))
    inspection = inspect_network(
        sa.zoo.LookupMemory().fit(loop), loop.patterns, loop.lengths, flips=10, starts=24
    )
    assert inspection.basin < 1
    assert inspection.from_stored.reached[0].successes == 24
    text = inspection.paragraphs()["Attractors"]
    assert "At any time and in any phase, 24 of 24 starts came into the loop of sequence 0." in text
    assert (
        f"{inspection.basin:.1%} of all starts are on the sequence and in phase"
        in inspection.paragraphs()["Basin"]
    )
    assert (
        inspection.trials.rate.successes
        < 20
        == sum(trial.retrieved for trial in inspection.trials.each)
    )


def test_the_page_needs_nothing_else(run, model, tmp_path):
    code, out, _ = run("inspect", model, "--html", "page.html", "--starts", 10)
    page = (tmp_path / "page.html").read_text()
    assert code == 0
    assert "page.html" in out
    assert page.count('class="figure on-light"') == page.count('class="figure on-dark"') >= 5
    assert page.count("<img") == page.count("data:image/png;base64")
    assert not re.search(r'(src|href|srcset)="(?!data:|#)', page)
    assert "prefers-color-scheme: dark" in page
    assert [f.name for f in tmp_path.iterdir() if f.name.startswith(".")] == []


def test_the_data_of_a_model_of_pictures_may_be_a_table_of_units(run, tmp_path):
    frames = np.where(X.reshape(len(X), 5, -1) > 0, 255, 0)
    np.save(tmp_path / "frames.npy", frames.astype(np.uint8))
    np.savetxt(tmp_path / "units.csv", (X > 0).astype(int), fmt="%d", delimiter=",")
    run("learn", "frames.npy", "--hidden", 100, "--no-patterns", "-o", "pictures.npz")
    code, out, _ = run("inspect", "pictures.npz", "--data", "units.csv", "--json", "--starts", 5)
    assert code == 0
    assert json.loads(out)["lengths"] == [len(X)]


def test_exact_closes_the_gap(run, tmp_path):
    small = sa.datasets.random_periodic(5, 12, rng=0)
    sa.SequenceAttractor(n_hidden=12, random_state=0).fit(small).save(tmp_path / "small.npz")
    np.save(tmp_path / "small.npy", small)
    values = json.loads(
        run("inspect", "small.npz", "--data", "small.npy", "--exact", "--json", "--starts", 5)[1]
    )
    assert all(row["exact"] for row in values["certificate"]["rows"])


def test_networks_without_a_proof_are_still_described(run, tmp_path):
    sa.zoo.DenseSequenceMemory().fit(X).save(tmp_path / "dense.npz")
    np.save(tmp_path / "x.npy", X)
    code, out, _ = run(
        "inspect", "dense.npz", "--data", "x.npy", "--starts", 10, "--html", "dense.html"
    )
    assert code == 0
    assert "Left out" in out
    assert "not a network of threshold neurons" in out
    assert "Attractors" in out


def test_a_context_is_understood(run, tmp_path):
    sequence = np.array([[1, 1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1], [1, 1, 1], [1, -1, 1]])
    net = sa.SequenceAttractor(n_hidden=60, order="auto", random_state=0).fit(sequence)
    net.save(tmp_path / "context.npz")
    np.save(tmp_path / "s.npy", sequence)
    values = json.loads(
        run("inspect", "context.npz", "--data", "s.npy", "--json", "--starts", 10)[1]
    )
    assert values["order"] == 2
    assert len(values["certificate"]["rows"]) == 4
    assert values["score"] == 1


def test_a_large_model_takes_bounded_work_and_what_is_left_out_is_named():
    big = sa.datasets.random_periodic(120, 4000, rng=0)
    net = sa.OneHotNetwork().fit(big)
    inspection = inspect_network(net, big, np.array([120]), effort=0.002, starts=1000)
    assert "of the 119 transitions are made" in inspection.paragraphs()["Sequences"]
    assert (
        "(8 of the 119 transitions were looked at, evenly spread.)"
        in inspection.paragraphs()["Guarantee"]
    )
    assert len(inspection.certificate.radius) == 8
    assert inspection.certificate.time[-1] == 118
    assert len(inspection.from_random.which) < 1000
    assert "basin" in inspection.left_out


def test_progress_names_each_part_and_counts_transitions(net):
    reports = []
    inspect_network(net, X, np.array([8]), starts=5, on_part=reports.append)
    parts = [
        "attractors",
        "certificate",
        "hidden",
        "robustness",
        "basin",
        "attractors from stored patterns",
        "separability",
    ]
    assert [part for part in reports if part in parts] == parts
    assert [f"certificate, transition {k} of 7" for k in range(1, 8)] == [
        part for part in reports if part.startswith("certificate, ")
    ]


@pytest.mark.parametrize("repeated", [False, True])
def test_separability_is_left_out_where_it_would_take_a_linear_program_for_each_of_many_neurons(
    repeated,
):
    """Independent patterns take one linear system. Films with a repeated scene are not
    independent.
    """
    film = sa.datasets.random_periodic(61, 3000, rng=0)[:60]
    sequences = [film[:40], film[20:]] if repeated else [film[:40], film[40:]]
    lengths = np.array([len(x) for x in sequences])
    inspection = inspect_network(
        sa.zoo.LookupMemory().fit(sequences), np.concatenate(sequences), lengths, starts=5
    )
    assert ("separability" in inspection.left_out) == repeated
    assert (inspection.separability is None) == repeated


def test_without_cycles_or_data_every_part_is_left_out_with_a_reason():
    net = sa.zoo.HebbianMemory()
    net.W_, net.n_features_in_, net.order_ = np.eye(5), 5, 1  # every state is a fixed point
    inspection = inspect_network(net, starts=3)
    assert inspection.sequences == []
    assert "give the data" in inspection.left_out["certificate"]


def test_time_decides_nothing(run, model, tmp_path, monkeypatch):
    run("inspect", model, "--html", "page.html", "--starts", 10)
    clock = itertools.count(step=1000)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))  # a very slow machine
    _, _, lines = run("inspect", model, "--html", "slow.html", "--starts", 10)
    assert re.search(
        r"^certificate, transition 1 of \d+ \.\.\.$", lines, re.MULTILINE
    )  # a line every ten seconds
    assert (tmp_path / "slow.html").read_bytes() == (tmp_path / "page.html").read_bytes()


def test_an_inspection_prints_as_its_heading(net):
    inspection = inspect_network(net, X, np.array([8]), starts=5)
    assert repr(
        inspection
    ) == "Inspection: a SequenceAttractor with 40 visible and 100 hidden neurons, learned in " + (
        f"{net.n_iter_} epochs without an error left"
    )
    assert [row["part"] for row in inspection.rows()] == list(inspection.paragraphs())


def test_the_name_of_a_model_is_only_a_name(run, net, tmp_path):
    name = "<script>alert(1)<\\script> & 'more'.npz"
    net.save(tmp_path / name)
    code, out, _ = run("inspect", tmp_path / name, "--html", "page.html", "--starts", 5)
    page = (tmp_path / "page.html").read_text()
    assert code == 0
    assert name in out
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["missing.npz"], "missing.npz"),
        (["model.npz", "--data", "none.npy"], "there is no file"),
        (["model.npz", "--data", "narrow.npy"], "expecting 40"),
        (["model.npz", "--flips", "41"], "only 40 units"),
        (["model.npz", "--html", "nowhere/page.html"], "does not exist"),
    ],
)
def test_mistakes_get_one_sentence_and_exit_code_2(run, model, tmp_path, words, sentence):
    np.save(tmp_path / "narrow.npy", X[:, :30])
    code, out, err = run("inspect", *words)
    assert code == 2
    assert out == ""
    assert sentence in err
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1
