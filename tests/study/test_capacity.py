"""Capacity: where success ends, found with few trials, the same with any executor."""

import csv
import json
import math
import multiprocessing
import os
import signal

import matplotlib.pyplot as plt
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import seqattractor as sa
from seqattractor.cli.capacity import command
from seqattractor.study import Capacity, Search, Store, capacities
from seqattractor.study.capacity import PowerLaw, SaturatingLaw, SuccessCurve, fit_law
from seqattractor.study.executors import in_processes, in_this_process
from seqattractor.study.store import Finished


def logistic(half, width, lapse=0.0):
    return lambda T: (1 - lapse) / (1 + math.exp(min(math.log(T / half) / width, 700.0)))


def gompertz(half, width):
    return lambda T: 0.5 ** math.exp(min(math.log(T / half) / width, 700.0))


def step(last):
    return lambda T: float(last >= T)


def linear(first, last):
    return lambda T: float(np.clip((last - T) / (last - first), 0, 1))


def search_on(rate, rng, **options):
    """Search a capacity where success at T has the probability rate(T)."""
    search = Search({"network": "lookup"}, **options)
    while not search.over:
        for trial in search.next_trials():
            success = bool(rng.random() < rate(trial.point.settings.get("t", 50)))
            search.tell(Finished(trial, {"success": success}, None, 0.0, "here", "1"))
    return search.result()


def true_capacity(rate, success):
    return max((T for T in range(2, 3000) if rate(T) >= success), default=1)


@pytest.mark.parametrize(
    ("rate", "success"),
    [
        pytest.param(logistic(80, 0.07), 0.95, marks=pytest.mark.slow),
        pytest.param(logistic(80, 0.07), 0.5, marks=pytest.mark.slow),
        (logistic(400, 0.01), 0.95),
        pytest.param(linear(50, 100), 0.95, marks=pytest.mark.slow),
        (step(900), 0.9),
        pytest.param(step(880), 0.95, marks=pytest.mark.slow),
    ],
)
def test_the_interval_holds_the_true_capacity_in_nearly_all_searches(rate, success):
    rng = np.random.default_rng(0)
    found = [search_on(rate, rng, success=success) for _ in range(10)]
    true = true_capacity(rate, success)
    # 95 % intervals: fewer than 7 of 10 would come up once in a thousand times.
    assert sum(each.low <= true <= each.high for each in found) >= 7
    assert abs(np.median([each.t for each in found]) / true - 1) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("success", [0.5, 0.9, 0.95])
@pytest.mark.parametrize(
    "rate",
    [
        *(logistic(half, 0.01) for half in (60, 137, 400, 900)),
        *(logistic(400, width) for width in (0.005, 0.02)),
        *(gompertz(137, width) for width in (0.01, 0.02, 0.1)),
        *(linear(first, last) for first, last in [(130, 140), (390, 400)]),
    ],
)
def test_the_interval_holds_the_true_capacity_of_steep_curves_in_19_of_20_searches(rate, success):
    rng = np.random.default_rng(1)
    true = true_capacity(rate, success)
    found = [search_on(rate, rng, success=success) for _ in range(200)]
    # Of 200 intervals of 95 %, fewer than 180 would hold the truth once in 400 times.
    assert sum(each.low <= true <= each.high for each in found) >= 180


@pytest.mark.slow
@pytest.mark.parametrize("success", [0.5, 0.9, 0.95])
def test_the_interval_holds_the_last_length_before_a_step_wherever_it_is(success):
    for last in np.random.default_rng(2).integers(10, 2000, size=100).tolist():
        found = search_on(step(last), np.random.default_rng(0), success=success)
        assert found.low <= last <= found.high


def test_a_sharp_end_needs_far_fewer_trials_than_a_grid_would():
    found = search_on(lambda T: float(T <= 137), np.random.default_rng(1), success=0.95, t_max=2000)
    assert found.low <= 137 <= found.high
    assert found.trials <= 100


def test_a_network_that_never_fails_is_reported_to_store_at_least_the_longest():
    found = search_on(lambda T: 1.0, np.random.default_rng(2), success=0.9, t_max=100)
    assert found.at_least
    assert found.t == 100


def test_a_network_that_never_reaches_the_rate_has_no_capacity():
    found = search_on(lambda T: 0.5, np.random.default_rng(3), success=0.95)
    assert found.t == 1


@settings(max_examples=20)
@given(st.integers(10, 200), st.integers(0, 8), st.integers(1, 8))
def test_more_successes_never_lower_a_capacity_and_more_failures_never_raise_its_upper_end(
    T, first, more
):
    def known(successes, failures):
        curve = SuccessCurve(0.9, t_max=500)
        curve.learn([T], [successes], [successes + failures])
        return curve.capacity()

    assert known(first + more, 0)[1] >= known(first, 0)[1]
    assert known(0, first + more)[2] <= known(0, first)[2]


def test_a_failed_trial_ends_a_search_with_its_error():
    search = Search({"network": "lookup", "n": 3})
    trial = search.next_trials()[0]
    with pytest.raises(ValueError, match="failed: ValueError: there are only 8"):
        search.tell(
            Finished(trial, None, "ValueError: there are only 8 patterns", 0.0, "here", "1")
        )


def small_searches():
    return [
        Search({"network": "hebbian", "n": n, "flips": 1}, success=0.5, max_trials=24, seed=3)
        for n in (20, 40)
    ]


def numbers(found):
    return [(each.t, each.low, each.high, each.trials, each.tried) for each in found]


@pytest.mark.slow
def test_a_map_does_not_depend_on_the_executor_and_is_resumed_where_it_stopped(tmp_path):
    with Store(tmp_path / "one.db") as store:
        alone = numbers(capacities(small_searches(), store, in_this_process))
    with Store(tmp_path / "two.db") as store:
        assert numbers(capacities(small_searches(), store, in_processes(2))) == alone

    def few(trials):
        for _ in range(10):
            yield from in_this_process(iter([next(trials)]))
        raise KeyboardInterrupt

    with Store(tmp_path / "three.db") as store:
        with pytest.raises(KeyboardInterrupt):
            capacities(small_searches(), store, few)
        assert len(list(store.rows())) == 10
        done = []
        assert (
            numbers(capacities(small_searches(), store, in_this_process, progress=done.append))
            == alone
        )
        assert len(list(store.rows())) == sum(each[3] for each in alone)


def test_capacities_state_the_answer_give_a_table_and_draw_themselves():
    found = sa.measure_capacity("hebbian", n=[20, 40], flips=1, success=0.5, max_trials=8)
    assert repr(found).startswith("CapacityMap: hebbian, N = 20, 1 flip: T = ")
    assert [row["n"] for row in found.rows()] == [20, 40]
    ((each, _),) = found.groups
    assert repr(each).startswith("Capacity: hebbian, N = 20, 1 flip: T = ")
    for thing, label in ((each, "T"), (found, "N")):
        ax = thing.plot()
        assert ax.get_xlabel() == label
        plt.close(ax.figure)


def capacity(t, **where):
    curve = SuccessCurve(0.9, t_max=500)
    return Capacity(where, 0.9, t, round(t * 0.95), round(t * 1.05), 50, False, {t: (9, 10)}, curve)


EVERYWHERE = [{"n": n, "m": m, "sequences": 1} for n in (50, 100, 200) for m in (100, 300, 1000)]


def test_a_power_law_is_found_where_there_is_one():
    law = fit_law(
        [capacity(round(0.5 * each["n"] ** 0.8 * each["m"] ** 0.3), **each) for each in EVERYWHERE]
    )
    assert isinstance(law, PowerLaw)
    assert law.exponents["n"][0] == pytest.approx(0.8, abs=0.03)
    assert law.exponents["m"][0] == pytest.approx(0.3, abs=0.03)
    assert law({"n": 100, "m": 300}) == pytest.approx(0.5 * 100**0.8 * 300**0.3, rel=0.03)
    assert "N^(0.8" in str(law)


def test_a_law_that_saturates_is_found_where_there_is_one():
    law = fit_law(
        [
            capacity(round(0.7 * each["n"] / (1 + 0.5 * each["n"] / each["m"])), **each)
            for each in EVERYWHERE
        ]
    )
    assert isinstance(law, SaturatingLaw)
    assert law.a[0] == pytest.approx(0.7, abs=0.02)
    assert law.c[0] == pytest.approx(0.5, abs=0.05)
    assert "N / M" in str(law)


def test_capacities_that_grow_with_m_alone_are_not_reported_to_saturate():
    """A trace of saturation that the scatter hides; two numbers explain it as well as three, but
    one of them is meaningless.
    """
    scatter = (0.1, -0.1, -0.1, 0.1)
    lengths = [
        1.8 * each["m"] * (1 - 0.0003 * each["m"] / each["n"]) * (1 + scatter[k % 4])
        for k, each in enumerate(EVERYWHERE)
    ]
    law = fit_law([capacity(round(T), **each) for T, each in zip(lengths, EVERYWHERE, strict=True)])
    assert isinstance(law, PowerLaw)
    assert law.exponents["m"][0] == pytest.approx(1, abs=0.2)


def test_length_against_number_of_sequences_has_a_law_of_its_own():
    law = fit_law([capacity(round(80 / s), n=100, m=500, sequences=s) for s in (1, 2, 4, 8)])
    assert law.exponents["sequences"][0] == pytest.approx(-1, abs=0.03)


def test_a_law_needs_two_more_capacities_than_it_has_numbers():
    sizes = (50, 100, 200, 400)
    assert (
        fit_law([capacity(n // 3, n=n, m=None, sequences=1) for n in sizes[:3]]) is None
    )  # would fit nearly any three
    assert fit_law([capacity(n // 3, n=n, m=None, sequences=1) for n in sizes]) is not None


def test_no_law_is_reported_to_hold_to_within_0_percent():
    power = fit_law([capacity(n, n=n, m=None, sequences=1) for n in (50, 100, 200, 400)])
    saturating = fit_law(
        [
            capacity(round(700 * n / (1 + 5 * n / m)), n=n, m=m, sequences=1)
            for n in (1000, 2000, 4000)
            for m in (1000, 4000)
        ]
    )
    assert isinstance(power, PowerLaw)
    assert isinstance(saturating, SaturatingLaw)
    for law in (power, saturating):
        assert law.spread < 0.005
        assert str(law).endswith("to within 1%")


def test_a_law_names_exponents_that_the_capacities_do_not_resolve():
    scatter = (1.3, 0.75, 1.25, 0.8, 1.0, 1.3, 0.7, 1.2, 0.9)
    law = fit_law(
        [
            capacity(round(each["m"] * k), **each)
            for each, k in zip(EVERYWHERE, scatter, strict=True)
        ]
    )
    assert "(these capacities do not resolve the exponent of N)" in str(law)
    assert "resolve" not in str(
        fit_law([capacity(each["n"] * each["m"] // 50, **each) for each in EVERYWHERE])
    )


def test_a_law_needs_settings_that_are_numbers():
    assert fit_law([capacity(20, n=50, m=None, sequences=1)] * 4) is None


def test_the_command_writes_a_table_a_figure_and_json(tmp_path):
    options = [
        "--network",
        "hebbian",
        "--n",
        "20,30,40,50",
        "--flips",
        "5%",
        "--success",
        "0.5",
        "--max-trials",
        "16",
        "--jobs",
        "1",
    ]
    files = ["-o", tmp_path / "c.csv", "--figure", tmp_path / "c.png", "--study", tmp_path / "s.db"]
    reported = CliRunner().invoke(command, [*options, *map(str, files)], catch_exceptions=False)
    assert "hebbian, N = 20, 1 flip: T = " in reported.output
    assert "Law: T = " in reported.output
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    assert [(row["n"], row["flips"]) for row in rows] == [
        ("20", "1"),
        ("30", "2"),
        ("40", "2"),
        ("50", "2"),
    ]
    assert all(int(row["low"]) <= int(row["t"]) <= int(row["high"]) for row in rows)
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    again = CliRunner().invoke(
        command, [*options, "--study", str(tmp_path / "s.db"), "--json"], catch_exceptions=False
    )
    found = json.loads(again.stdout)["capacities"]
    assert [str(each["t"]) for each in found] == [row["t"] for row in rows]


@pytest.mark.parametrize("dask", [None, pytest.param("local", marks=pytest.mark.slow)])
def test_a_worker_that_is_killed_changes_nothing_in_a_capacity(dask):
    if dask:
        pytest.importorskip("distributed")
    killed = []

    def kill(progress):
        workers = [child.pid for child in multiprocessing.active_children()]
        if workers and progress.done >= 8 and not killed:
            killed.append(workers[0])
            os.kill(workers[0], signal.SIGKILL)

    options = {"n": [20, 30], "flips": 1, "success": 0.5, "max_trials": 24}
    there = sa.measure_capacity("hebbian", **options, jobs=2, dask=dask, progress=kill)
    assert killed
    assert there.rows() == sa.measure_capacity("hebbian", **options).rows()


# -- networks of the user's, and flips as a share of N
# --------------------------------------------------------------


class Forgetful(sa.zoo.LookupMemory):
    """Stores the first patterns only."""

    def fit(self, X, lengths=None):
        return super().fit(X[:7])


FEW = {"n": 20, "success": 0.5, "max_trials": 8}


def test_a_network_with_settings_of_the_users_is_searched_as_it_is(tmp_path):
    net = sa.SequenceAttractor(60, kappa=0.5)
    found = sa.measure_capacity(net, **FEW, study=tmp_path / "s.db")
    (row,) = found.rows()
    assert (row["network"], row["m"], row["flips"]) == ("SequenceAttractor", 60, 2)
    assert repr(found).startswith("CapacityMap: SequenceAttractor, N = 20, M = 60, 2 flips: T = ")
    assert not hasattr(net, "U_")  # copies have learned
    done = []
    assert (
        sa.measure_capacity(net, **FEW, study=tmp_path / "s.db", progress=done.append).rows()
        == found.rows()
    )
    assert not done  # every trial was there
    other = sa.measure_capacity(
        sa.SequenceAttractor(60, kappa=5.0), **FEW, study=tmp_path / "s.db", progress=done.append
    )
    assert done  # another margin is another network
    assert other.rows()[0]["network"] == "SequenceAttractor"
    assert {row["network"] for row in sa.study.read_study(tmp_path / "s.db").rows()} == {
        "SequenceAttractor"
    }


@pytest.mark.slow
def test_a_class_of_the_users_is_searched_beside_short_names_here_and_in_processes():
    here, there = (
        sa.measure_capacity(["lookup", Forgetful], flips=0, t_max=40, **FEW, jobs=jobs)
        for jobs in (1, 2)
    )
    rows = {row["network"]: row for row in here.rows()}
    assert rows["lookup"]["t"] > 20
    assert rows["Forgetful"]["high"] < 20
    assert rows["Forgetful"]["m"] is None
    assert there.rows() == here.rows()


def test_a_dict_gives_networks_names_and_m_is_theirs_unless_it_varies():
    nets = {"narrow": sa.SequenceAttractor(30), "wide": sa.SequenceAttractor(90)}
    assert [
        (row["network"], row["m"]) for row in sa.measure_capacity(nets, m=50, **FEW).rows()
    ] == [("narrow", 30), ("wide", 90)]
    rows = sa.measure_capacity({"mine": nets["narrow"]}, m=[40, 80], **FEW).rows()
    assert [(row["network"], row["m"]) for row in rows] == [("mine", 40), ("mine", 80)]


def test_a_network_of_the_users_that_cannot_learn_is_reported_before_any_trial():
    class Broken(sa.zoo.LookupMemory):
        """Divides by zero."""

        def next_patterns(self, states, memory=None):
            return states // 0 + len(undefined)  # noqa: F821

    with pytest.raises(ValueError, match=r"Broken.next_patterns"):
        sa.measure_capacity(Broken(), **FEW)
    with pytest.raises(
        ValueError,
        match="kappa is no setting of a trial; parameters of a network of yours are set in",
    ):
        sa.measure_capacity(sa.SequenceAttractor(60), kappa=0.5, **FEW)


def test_flips_are_a_tenth_of_the_units_unless_they_are_given():
    assert [
        row["flips"] for row in sa.measure_capacity("hebbian", **(FEW | {"n": [20, 50]})).rows()
    ] == [2, 5]
    assert [
        row["flips"] for row in sa.measure_capacity("hebbian", flips=["20%", 3], **FEW).rows()
    ] == [4, 3]
    reported = CliRunner().invoke(
        command,
        ["--network", "hebbian", "--n", "20", "--max-trials", "4", "--jobs", "1"],
        catch_exceptions=False,
    )
    assert "hebbian, N = 20, 2 flips: T = " in reported.output


def test_the_command_takes_a_file_with_a_network_of_the_users(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import seqattractor as sa\n\nmine = sa.SequenceAttractor(40, kappa=0.5)\n"
    )
    options = [
        "--network",
        "hebbian",
        "--n",
        "20",
        "--max-trials",
        "4",
        "--jobs",
        "1",
        "--use",
        str(tmp_path / "mine.py"),
    ]
    reported = CliRunner().invoke(command, options, catch_exceptions=False)
    assert "mine, N = 20, M = 40, 2 flips: T = " in reported.output


def theories(ax):
    """The lines of theory in a picture, by their names, with their numbers."""
    lines = {str(line.get_label()): line for line in ax.lines}
    return {
        name.partition(": ")[2]: line
        for name, line in lines.items()
        if name.startswith(("theory: ", "at most: "))
    }


def test_theory_is_drawn_beside_capacities():
    found = sa.measure_capacity(["perceptron", "lookup"], n=[16, 24], flips=1, max_trials=4)
    of_weights = theories(found.plot())["W, any weights (Cover)"]
    limits = [sa.theory.limits(sa.VisibleNetwork(), n)[0].t for n in (16, 24)]
    assert of_weights.get_xdata().tolist() == [16, 24]
    assert of_weights.get_ydata().tolist() == limits
    assert theories(found.plot(theory=False)) == {}
    one = sa.measure_capacity("perceptron", n=16, flips=1, max_trials=4).groups[0][0]
    assert theories(one.plot())["W, any weights (Cover)"].get_xdata()[0] == limits[0]
    plt.close("all")


def test_theory_counts_the_synapses_of_a_users_network_and_is_silent_on_correlated_patterns():
    half = sa.VisibleNetwork(constraints=[sa.constraints.Dilution(0.5)])
    options = {"n": 16, "flips": 1, "max_trials": 4, "t_max": 20}
    ((found,),) = sa.measure_capacity(half, success=0.8, sequences=2, **options).groups
    assert found.limits == sa.theory.limits(half, 16, sequences=2, success=0.8)
    ((correlated,),) = sa.measure_capacity("perceptron", correlation=0.5, **options).groups
    assert correlated.limits == []


def test_theory_is_marked_along_the_lengths_of_a_comparison():
    found = sa.compare("random", ["hebbian", "lookup"], values=[3, 20], n=30, trials=2)
    marks = {name: line.get_xdata()[0] for name, line in theories(found.plot()).items()}
    limits = sa.theory.limits(sa.zoo.HebbianMemory(), 30, success=0.5)
    assert marks == {limit.name: limit.t for limit in limits}
    assert theories(found.plot(theory=False)) == {}
    other = sa.compare("random", ["hebbian"], flips=[0, 3], n=30, trials=2)
    assert theories(other.plot()) == {}
    plt.close("all")
