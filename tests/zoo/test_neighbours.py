"""`reproduce neighbours`: experiments of other systems, small, and how consistent they are with
what is known.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import seqattractor as sa
from seqattractor.cli.reproduce import command
from seqattractor.paper.target import NEIGHBOURS, Request, get_target
from seqattractor.zoo.experiments import get_experiment
from seqattractor.zoo.experiments.dale import DaleNetwork
from seqattractor.zoo.experiments.experiment import Check
from seqattractor.zoo.experiments.rate_memories import diluted, end_of_sequence

DISAGREES = {
    "fiete": (
        ["chains of 2 neurons beyond 1 / l, per network"],
        "two neurons that call each other strengthen and weaken the same synapses by turns",
    )
}
"""Neighbours that do not agree with what was published: in which quantities, and why. That they do
not is tested, too.
"""


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_neighbour_names_the_sources_of_its_numbers_and_what_is_not_verified(name):
    target = get_target(name)
    assert target.name == name
    experiment = get_experiment(name)
    assert experiment.source
    assert experiment.not_verified.endswith(".")
    assert experiment.checks
    assert all(check.source for check in experiment.checks)
    sizes = [
        target.cells(Request(quick=quick, full=full))[0]
        for quick, full in ((True, False), (False, False), (False, True))
    ]
    assert sizes[0].keys() == sizes[1].keys() == sizes[2].keys()


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_neighbour_passes_its_consistency_checks_in_its_quick_version(name, tmp_path):
    done = CliRunner().invoke(
        command, [name, "--quick", "--json", "--jobs", "1", "--out", str(tmp_path)]
    )
    assert done.exit_code == 0, done.output
    verdict = json.loads(done.stdout)["targets"][name]
    rows = json.loads((tmp_path / f"{name}.json").read_text())["rows"]
    missed, _ = DISAGREES.get(name, ([], ""))
    assert [row["quantity"] for row in rows if not row["agrees"]] == missed, verdict["sentence"]
    counted = [row for row in rows if row["kind"] != "prototype"]
    assert verdict["agrees"] is (None if not counted else not missed)
    held = f"{len(counted) - len(missed)} of {len(counted)} consistency checks hold ("
    assert verdict["sentence"].startswith(
        held if counted else "Compared with a prototype of ours only, which does not count. "
    )
    assert "Not verified: " in verdict["sentence"]
    assert {path.name for path in tmp_path.iterdir()} >= {
        f"{name}.{kind}" for kind in ("json", "csv", "png", "pdf")
    }
    page = (tmp_path / "report.html").read_text()
    assert f"<h2>{get_target(name).title}</h2>" in page
    assert (
        f"{int(bool(verdict['agrees']))} of {int(bool(counted))} experiments of other systems pass "
        "their consistency checks." in page
    )
    assert "Tables and figures of Lu" not in page


def test_the_page_counts_checks_against_published_results_and_never_a_prototype():
    checks = {name: get_experiment(name).checks for name in NEIGHBOURS}
    kinds = [check.kind for each in checks.values() for check in each]
    published = {
        name: n
        for name, each in checks.items()
        if (n := sum(check.kind == "published" for check in each))
    }
    assert all(
        (check.kind == "prototype") == ("prototype" in check.source)
        for each in checks.values()
        for check in each
    )
    failing = sum(len(missed) for missed, _ in DISAGREES.values())
    page = " ".join(Path("docs/related_work.rst").read_text().split())
    count = (
        f"{len(kinds) - kinds.count('prototype')} consistency checks, {kinds.count('published')} "
        "compare with"
    )
    assert count in page
    assert published == {"fiete": 3, "bcpnn": 1, "orbits": 1}
    assert "(three of ``fiete``, one each of ``bcpnn`` and ``orbits``)" in page
    assert (
        f"{kinds.count('expected')} with what they claim in words or what follows from the "
        "equations" in page
    )
    assert f"{failing == 1 and 'One'} of the {kinds.count('published')} does not hold" in page
    assert (
        f"{kinds.count('prototype')} numbers of ``scaffold`` and ``sdm`` are compared with a "
        "prototype of ours and do not count" in page
    )


def test_a_report_on_both_counts_the_paper_and_its_neighbours_separately(tmp_path):
    CliRunner().invoke(
        command, ["fig2", "orbits", "--quick", "--jobs", "1", "--out", str(tmp_path)]
    )
    page = (tmp_path / "report.html").read_text()
    assert (
        "1 of 1 targets that can be compared agree with the paper. 1 of 1 experiments of other "
        "systems pass their" in page
    )
    assert "<h1>Sequence attractors: the paper again</h1>" in page


def test_means_over_networks_are_drawn_where_a_neighbour_asks_for_it():
    outcomes = [
        {"series": {"a": {"x": [1, 2], "y": [0.0, 1.0]}}},
        {"series": {"a": {"x": [1, 2], "y": [1.0, 1.0]}}},
    ]
    assert get_target("sdm").extra([({}, outcomes)]) == {
        "series": {"a": {"x": [1, 2], "y": [0.5, 1.0]}}
    }
    assert get_target("gsemm").extra([({}, outcomes)]) == {"series": outcomes[0]["series"]}


def test_a_diluted_rate_network_has_the_weights_of_the_rule_where_it_has_any():
    rng = np.random.default_rng(0)
    N, K, P = 40, 12, 5
    xi = rng.standard_normal((P, N))
    J = diluted(xi, K, rng).toarray()
    assert ((J != 0).sum(axis=1) == K).all()
    assert not J.diagonal().any()
    for i, j in np.argwhere(J):
        assert J[i, j] == pytest.approx(sum(xi[mu + 1, i] * xi[mu, j] for mu in range(P - 1)) / K)


def test_what_reaches_the_end_of_a_sequence_is_what_the_network_itself_shows():
    N, K, P = 80, 20, 6
    net = sa.zoo.HebbianRateMemory(connectivity=K / N, dt=1.0, read_out_interval=1.0).fit(
        sa.datasets.random_periodic(3, N, rng=0)
    )
    found = end_of_sequence(net, N, K, P, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    xi = rng.standard_normal((P, N))
    net.J_ = diluted(xi, K, rng).toarray()
    path = net.activity(xi[0], steps=int(1.5 * net.tau * P))[1:]
    assert found == pytest.approx(max(0.0, *(np.corrcoef(r, xi[-2])[0, 1] for r in path)), abs=1e-9)


def test_a_check_can_fail_and_allows_for_chance():
    check = Check("x", "a number", (0.4, None), "theory", tolerance=0.01)
    assert check.agrees([0.395])
    assert not check.agrees([0.38])
    assert check.agrees([0.2, 0.5])  # 0.35 +- 0.15
    assert not Check("x", "a number", 1.0, "theory").agrees([math.nextafter(1.0, 2.0)])


def test_quick_and_full_exclude_each_other(tmp_path):
    done = CliRunner().invoke(command, ["neighbours", "--quick", "--full", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "choose one of --quick and --full" in done.output


@pytest.mark.parametrize("name", ["W", "w_in", "b"])
def test_errors_go_backwards_through_time_by_the_derivative(name):
    rng = np.random.default_rng(0)
    net = DaleNetwork(10, rng)
    u, wanted = rng.random(12), rng.random((12, 8))
    gradient, parameter = net.gradients(u, wanted)[1][name], net.parameters[name]
    for place in np.ndindex(parameter.shape):
        if name == "W" and place[0] == place[1]:
            continue  # no neuron excites itself
        losses = []
        for step in (1e-6, -2e-6):
            parameter[place] += step
            losses.append(net.gradients(u, wanted)[0])
        parameter[place] += 1e-6
        assert gradient[place] == pytest.approx((losses[0] - losses[1]) / 2e-6, abs=1e-6)
