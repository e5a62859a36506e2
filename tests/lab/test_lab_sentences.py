"""What the lab shows a visitor whose sequence or file does not work: counted from 1, naming only
what the page has.
"""

import io
import re

import numpy as np
import pytest
from test_lab_uploads import png, send

import lab_server
from lab_server import QUICK
from seqattractor.lab.choices import NETWORKS
from seqattractor.lab.requests import pack

lab, visitor = lab_server.lab, lab_server.visitor

# The library's and the command line's ways of speaking, Python's own, and places counted from 0.
FOREIGN = re.compile(
    r"order=|order \d|n_samples|n_hidden|max_epochs|\bX\b|--\w|array dimension|[zZ]ero-size|0000|"
    r"\b(frame|pattern|sequence|value) 0\b"
)

A, B, C = np.where(np.random.default_rng(0).random((3, 16)) < 0.5, 1, -1)


def frames(*patterns, lengths=None):
    """Frames drawn by a visitor."""
    return {
        "name": "frames",
        "shape": [4, 4],
        "lengths": lengths or [len(patterns)],
        "bits": pack(np.array(patterns)),
    }


SEQUENCES = {
    "two frames": frames(A, B),
    "one frame for ever": frames(A, A),
    "two successors": frames(A, B, A, C),
    "far apart": frames(*[A] * 9, B, *[A] * 9, C),
    "two sequences, one beginning": frames(A, B, A, C, lengths=[2, 2]),
    "a sequence of one frame": frames(A, B, A, C, C, lengths=[4, 1]),
}


def learned(visitor, sequence, network):
    """Return what the lab answers to a network: a rejection, a failure to learn, or an error in the
    cue; "" where all is well.
    """
    answer = visitor.post("learn", {"sequence": sequence, "networks": [network]})
    if answer.status_code != 200:
        return answer.json()["error"]
    note = visitor.events()[-1]["end"]["note"]
    recalled = visitor.post("recall", {"cue": {}})
    return note or recalled.json().get("error", "")


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("what", SEQUENCES)
def test_whatever_cannot_be_learned_is_explained_in_the_words_of_the_page(visitor, what, name):
    for order in (1, 3, 0):
        sentence = learned(visitor, SEQUENCES[what], {"name": name, "order": order})
        assert not FOREIGN.search(sentence), sentence
        preview = visitor.post(
            "recall", {"cue": {}, "sequence": SEQUENCES[what], "orders": [order or 1]}
        ).json()
        assert not FOREIGN.search(preview.get("error", "")), preview["error"]


@pytest.mark.parametrize(
    ("what", "order", "words"),
    [
        ("two successors", 1, "Frame 1 of sequence 1 occurs again as frame 3 of sequence 1"),
        ("two successors", 1, 'set "Past patterns it sees" to 2, under "More settings"'),
        ("far apart", 1, "the lab offers up to 6, so choose another sequence"),
        (
            "far apart",
            0,
            "must see the past 10 patterns to predict what follows in this sequence, but the lab "
            "offers up to 6",
        ),
        (
            "two frames",
            3,
            "The sequence has only 2 frames, too few for a network that sees the past 3",
        ),
        ("two frames", 3, 'set "Past patterns it sees" to 1'),
        ("two sequences, one beginning", 2, "Sequence 1 has only 2 frames"),
        (
            "a sequence of one frame",
            1,
            "A sequence needs at least two frames, but sequence 2 has 1.",
        ),
        ("one frame for ever", 3, ""),
    ],
)
def test_the_sentence_names_the_place_and_the_control_that_helps(visitor, what, order, words):
    sentence = learned(visitor, SEQUENCES[what], {"name": "attractor", "order": order})
    assert words in sentence if words else sentence == ""


def test_a_loop_has_no_end_after_which_nothing_is_left_to_recall(visitor):
    visitor.learn({"name": "tune"}, {"name": "dense", "order": 3})
    for start in range(33):
        answer = visitor.recall(start=start)
        assert answer["runs"][0]["good"]
        assert answer["cue_rows"] == 3
    visitor.learn({"name": "digits", "frames": 8}, {**QUICK, "order": 2})
    rejected = visitor.post("recall", {"cue": {"start": 6}}).json()["error"]
    assert rejected.startswith("There is nothing left to recall after the 2 frames from frame 7 on")
    assert rejected.endswith("start earlier.")


def test_the_radius_of_every_frame_of_a_loop_is_given_however_far_the_network_looks_back(visitor):
    visitor.learn({"name": "toy", "which": "2"}, {"name": "attractor", "hidden": 60, "order": 3})
    radii = visitor.post("promise", {}).json()["radii"][0]
    assert min(radii[:-1]) >= 0
    assert radii[-1] == -1  # the first frame again


def npy(array):
    """An npy file that holds an array."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


FILES = {
    "not a number": ("a.npy", npy(np.full((5, 5), np.nan)), "a.npy holds nan in frame 1, value 1"),
    "a row": ("a.npy", npy(np.ones(10)), "The array in a.npy has the shape (10,)"),
    "words": ("a.npy", npy(np.array([["a", "b"]])), "The array in a.npy holds values of type"),
    "nothing": ("a.npy", npy(np.zeros((0, 5))), "The array in a.npy is empty"),
    "named like a place": ("frame 0.png", png()[:-20], "frame 0.png is damaged or cut short"),
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_is_called_what_the_visitor_calls_it_and_its_frames_are_counted_from_1(
    visitor, what
):
    name, content, words = FILES[what]
    assert send(visitor, (name, content)).json()["error"].startswith(words)


def test_pictures_of_different_sizes_are_counted_from_1(visitor):
    sentence = send(visitor, ("a.png", png()), ("b.png", png()), ("c.png", png((8, 4)))).json()[
        "error"
    ]
    assert "frame 3 is" in sentence
    assert "frame 1 is" in sentence


def test_a_network_without_hidden_neurons_is_not_advised_to_use_fewer(visitor):
    large = {"name": "frames", "shape": [64, 64], "lengths": [3], "bits": pack(np.ones((3, 4096)))}
    assert "use smaller patterns, or" in learned(visitor, large, {"name": "perceptron"})
    assert "use fewer hidden neurons or smaller patterns" in learned(
        visitor, large, {"name": "attractor", "hidden": 2000}
    )
