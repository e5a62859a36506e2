"""`reproduce neighbours`: the headline experiments of other systems, small, beside what was published."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from seqattractor.cli.reproduce import command
from seqattractor.paper.neighbours import Check, Neighbour
from seqattractor.paper.target import NEIGHBOURS, Request, get_target
from seqattractor.paper.trials.dale import DaleNetwork


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_neighbour_says_where_its_numbers_come_from_and_what_is_not_verified(name):
    target = get_target(name)
    assert isinstance(target, Neighbour)
    assert target.name == name
    assert target.source
    assert target.not_verified.endswith(".")
    assert target.checks
    assert all(check.source for check in target.checks)
    sizes = [target.cells(Request(quick=quick, full=full))[0] for quick, full in ((True, False), (False, False), (False, True))]
    assert sizes[0].keys() == sizes[1].keys() == sizes[2].keys()


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_neighbour_agrees_with_what_was_published_in_its_quick_version(name, tmp_path):
    done = CliRunner().invoke(command, [name, "--quick", "--json", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    verdict = json.loads(done.stdout)["targets"][name]
    assert verdict["agrees"], verdict["sentence"]
    assert "Not verified: " in verdict["sentence"]
    assert {path.name for path in tmp_path.iterdir()} >= {f"{name}.{kind}" for kind in ("json", "csv", "png", "pdf")}


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
def test_errors_go_backwards_through_time_as_the_derivative_says(name):
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
