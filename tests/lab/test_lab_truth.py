"""What stands under "Truth" in the lab when a recall follows something else: on the page, in the
figure and in the animation.
"""

import io
import re
from importlib.resources import files

import numpy as np
import pytest
from PIL import Image, ImageSequence

import lab_server
import seqattractor as sa
from lab_server import QUICK, SMALL
from seqattractor.lab.downloads import COLORS, drawn
from seqattractor.lab.recall import hidden_states, read_cue, recall_all, shown_truth
from seqattractor.lab.requests import Fields, Limits
from seqattractor.lab.requests import unpack as bits

lab, visitor = lab_server.lab, lab_server.visitor

DIGITS = {"name": "digits", "sequences": 2, "frames": 10}
FILM = sa.datasets.moving_digits(2, 10, 40, 1, rng=0)
NETWORK = {"name": "attractor", "hidden": 150}
MINUS = "\N{MINUS SIGN}"


def repainted(X, like):
    """The units to flip so that the first pattern becomes another one."""
    return np.flatnonzero(X[0] != like).tolist()


def test_another_sequence_is_shown_from_the_frame_on_at_which_it_was_caught(visitor):
    visitor.learn(DIGITS, NETWORK)
    answer = visitor.recall(
        painted=repainted(FILM, FILM[13])[1:]
    )  # all but one unit of the fourth frame of the other one
    run = answer["runs"][0]
    assert (
        run["verdict"]
        == "Not recalled: from step 1 on it follows another stored sequence, sequence 2."
    )
    assert (
        run["words"]
        == 'From step 1 on, what was caught stands under "Truth": sequence 2, from its frame 5 on.'
    )
    assert run["caught"] == {"since": 1, "label": "sequence 2"}
    shown = bits(run["truth"], run["known"], 1600)
    assert (shown[0] == FILM[0]).all()
    assert (shown[1:] == FILM[14:20]).all()  # to its end


def test_the_negative_of_another_sequence_and_of_another_phase_are_named(visitor):
    visitor.learn(DIGITS, NETWORK)
    run = visitor.recall(painted=repainted(FILM, -FILM[13])[1:])["runs"][0]
    assert "it follows the negative of sequence 2, with every unit reversed" in run["verdict"]
    assert run["caught"]["label"] == f"{MINUS}sequence 2"
    assert (
        "the negative of sequence 2, from its frame 5 on. This network has no biases, so it is odd"
        in run["words"]
    )
    run = visitor.recall(painted=repainted(FILM, -FILM[2])[1:])["runs"][0]
    assert "it follows the negative of sequence 1, with every unit reversed" in run["verdict"]
    assert run["caught"]["label"] == f"{MINUS}x(t + 2)"
    assert "the negative of the sequence, 2 frames ahead of what the cue asks for" in run["words"]


def test_a_recall_that_comes_to_rest_in_a_negative_is_explained_though_it_followed_nothing_for_long(
    visitor,
):
    visitor.learn(DIGITS, NETWORK)
    runs = (visitor.recall(flips=800, seed=seed)["runs"][0] for seed in range(200))
    run = next(
        run
        for run in runs
        if "it got stuck in one pattern" in run["verdict"] and run["overlaps"][-1] == -1
    )
    assert run["caught"] is None
    assert run["words"].startswith(
        "It came to rest in the negative of frame 10 of sequence 1: every unit is reversed. This "
        "network"
    )


CASES = [
    (SMALL, QUICK, {"flips": 20, "seed": 3}),
    ({"name": "tune"}, {"name": "attractor", "hidden": 400, "order": 3}, {"flips": 15, "seed": 3}),
    (DIGITS, NETWORK, {"flips": 800, "seed": 5}),
    (SMALL, {"name": "dense"}, {"flips": 3}),
]


@pytest.mark.parametrize(
    ("sequence", "network", "cue"),
    CASES,
    ids=lambda v: v.get("name") if isinstance(v, dict) else "",
)
def test_the_figure_shows_what_the_page_shows(lab, visitor, sequence, network, cue):
    visitor.learn(sequence, network)
    answer = visitor.recall(**cue)
    run, first = answer["runs"][0], answer["cue_rows"] - 1
    job = lab[1].state.lab.visits.get(visitor.http.headers["x-lab-visit"]).job
    asked = read_cue(Fields(cue, "cue"), job.material)
    runs = recall_all(job.outcome.networks, job.material, asked, Limits())
    shown = [
        shown_truth(net, one, job.material, asked)
        for net, one in zip(job.outcome.networks, runs, strict=True)
    ]
    drawing = drawn(job, runs, shown, ("white", "black"))
    _, overlap, truth, recalled = drawing.axes
    steps, values = overlap.lines[0].get_data()
    assert steps.tolist() == [
        k - first for k in range(run["known"])
    ]  # as on the page, the cue ends with step 0
    assert np.allclose(values, run["overlaps"], atol=1e-4)
    columns, N = min(60, run["known"]), job.material.data.shape[1]
    for ax, patterns in (
        (truth, bits(run["truth"], run["known"], N)),
        (recalled, bits(run["bits"], answer["rows"], N)),
    ):
        picture = ax.images[0]
        assert picture.cmap(picture.norm(1))[:3] == (0, 0, 0)  # on is the second colour
        if job.material.kind != "pictures":
            assert (picture.get_array() == patterns[:columns, ::-1].T).all()
    if run["caught"]:
        assert run["caught"]["label"] in truth.get_title() + truth.get_ylabel()
        assert f"from step {run['caught']['since'] - first}" in (
            truth.get_title() + truth.get_ylabel()
        ).replace("\n", " ")


def test_the_figure_has_the_colours_of_the_page():
    style = (files("seqattractor.lab") / "static" / "style.css").read_text()
    page = [
        re.findall(rf"--{name}: (#[0-9a-f]+)", style) for name in ("paper", "figure")
    ]  # light, then dark
    assert {False: (page[0][0], page[1][0]), True: (page[0][1], page[1][1])} == COLORS


def test_the_animation_names_what_was_caught(visitor):
    visitor.learn(SMALL, QUICK)
    X = sa.datasets.random_periodic(12, 40, rng=3)
    heads = []
    for like in (X[0], X[3]):  # in phase, and three frames ahead
        gif = visitor.post(
            "download", {"what": "gif", "cue": {"painted": repainted(X, like)}}
        ).content
        frames = [
            np.asarray(frame.convert("L"))
            for frame in ImageSequence.Iterator(Image.open(io.BytesIO(gif)))
        ]
        heads.append(frames[-1][:24])  # the line above the truth
    assert (heads[0] != heads[1]).any()


@pytest.mark.parametrize("order", [1, 2])
def test_hidden_states_are_those_of_the_network(order):
    loop = sa.datasets.random_periodic(9, 40, rng=0)
    data = sa.close_loops(loop, order=order)
    net = sa.SequenceAttractor(n_hidden=30, order=order, random_state=0).fit(data)
    zeta = hidden_states(net, data.patterns)
    assert zeta.shape == (len(data), 30)
    assert (zeta[: order - 1] == -1).all()
    assert np.array_equal(zeta[order - 1], net.hidden(data[0] if order == 1 else data[:2]))
    assert hidden_states(sa.zoo.LookupMemory().fit(loop), loop.patterns) is None
