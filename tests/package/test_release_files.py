"""What a release needs besides the code: one version everywhere, known blanks, workflows and
templates that can be read.
"""

import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import seqattractor as sa

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "release"))

import ready  # noqa: E402 - it is a script, in a folder that is not on the path

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = [
    end
    for line in PROJECT["classifiers"]
    if re.fullmatch(r"3\.\d+", end := line.removeprefix("Programming Language :: Python :: "))
]
YAMLS = sorted([*ROOT.glob(".github/**/*.yml"), ROOT / "CITATION.cff"])


def read_yaml(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_version_is_the_same_everywhere():
    assert PROJECT["dynamic"] == ["version"]
    assert ready.version() == sa.__version__
    assert read_yaml("CITATION.cff")["version"] == sa.__version__
    changelog = re.findall(
        r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert changelog[:2] == ["Unreleased", sa.__version__.split(".dev")[0]]


def test_every_blank_is_explained():
    explained = set(re.findall(r"`([a-z-]+)`", (ROOT / "RELEASING.md").read_text(encoding="utf-8")))
    assert {blank.fact for blank in ready.blanks()} <= set(ready.FACTS) <= explained


def test_blanks_are_found_where_they_are(tmp_path):
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "paper.md").write_text("# Title\n\nBy FILL-IN(people), FILL-IN(doi)\n")
    (tmp_path / "pyproject.toml").write_text('# url = "FILL-IN(repository-url)"\n')
    assert ready.blanks(tmp_path) == [
        ("people", "paper/paper.md", 3),
        ("doi", "paper/paper.md", 3),
        ("repository-url", "pyproject.toml", 1),
    ]


def a_release(
    folder,
    *,
    number="1.2.3",
    cited="1.2.3",
    day="2027-01-02",
    logged="1.2.3 - 2027-01-02",
    urls="[project.urls]",
):
    """A repository that is ready for a release, or not quite."""
    (folder / "src" / "seqattractor").mkdir(parents=True)
    (folder / "src" / "seqattractor" / "__init__.py").write_text(f'__version__ = "{number}"\n')
    (folder / "CITATION.cff").write_text(
        f"cff-version: 1.2.0\nversion: {cited}\ndate-released: {day}\n"
    )
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## Unreleased\n\n## {logged}\n")
    (folder / "pyproject.toml").write_text(f"[project]\n{urls}\n")
    return folder


def test_a_release_that_agrees_with_itself_is_let_through(tmp_path):
    assert ready.disagreements("v1.2.3", a_release(tmp_path)) == []


@pytest.mark.parametrize(
    ("tag", "change", "word"),
    [
        ("v1.2.4", {}, "the tag should be v1.2.3"),
        (
            "v1.2.3.dev0",
            {"number": "1.2.3.dev0", "cited": "1.2.3.dev0", "logged": "1.2.3.dev0 - 2027-01-02"},
            "work in progress",
        ),
        ("v1.2.3", {"cited": "1.2.2"}, "CITATION.cff says version 1.2.2"),
        (
            "v1.2.3",
            {"logged": "1.2.3 (not released yet)"},
            "CHANGELOG.md needs the heading '## 1.2.3 - 2027-01-02'",
        ),
        (
            "v1.2.3",
            {"logged": "1.2.3 - 2027-01-03"},
            "CHANGELOG.md needs the heading '## 1.2.3 - 2027-01-02'",
        ),
        ("v1.2.3", {"urls": "# [project.urls]"}, "still commented out"),
    ],
)
def test_a_release_that_does_not_is_rejected_with_the_reason(tag, change, word, tmp_path):
    (sentence,) = ready.disagreements(tag, a_release(tmp_path, **change))
    assert word in sentence


def test_a_release_without_a_date_is_rejected(tmp_path):
    assert "CITATION.cff has no date-released." in ready.disagreements(
        "v1.2.3", a_release(tmp_path, day="someday")
    )


def test_publishing_waits_for_what_only_people_know(capsys):
    """As long as there are blanks; afterwards, for the tag of another version."""
    assert ready.main(["v0.0.0"]) == 1
    assert "the tag is v0.0.0" in capsys.readouterr().out
    assert ready.main([]) == 0


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: path.name)
def test_workflows_templates_and_citation_can_be_read(path):
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


def commands(workflow):
    """All that a workflow runs."""
    return [
        step["run"]
        for job in read_yaml(f".github/workflows/{workflow}.yml")["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]


def test_workflows_run_targets_that_exist():
    targets = set(
        re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)[
            1
        ].split()
    )
    asked = {
        word
        for line in commands("tests") + commands("publish")
        for word in re.findall(r"make (\S+)", line)
    }
    assert {"lint", "test", "dist"} <= asked <= targets
    (checked,) = re.findall(
        r"^make -j 2 ([a-z -]+?) *(?:#.*)?$", (ROOT / ".ci/run").read_text(), flags=re.MULTILINE
    )
    checked = checked.split()
    assert checked == ["lint", "test"]
    assert {f"make {target}" for target in checked} <= set(commands("tests"))


def test_workflows_run_on_the_pythons_that_are_promised():
    jobs = read_yaml(".github/workflows/tests.yml")["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"


def test_only_the_upload_may_authenticate():
    """Trusted publishing: no token, a named environment, and the right to an identity only where it
    is used.
    """
    workflow = read_yaml(".github/workflows/publish.yml")
    assert workflow["permissions"] == {"contents": "read"}
    assert {name for name, job in workflow["jobs"].items() if "permissions" in job} == {"upload"}
    upload = workflow["jobs"]["upload"]
    assert upload["permissions"] == {"id-token": "write"}
    assert upload["environment"] == "pypi"
    assert upload["needs"] == "build"
    assert "secrets" not in (ROOT / ".github/workflows/publish.yml").read_text()
    assert any(line.startswith("python release/ready.py") for line in commands("publish"))


SECTIONS = [
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact statement",
    "AI usage disclosure",
    "Acknowledgements",
    "References",
]


def test_the_article_has_its_sections_and_cites_what_is_listed():
    text = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    assert yaml.safe_load(head)["bibliography"] == "paper.bib"
    assert re.findall(r"^# (.+)$", body, flags=re.MULTILINE) == SECTIONS
    listed = re.findall(
        r"^@\w+\{(\w+),$",
        (ROOT / "paper/paper.bib").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    assert len(listed) == len(set(listed))
    assert set(re.findall(r"@(\w+)", body)) == set(listed)


def test_the_article_names_functions_that_exist():
    text = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
    named = ("separable", "certify", "SequenceMemory")
    assert [name for name in named if f"`{name}`" not in text or not hasattr(sa, name)] == []
