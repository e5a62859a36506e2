"""The lab with a network that was trained elsewhere: offered first, recalled, compared, never
changed.
"""

import numpy as np
import pytest

import seqattractor as sa
from lab_server import QUICK, Visitor, running_lab
from seqattractor.lab.choices import Own
from seqattractor.lab.requests import Limits

X = sa.datasets.random_periodic(12, 40, rng=3)
TRAINED = sa.SequenceAttractor(80, random_state=0).fit(X)
GIVEN = sa.networks.from_arrays(TRAINED.U_, TRAINED.V_)
CUE = {"start": 0, "flips": 4, "seed": 1}


@pytest.fixture(scope="module")
def visitor():
    own = Own.of(GIVEN, "given.npz", X, Limits())
    with running_lab(own=own) as (address, _):
        yield Visitor(address)


def test_the_page_offers_it_first(visitor):
    offered = visitor.http.get("/api/catalogue").json()
    assert offered["networks"][0]["label"] == "Yours: ThresholdNetwork of given.npz"
    assert offered["sequences"][-1]["name"] == "own"
    assert visitor.post("sequence", {"name": "own"}).json()["units"] == 40


def test_it_recalls_beside_a_network_that_learns(visitor):
    end = visitor.learn({"name": "own"}, {"name": "own"}, QUICK)
    assert [net["learns"] for net in end["networks"]] == [False, True]
    assert [net["right"] for net in end["networks"]] == [1.0, 1.0]
    answer = visitor.post("recall", {"cue": CUE}).json()
    assert all(run["good"] for run in answer["runs"])
    radii = visitor.post("promise", {}).json()["radii"]
    certified = sa.certify(GIVEN, X, method="count").radius
    assert radii[0][: len(certified)] == certified.tolist()
    code = visitor.post(
        "code", {"sequence": {"name": "own"}, "networks": [{"name": "own"}], "cue": CUE}
    ).text
    assert "net = sa.load('given.npz')" in code
    assert ".fit(" not in code


def test_its_neurons_can_be_looked_into_and_silenced_but_it_has_no_epochs(visitor):
    visitor.learn({"name": "own"}, {"name": "own"})
    assert visitor.post("wiring", {}).json()["hidden"] == 80
    assert visitor.post("neuron", {"neuron": 3}).json()["targets"] is None  # they are not known
    silenced = {"cue": CUE, "inside": {"silenced": list(range(70))}}
    assert not visitor.post("recall", silenced).json()["runs"][0]["good"]
    assert visitor.post("recall", {"cue": CUE}).json()["runs"][0]["good"]
    epoch = visitor.post("recall", {"cue": CUE, "inside": {"epoch": 1}})
    assert (epoch.status_code, "epoch by epoch" in epoch.json()["error"]) == (409, True)


def test_it_takes_only_sequences_of_its_size(visitor):
    rejected = visitor.post(
        "learn", {"sequence": {"name": "walker"}, "networks": [{"name": "own"}]}
    )
    assert rejected.status_code == 400
    assert "has 40 units, but this sequence has" in rejected.json()["error"]


def test_what_does_not_fit_is_rejected_before_the_lab_opens(run, tmp_path):
    GIVEN.save(tmp_path / "given.npz")
    np.save(tmp_path / "other.npy", X.patterns[:, :30])
    code, _, complaint = run("lab", "given.npz", "--data", "other.npy", "--no-browser")
    assert (code, "has 40 units, but this sequence has 30" in complaint) == (2, True)
    code, _, complaint = run("lab", "--data", "other.npy", "--no-browser")
    assert (code, "--data goes with a MODEL" in complaint) == (2, True)
    with pytest.raises(ValueError, match="the lab cannot show a"):
        Own.of(sa.zoo.LookupMemory(), "m.npz", None, Limits())
