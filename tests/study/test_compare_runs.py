"""Comparisons that are interrupted, whose workers die, and whose networks are the user's: the same
bytes in the end.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

import seqattractor as sa
from seqattractor.study import Store
from seqattractor.study.compare import COMPARISON, compare
from seqattractor.study.user_networks import Brought

# A network that writes down every fit and, at a chosen one, sends a signal to the process that does
# the trial, once.
MINE = """
import os, signal
from pathlib import Path
import seqattractor as sa

class Mine(sa.zoo.LookupMemory):
    def fit(self, X, lengths=None):
        with open("fits", "a") as file:
            file.write("fit\\n")
        fits = Path("fits").read_text().count("fit")
        if 0 < int(os.environ["FIT"]) <= fits and not Path("sent").exists():
            Path("sent").touch()
            os.kill(os.getpid(), getattr(signal, os.environ["SIGNAL"]))
        return super().fit(X, lengths)
"""
COMMAND = [
    sys.executable,
    "-m",
    "seqattractor",
    "compare",
    "--networks",
    "hebbian,dense",
    "--use",
    "mine.py",
]
COMMAND += [
    "--values",
    "5,9,20",
    "--trials",
    "3",
    "--seed",
    "7",
    "--out",
    "out",
]  # 27 trials, 9 of them of mine


def run(folder, *options, fit=0, sent="SIGINT"):
    """Run the comparison in a folder; at this fit of the user's network its process gets a
    signal.
    """
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(MINE)
    environment = os.environ | {"FIT": str(fit), "SIGNAL": sent}
    return subprocess.run(
        [*COMMAND, *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def files(folder):
    """The bytes of the results."""
    return {
        kind: (folder / "out" / f"compare-random.{kind}").read_bytes()
        for kind in ("json", "csv", "html", "png")
    }


def fits(folder):
    return (folder / "fits").read_text().count("fit")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    done = run(folder, "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert fits(folder) == 1 + 9  # one for what may have to be imported
    return files(folder)


def test_after_ctrl_c_the_same_command_does_only_what_is_missing(tmp_path, whole):
    stopped = run(tmp_path, "--jobs", "1", fit=6)
    assert stopped.returncode == 130
    assert (
        "Every finished trial is saved in out/trials.db; the same command resumes."
        in stopped.stderr
    )
    with Store(tmp_path / "out" / "trials.db", readonly=True) as store:
        saved = len(list(store.rows()))
    assert 0 < saved < 27
    assert not (tmp_path / "out" / "compare-random.json").exists()
    before = fits(tmp_path)
    again = run(tmp_path, "--jobs", "1")
    assert again.returncode == 0
    assert (
        fits(tmp_path) - before == 1 + 9 - 4
    )  # four of the first five fits were of trials that ended
    assert files(tmp_path) == whole


@pytest.mark.slow
def test_a_worker_that_is_killed_in_a_trial_changes_nothing(tmp_path, whole):
    done = run(tmp_path, "--jobs", "2", fit=5, sent="SIGKILL")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sent").exists()
    assert files(tmp_path) == whole


@pytest.mark.slow
def test_a_comparison_whose_process_is_killed_is_resumed(tmp_path, whole):
    killed = run(tmp_path, "--jobs", "1", fit=4, sent="SIGKILL")
    assert killed.returncode == -signal.SIGKILL
    assert run(tmp_path, "--jobs", "2").returncode == 0
    assert files(tmp_path) == whole


def test_a_damaged_trial_of_a_comparison_is_reported_and_a_copy_of_the_rest_is_completed(tmp_path):
    path = tmp_path / "s.db"
    arguments = {"values": [5, 9], "trials": 3, "study": path}
    first = compare("random", ["hebbian", "lookup"], **arguments)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE trials SET outcome = replace(outcome, 'true', 'false')")
    with pytest.raises(OSError, match=r"s.db: \d+ damaged rows are left out and count as missing"):
        compare("random", ["hebbian", "lookup"], **arguments)
    with Store(path, readonly=True) as store:
        store.copy_to(tmp_path / "rest.db")
    again = compare("random", ["hebbian", "lookup"], **arguments | {"study": tmp_path / "rest.db"})
    assert again.to_json() == first.to_json()


OWN = """
import seqattractor as sa

class Own(sa.zoo.LookupMemory):
    def next_patterns(self, states, memory=None):
        return {}super().next_patterns(states, memory)
"""


def test_an_edited_file_of_the_users_is_done_again_and_nothing_else_is(tmp_path):
    path, study = tmp_path / "own.py", tmp_path / "s.db"
    done_before = []

    def successes():
        seen = []
        comparison = compare(
            "random",
            ["lookup"],
            values=[5, 9],
            trials=2,
            files=[str(path)],
            study=study,
            progress=lambda p: seen.append(p.done),
        )
        done_before.append(seen[0])
        return [comparison.row(name, 9)["successes"] for name in ("lookup", "Own")]

    path.write_text(OWN.format(""))
    assert successes() == [2, 2]
    assert successes() == [2, 2]
    path.write_text(OWN.format("-"))
    assert successes() == [2, 0]
    assert done_before == [0, 8, 4]


def test_another_parameter_or_number_of_hidden_neurons_is_another_trial(tmp_path):
    seen = []

    def done(networks, **options):
        seen.clear()
        compare(
            "random",
            networks,
            values=[5],
            trials=2,
            study=tmp_path / "s.db",
            progress=lambda p: seen.append(p.done),
            **options,
        )
        return seen[0]

    few = {"a": sa.SequenceAttractor(20, max_epochs=5)}
    assert done(few) == 0
    assert done({"b": sa.SequenceAttractor(20, max_epochs=5)}) == 2  # the same under another name
    assert done({"a": sa.SequenceAttractor(20, max_epochs=6)}) == 0
    assert done(["attractor-V", "hebbian"], m=20) == 0
    assert done(["attractor-V", "hebbian"], m=21) == 2  # hebbian has none
    assert done(["attractor-V", "hebbian"], m=21, seed=1) == 0


def test_an_unforeseen_error_of_a_network_is_reported_and_retried_next_time(tmp_path):
    path, study = tmp_path / "own.py", tmp_path / "s.db"
    path.write_text(
        "import os, seqattractor as sa\n\nclass Fragile(sa.zoo.LookupMemory):\n    def fit(self, "
        "X, lengths=None):\n"
        "        assert 'BREAK' not in os.environ or len(X) < 12, 'broken'\n        return "
        "super().fit(X, lengths)\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BREAK", "1")
        comparison = compare(
            "random", ["lookup"], values=[15], trials=2, files=[str(path)], study=study
        )
    assert comparison.row("Fragile", 15)["by_trial"] == "xx"
    sentence = (
        "Fragile could not take part everywhere: broken (AssertionError in Fragile.fit, line 5 of "
        "own.py)"
    )
    assert sentence in comparison.describe()
    again = compare("random", ["lookup"], values=[15], trials=2, files=[str(path)], study=study)
    assert again.row("Fragile", 15)["successes"] == 2


@pytest.mark.slow
def test_trials_are_the_same_with_any_executor_and_times_are_separate(tmp_path):
    for jobs in (1, 2):
        compare(
            "noise",
            ["hebbian", "lookup"],
            values=[0, 5],
            trials=2,
            study=tmp_path / f"{jobs}.db",
            jobs=jobs,
        )
    found = []
    for jobs in (1, 2):
        with Store(tmp_path / f"{jobs}.db", readonly=True) as store:
            found.append(list(store.finished(COMPARISON)))
    assert len(found[0]) == 4
    assert [json.dumps(each.outcome) for each in found[0]] == [
        json.dumps(each.outcome) for each in found[1]
    ]
    assert "seconds" not in json.dumps(found[0][0].outcome)
    assert [sorted(times) for times in found[0][0].times] == [
        ["learn_seconds", "recall_seconds"]
    ] * 2


def test_a_network_of_the_users_is_known_by_all_of_its_classes_its_rule_and_its_parameters():
    class Base(sa.zoo.LookupMemory):
        """Of the user's."""

    class Derived(Base):
        """Of the user's, too."""

    class Rule(sa.rules.Rule):
        """Of the user's."""

    derived = Brought(Derived()).description
    assert len(derived["sources"]) == 2
    assert derived == Brought(Derived()).description
    assert derived != Brought(Derived(order=2)).description
    ours = Brought(sa.VisibleNetwork(rule=Rule())).description
    assert ours["sources"] == []
    assert len(ours["parameters"]["rule"]["sources"]) == 1
    assert ours != Brought(sa.VisibleNetwork(rule=sa.rules.Hebbian())).description
    assert ours != derived
