"""The paper again: targets, their trials and results."""

import json

import numpy as np
import pytest

import seqattractor as sa
from seqattractor.paper import numbers
from seqattractor.paper.registry import TARGETS, get_target
from seqattractor.paper.runner import run_targets
from seqattractor.paper.settings import LEARNING, RANDOM_SEQUENCES, Request
from seqattractor.paper.store import TrialStore
from seqattractor.paper.target import Result

QUICK = Request(trials=2, quick=True)


def found(names, request, folder, **options):
    return {name: result.data for name, result in run_targets(names, request, folder, **options)}


# -- what a target is -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_says_what_it_is_and_has_cells_that_json_can_hold(name):
    target = get_target(name)
    assert target.name == name
    assert target.title
    assert target.about
    for request in (Request(), QUICK):
        cells = target.cells(request)
        assert len({json.dumps(cell, sort_keys=True) for cell in cells}) == len(cells) > 0
        assert json.loads(json.dumps(cells)) == cells


def test_an_unknown_target_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no target 'fig2'; choose from fig1, fig3"):
        get_target("fig2")


def test_the_settings_are_those_of_section_6():
    assert LEARNING == {"eta": 1e-3, "kappa": 1.0, "init_scale": 1e-6**0.5, "max_epochs": 500}
    assert get_target("table1").cells(Request())[0]["M"] == 500
    assert {cell["T"] for cell in get_target("table1").cells(Request())} == set(numbers.TABLE_1["V"])
    assert {cell["M"] for cell in get_target("table2").cells(Request())} == set(numbers.TABLE_2["UV"])
    assert {cell["T"] for cell in get_target("table2").cells(Request())} == {70}
    assert (RANDOM_SEQUENCES["N"], RANDOM_SEQUENCES["flips"]) == (100, 10)


def test_a_figure_and_its_table_share_their_trials():
    for figure, table in (("fig5a", "table1"), ("fig5b", "table2")):
        assert get_target(figure).experiment == table
        assert get_target(figure).cells(Request()) == get_target(table).cells(Request())


# -- the store ------------------------------------------------------------------------------------------------------


def test_finished_trials_are_found_again_and_a_line_cut_short_is_not(tmp_path):
    store = TrialStore(tmp_path, "table1", seed=0)
    store.put({"T": 10}, 0, {"success": True})
    store.put({"T": 10}, 1, {"success": False})
    store.close()
    path = tmp_path / "table1.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    again = TrialStore(tmp_path, "table1", seed=0)
    assert again.get({"T": 10}, 0) == {"success": True}
    assert again.get({"T": 10}, 1) is None
    again.put({"T": 10}, 2, {"success": True})
    again.close()
    third = TrialStore(tmp_path, "table1", seed=0)
    assert third.get({"T": 10}, 2) == {"success": True}
    third.close()


def test_another_seed_or_another_cell_is_another_trial(tmp_path):
    store = TrialStore(tmp_path, "table1", seed=0)
    store.put({"T": 10}, 0, {"success": True})
    store.close()
    other = TrialStore(tmp_path, "table1", seed=1)
    assert other.get({"T": 10}, 0) is None
    other.close()
    same = TrialStore(tmp_path, "table1", seed=0)
    assert same.get({"T": 20}, 0) is None
    same.close()


# -- running ----------------------------------------------------------------------------------------------------------


def test_results_are_the_same_for_any_number_of_processes(tmp_path):
    names = ["fig3", "fig4", "theorems"]
    alone = found(names, QUICK, tmp_path / "1", jobs=1)
    together = found(names, QUICK, tmp_path / "2", jobs=2)
    assert json.dumps(alone) == json.dumps(together)


def test_another_seed_gives_other_numbers(tmp_path):
    a, b = (found(["fig3"], Request(trials=1, seed=seed), tmp_path)["fig3"]["rows"] for seed in (0, 1))
    assert a != b


def test_an_interrupted_run_continues_and_ends_with_the_same_result(tmp_path):
    def interrupt(name, done, total):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        found(["fig3"], QUICK, tmp_path / "a", progress=interrupt)
    calls = []
    continued = found(["fig3"], QUICK, tmp_path / "a", progress=lambda *call: calls.append(call))
    assert calls[0] == ("fig3", 7, 44)
    assert calls[-1] == ("fig3", 44, 44)
    assert len(calls) == 1 + 44 - 7
    assert continued == found(["fig3"], QUICK, tmp_path / "b")


def test_a_finished_run_does_nothing_again(tmp_path):
    found(["fig4"], QUICK, tmp_path)
    calls = []
    found(["fig4"], QUICK, tmp_path, progress=lambda *call: calls.append(call))
    assert calls == [("fig4", 4, 4)]


def test_more_trials_keep_those_that_are_done(tmp_path):
    found(["fig4"], Request(trials=2), tmp_path)
    calls = []
    found(["fig4"], Request(trials=3), tmp_path, progress=lambda *call: calls.append(call))
    assert calls[0] == ("fig4", 4, 6)


# -- what is found ----------------------------------------------------------------------------------------------------


def counted(name, successes_of):
    """The result of a table for made-up outcomes: `successes_of(cell)` of 100 trials."""
    target = get_target(name)
    outcomes = []
    for cell in target.cells(Request()):
        k = successes_of(cell)
        outcomes.append((cell, [{"success": True}] * k + [{"success": False}] * (100 - k)))
    return target, target.result(Request(), outcomes)


def test_table_1_has_the_promised_rows():
    target, result = counted("table1", lambda cell: 50)
    assert list(result.data) == ["settings", "rows"]
    assert len(result.data["rows"]) == 30
    row = next(row for row in result.data["rows"] if row["T"] == 80 and row["learn"] == "UV")
    assert list(row) == ["T", "M", "learn", "trials", "successes", "interval", "paper"]
    assert (row["M"], row["trials"], row["successes"], row["paper"]) == (500, 100, 50, 52)
    assert row["interval"] == pytest.approx([0.4038, 0.5962], abs=1e-4)
    assert set(target.csv_rows(result)[0]) == set(row) - {"interval"} | {"low", "high", "p", "p_holm"}


@pytest.mark.parametrize(("name", "table", "varied"), [("table1", numbers.TABLE_1, "T"), ("table2", numbers.TABLE_2, "M")])
def test_the_papers_own_counts_agree_with_the_paper(name, table, varied):
    target, result = counted(name, lambda cell: table[cell["learn"]][cell[varied]])
    verdict = target.verdict(result)
    assert verdict.agrees
    assert "cells agree" in verdict.sentence


def test_a_cell_that_differs_is_named_with_both_counts():
    def spoiled(cell):
        theirs = numbers.TABLE_1[cell["learn"]][cell["T"]]
        return 60 if (cell["learn"], cell["T"]) == ("UV", 60) else theirs

    target, result = counted("table1", spoiled)
    verdict = target.verdict(result)
    assert verdict.agrees is False
    assert "29 of 30 cells agree" in verdict.sentence
    assert "T = 60, learn = UV: 60/100 here, 99/100 in the paper" in verdict.sentence


def test_figure_1_proves_that_the_toy_sequences_need_hidden_neurons(tmp_path):
    [(_, result)] = run_targets(["fig1"], QUICK, tmp_path)
    from seqattractor.datasets import toy

    assert get_target("fig1").verdict(result).agrees
    for row in result.data["rows"]:
        X = toy(row["sequence"]).astype(int)
        targets = X[1:, row["impossible_neurons"][0] - 1]
        combination = np.array(row["proof_for_the_first_of_them"])
        assert combination.min() >= 0
        assert combination[targets < 0].max() > 0
        assert not ((combination * targets) @ X[:-1]).any()


@pytest.mark.parametrize(
    ("successes", "trials", "agrees"),
    [(1, 2, True), (0, 2, None), (4, 5, True), (0, 5, False), (49, 100, True), (30, 100, False)],
)
def test_a_few_failed_retrievals_of_the_toy_sequences_are_no_disagreement(successes, trials, agrees):
    row = {"successes": successes, "trials": trials, "learned": trials, "interval": sa.wilson_interval(successes, trials)}
    assert get_target("fig4").verdict(Result({"rows": [row]})).agrees is agrees


def test_figure_3_errors_fall_with_more_hidden_neurons_and_the_theorems_hold(tmp_path):
    for name, result in run_targets(["fig3", "theorems"], Request(trials=10), tmp_path):
        assert get_target(name).verdict(result).agrees


def test_figure_6_recalls_the_walker(tmp_path):
    [(name, result)] = run_targets(["fig6"], QUICK, tmp_path)
    [row] = result.data["rows"]
    assert row["converged"]
    assert row["retrieved"] == row["sequences"] == 1
    assert row["wrong_pixels_by_frame"][0] == 2000
    assert row["wrong_pixels_by_frame"][9] == 0
    truth, recalled = result.extra["truth"], result.extra["recalled"]
    assert (truth != recalled).sum(axis=(0, 2, 3)).tolist() == row["wrong_pixels_by_frame"]
    assert get_target(name).verdict(result).agrees
    [moving] = get_target(name).animations(result)
    assert moving.gif.startswith(b"GIF89a")


@pytest.mark.slow
def test_tables_1_and_2_agree_with_the_paper(tmp_path):
    request = Request(trials=40, seed=20)
    for name, result in run_targets(["table1", "table2"], request, tmp_path, jobs=2):
        verdict = get_target(name).verdict(result)
        assert verdict.agrees, verdict.sentence


@pytest.mark.slow
def test_the_bound_on_tau_does_not_cost_retrievals():
    """Where retrieval is a matter of luck, five times as long a wait finds no further success."""
    import warnings

    from seqattractor.paper.settings import RECALL_PERIODS

    T, missed = 80, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = sa.datasets.random_periodic(T, 100, rng=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            net = sa.SequenceAttractor(500, random_state=rng).fit(X)
        path = net.recall(sa.noise.flip(X[0], 10, rng=rng), steps=5 * RECALL_PERIODS * T)
        missed += sa.retrieved(path, X) and not sa.retrieved(path[: RECALL_PERIODS * T + 1], X)
    assert missed == 0


@pytest.mark.slow
def test_pictures_are_stored_and_recalled_as_in_figures_6_to_8_and_the_ablations(tmp_path):
    names = ["fig6", "fig7", "fig8", "ablation-gait", "ablation-digits"]
    for name, result in run_targets(names, Request(trials=3), tmp_path, jobs=2):
        verdict = get_target(name).verdict(result)
        assert verdict.agrees, verdict.sentence
