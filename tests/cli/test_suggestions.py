"""A misspelt name is answered with the one that was meant, and not with a list of forty."""

import pytest
from click.shell_completion import BashComplete

import seqattractor as sa
from seqattractor.cli import group
from seqattractor.networks import make_network
from seqattractor.networks.registry import REGISTRY
from seqattractor.paper.target import TARGETS, get_target
from seqattractor.study import read_grid


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lern"], "No such command 'lern'. Did you mean 'learn'?"),
        (["RECALL"], "No such command 'RECALL'. Did you mean 'recall'?"),
        (["sweep", "stauts"], "No such command 'stauts'. Did you mean 'status'?"),
        (
            ["learn", "README.txt", "-o", "x.npz", "--network", "sparce"],
            "there is no network 'sparce'; did you mean 'sparse'?",
        ),
        (
            ["compare", "--networks", "lookpu"],
            "there is no network 'lookpu'; did you mean 'lookup'?",
        ),
        (
            ["compare", "--networks", "yardstik"],
            "there is no network 'yardstik'; did you mean 'yardstick'?",
        ),
        (["reproduce", "theorms"], "there is no target 'theorms'; did you mean 'theorems'?"),
        (
            ["reproduce", "nieghbours"],
            "there is no target 'nieghbours'; did you mean 'neighbours' or 'nights'?",
        ),
    ],
)
def test_the_command_line_suggests_similar_names(run, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.txt").write_text("#.\n\n.#\n")
    code, printed, complaint = run(*words)
    assert code == 2
    assert printed == ""
    assert message in complaint


def test_where_nothing_is_like_it_all_names_are_listed(run):
    assert "No such command 'qqq'.\n" in run("qqq")[2]
    assert (
        ", ".join(REGISTRY) + ", and together paper, ours, rival, yardstick and all."
        in run("compare", "--networks", "qqq")[2]
    )
    assert ", ".join(TARGETS) + ", and together neighbours and all." in run("reproduce", "qqq")[2]


def test_names_given_in_python_are_answered_in_the_same_way(tmp_path):
    with pytest.raises(ValueError, match=r"no network 'hebian'; did you mean 'hebbian'\?"):
        make_network("hebian")
    with pytest.raises(ValueError, match=r"has no parameter 'n_hiden'; did you mean 'n_hidden'\?"):
        make_network("attractor", n_hiden=20)
    with pytest.raises(ValueError, match=r"no protocol 'randm'; did you mean 'random'\?"):
        sa.compare("randm")
    with pytest.raises(ValueError, match="no target 'tabel1'; did you mean 'table1' or 'table2'"):
        get_target("tabel1")
    (tmp_path / "grid.toml").write_text('[grid]\nnetwork = "lookup"\nflps = 3')
    with pytest.raises(ValueError, match=r"unknown key 'flps'; did you mean 'flips'\?"):
        read_grid(tmp_path / "grid.toml")


@pytest.mark.parametrize(
    ("words", "begun", "offered"),
    [
        ([], "le", ["learn"]),
        (["sweep"], "", ["export", "plot", "run", "status"]),
        (["learn"], "--hi", ["--hidden"]),
        (["learn", "--network"], "one", ["one-hot"]),
        (["reproduce"], "table", ["table1", "table2"]),
    ],
)
def test_a_shell_completes_commands_options_networks_and_targets(words, begun, offered):
    shell = BashComplete(group, {}, "seqattractor", "_SEQATTRACTOR_COMPLETE")
    assert [item.value for item in shell.get_completions(words, begun)] == offered


@pytest.mark.parametrize("network", ["hebbian", sa.zoo.HebbianMemory])
def test_a_capacity_search_rejects_trials_and_names_max_trials(network):
    with pytest.raises(ValueError, match="max_trials limits them"):
        sa.measure_capacity(network, n=20, trials=4)
