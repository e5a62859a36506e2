"""`seqattractor reproduce`."""

import csv
import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from seqattractor.cli.reproduce import command

RUN = ["fig4", "theorems", "--trials", "2", "--jobs", "1"]
VOID = {"meta", "img", "source", "link", "br", "hr"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("results")
    outcome = CliRunner().invoke(command, [*RUN, "--out", str(out)], catch_exceptions=False)
    return out, outcome


def test_it_prints_the_verdicts_and_the_path_of_the_report(results):
    out, outcome = results
    assert outcome.exit_code == 0
    assert (
        "All four theorems and both extensions held in all 12 random instances." in outcome.output
    )
    assert str(out / "report.html") in outcome.output


def test_every_target_has_its_four_files(results):
    out, _ = results
    for name in ("fig4", "theorems"):
        assert json.loads((out / f"{name}.json").read_text())["settings"]["seed"] == 0
        rows = list(csv.DictReader((out / f"{name}.csv").read_text().splitlines()))
        assert len(rows) == {"fig4": 2, "theorems": 6}[name]
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    files = {
        f"{name}.{kind}" for name in ("fig4", "theorems") for kind in ("json", "csv", "png", "pdf")
    }
    assert {path.name for path in out.iterdir()} == files | {"report.html", "trials.db"}


class Page(HTMLParser):
    """What a page refers to, and whether its tags are closed."""

    def __init__(self):
        super().__init__()
        self.sources, self.links, self.ids, self.open = [], [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.sources += [attributes[key] for key in ("src", "srcset") if key in attributes]
        self.links += [attributes["href"]] if "href" in attributes else []
        self.ids += [attributes["id"]] if "id" in attributes else []
        if tag == "img":
            assert attributes["alt"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_report_needs_nothing_but_itself(results):
    out, _ = results
    text = (out / "report.html").read_text()
    page = Page()
    page.feed(text)
    assert page.open == []
    assert page.sources
    assert all(source.startswith("data:image/") for source in page.sources)
    inside = [link for link in page.links if link.startswith("#")]
    assert all(link[1:] in page.ids for link in inside)
    assert all(
        (out / link).is_file() for link in page.links if link not in inside
    )  # the files beside it
    assert "fig4" in page.ids
    assert not re.search(r"https?://|@import|url\(", text)


def test_on_paper_the_report_has_margins_and_light_figures(results):
    out, _ = results
    text = (out / "report.html").read_text()
    assert re.search(r"@page \{ margin: \d+mm", text)
    assert text.count('class="figure on-light"') == text.count('class="figure on-dark"') == 2
    # Dark colours are for screens only: a page is printed on white.
    assert (
        re.findall(r"@media.*dark.*", text)
        == ["@media screen and (prefers-color-scheme: dark) {"] * 2
    )
    assert ".on-dark { display: none; }" in text


def test_the_report_states_settings_seed_machine_and_time(results):
    out, _ = results
    text = (out / "report.html").read_text()
    for word in (
        "eta = 0.001",
        "kappa = 1.0",
        "<dt>Seed</dt><dd>0</dd>",
        "<dt>Machine</dt>",
        "<dt>Time</dt>",
        "agrees",
    ):
        assert word in text


def test_the_same_seed_gives_the_same_json_byte_for_byte(results, tmp_path):
    out, _ = results
    again = CliRunner().invoke(
        command, [*RUN, "--out", str(tmp_path), "--json"], catch_exceptions=False
    )
    assert json.loads(again.stdout)["targets"]["theorems"]["agrees"] is True
    for name in ("fig4.json", "theorems.json"):
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fig9"], "no target 'fig9'"),
        (["fig4", "--trials", "0"], "--trials"),
        (["fig4", "--seed", "-1"], "--seed"),
        (["fig4", "fig6", "--gait-dir", "nowhere"], "there is no folder nowhere"),
        (["fig7", "--mnist-file", "nothing.npy"], "there is no file nothing.npy"),
    ],
)
def test_a_bad_request_is_one_sentence_and_exit_code_2(arguments, words, run, tmp_path):
    code, _, complaint = run("reproduce", *arguments, "--jobs", "1")
    assert code == 2
    assert words in complaint
    assert "Traceback" not in complaint
    assert not list(tmp_path.iterdir())


def trials_in(path):
    """All finished trials of a store, with the seconds that each took; none before the store is
    made.
    """
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
            return set(db.execute("SELECT point, trial, seconds FROM trials").fetchall())
    except sqlite3.OperationalError:
        return set()


@pytest.mark.slow
def test_ctrl_c_saves_finished_trials_and_the_same_command_resumes(tmp_path):
    run = [sys.executable, "-c", "from seqattractor.cli import main; main()", "reproduce", "fig3"]
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    trials = stopped / "trials.db"
    long = [*run, "--trials", "2000", "--jobs", "2", "--out", str(stopped)]
    process = subprocess.Popen(long, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and len(trials_in(trials)) <= 10:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=300)
    assert process.returncode == 130, printed
    assert "Every finished trial is saved" in printed
    assert "the same command resumes" in printed
    assert "Traceback" not in printed
    before = trials_in(trials)
    assert 10 < len(before) < 2000 * 22
    for out in (stopped, whole):
        subprocess.run(
            [*run, "--trials", "3", "--jobs", "1", "--out", str(out)],
            check=True,
            capture_output=True,
        )
    assert trials_in(trials) >= before  # nothing was done twice
    assert (stopped / "fig3.json").read_bytes() == (whole / "fig3.json").read_bytes()


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_files_as_one_process(tmp_path):
    pytest.importorskip("distributed")
    run = [
        sys.executable,
        "-c",
        "from seqattractor.cli import main; main()",
        "reproduce",
        "table1",
        "fig4",
        "--trials",
        "3",
    ]
    for out, how in (("alone", ["--jobs", "1"]), ("dask", ["--jobs", "2", "--dask", "local"])):
        subprocess.run([*run, *how, "--out", str(tmp_path / out)], check=True, capture_output=True)
    for name in ("table1", "fig4"):
        for kind in ("json", "csv", "png", "pdf"):
            assert (tmp_path / "dask" / f"{name}.{kind}").read_bytes() == (
                tmp_path / "alone" / f"{name}.{kind}"
            ).read_bytes()
