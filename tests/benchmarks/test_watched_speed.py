"""Watched speed: ratios beside baseline ones, and a suite for `asv` that still runs. No test
asserts a time.
"""

import json

import pytest
from bench import TOLERANCE, beside, command, is_slower, read_ratios
from click.testing import CliRunner

import written_pages

CASE = {"case": "random-70", "plain_loop": "numpy 2.4.6", "n_jobs": 1, "ratio": 60.0}


@pytest.mark.parametrize(
    ("now", "slower"), [(90.0, False), (60.0, False), (46.0, False), (44.0, True), (1.0, True)]
)
def test_a_case_is_slower_if_it_takes_more_than_a_third_longer_than_the_baseline(now, slower):
    assert pytest.approx(4 / 3) == TOLERANCE
    both = beside({**CASE, "ratio": now}, {"random-70": CASE})
    assert (both["now"], both["baseline"], both["now_by_baseline"]) == (now, 60.0, now / 60)
    assert is_slower(both) is slower


@pytest.mark.parametrize(
    "other", [{"plain_loop": "PyTorch 2.13.0"}, {"n_jobs": 2}, {"case": "walker"}]
)
def test_ratios_against_another_loop_or_with_other_threads_are_not_compared(other):
    both = beside(CASE, {other.get("case", "random-70"): CASE | other})
    assert both["baseline"] is None
    assert not is_slower(both)


def test_a_newer_version_of_the_same_loop_is_compared():
    assert beside(CASE, {"random-70": CASE | {"plain_loop": "numpy 2.0.0"}})["baseline"] == 60.0


def test_bench_shows_now_baseline_and_their_quotient_and_never_fails_for_being_slower(tmp_path):
    baseline = tmp_path / "baseline.json"
    first = CliRunner().invoke(
        command, ["random-70", "--seconds", "0.1", "--json", "-o", str(baseline)]
    )
    assert first.exit_code == 0, first.output
    results = json.loads(baseline.read_text())
    results["cases"][0]["ratio"] *= 1e6
    baseline.write_text(json.dumps(results))
    again = CliRunner().invoke(
        command, ["random-70", "--seconds", "0.1", "--baseline", str(baseline), "-o", str(baseline)]
    )
    assert again.exit_code == 0, again.output
    assert "now/baseline 0.00" in again.output
    assert "SLOWER than the baseline" in again.output
    (both,) = json.loads(baseline.read_text())["baseline"]  # read before it was written over
    assert both["baseline"] == results["cases"][0]["ratio"]
    assert both["now"] == json.loads(baseline.read_text())["cases"][0]["ratio"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"cases": [{}]}',
        '{"cases": [{"case": "digits", "ratio": 0}]}',
        '{"cases": [3]}',
        '{"cases": 3}',
    ],
)
def test_a_file_that_holds_no_results_is_rejected_in_a_sentence(tmp_path, content):
    path = tmp_path / "baseline.json"
    path.write_text(content)
    with pytest.raises(
        ValueError,
        match=(
            r"baseline\.json is not a file of results; write one with `python benchmarks/bench.py "
            r"-o "
        ),
    ):
        read_ratios(path)


def test_a_baseline_that_is_not_there_is_rejected_before_anything_is_measured(tmp_path):
    done = CliRunner().invoke(command, ["--baseline", str(tmp_path / "none.json")])
    assert done.exit_code == 2
    assert "none.json" in done.output


@pytest.fixture(scope="module")
def shares():
    return written_pages.script("watched.shares")


TINY = {
    "track_learning": ({"seconds": 0.01}, ["random-70"]),
    "track_recall": ({"cues": 5, "steps": 2}, []),
    "track_recall_with_noise": ({"cues": 5, "steps": 2}, []),
    "track_sparse_noise": ({"T": 10, "M": 20, "epochs": 3, "repeats": 1}, []),
    "track_long_sequences": ({"N": 10, "M": 10, "n": 40, "epochs": 2, "repeats": 1}, []),
    "track_going_on": ({"N": 20, "M": 10, "T": 60, "epochs": 2, "repeats": 1}, ["warm start"]),
}


def test_every_watched_benchmark_has_a_tiny_case_here(shares):
    assert {name for name in vars(shares) if name.startswith("track_")} == set(TINY)


@pytest.mark.parametrize("name", TINY)
def test_a_watched_benchmark_gives_a_share_of_the_plain_way(shares, name):
    sizes, params = TINY[name]
    measure = getattr(shares, name)
    assert measure(*params, **sizes) > 0
    assert measure.unit.startswith("of ")


def test_the_configuration_of_asv_names_the_folder_of_the_suite():
    settings = json.loads((written_pages.ROOT / "asv.conf.json").read_text())
    assert (written_pages.ROOT / settings["benchmark_dir"] / "shares.py").exists()
