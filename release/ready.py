"""Say what is missing before a release: facts that only a person knows, and a version and dates
that agree.

python release/ready.py            # lists what is missing
python release/ready.py v0.2.0     # and ends with 1 if this tag needs anything that is missing

A fact that is not known yet stands in its file as FILL-IN(name). RELEASING.md says what each name
means; nobody guesses it.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

# What is needed when: for a release, for the release after the first (which has a DOI), or for the
# submission of the paper.
FACTS = {
    "repository-url": "release",
    "documentation-url": "release",
    "security-contact": "release",
    "conduct-contact": "release",
    "people": "release",
    "article": "release",
    "doi": "second release",
    "paper-authors": "paper",
    "paper-date": "paper",
    "paper-references": "paper",
    "paper-impact": "paper",
    "paper-ai-usage": "paper",
    "paper-acknowledgements": "paper",
}

_WHERE = (
    "*.md",
    "*.toml",
    "*.cff",
    ".github/**/*.yml",
    ".github/**/*.md",
    "docs/*.rst",
    "docs/*.py",
    "paper/*.md",
    "paper/*.bib",
    "src/**/*.py",
)
_EXPLAINED_IN = "RELEASING.md"  # it names the facts, and lacks none


class Blank(NamedTuple):
    """A place where a person has to fill in a fact."""

    fact: str
    file: str
    line: int


def blanks(root: Path = ROOT) -> list[Blank]:
    """Find the places FILL-IN(name), in the order of files and lines."""
    found = []
    for path in sorted({path for pattern in _WHERE for path in root.glob(pattern)}):
        if path.name != _EXPLAINED_IN:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                found += [
                    Blank(fact, path.relative_to(root).as_posix(), number)
                    for fact in re.findall(r"FILL-IN\(([^)]*)\)", line)
                ]
    return found


def version(root: Path = ROOT) -> str:
    """Read the version where it stands, without importing the package."""
    return _only(r'^__version__ = "([^"]+)"', root / "src/seqattractor/__init__.py")


def disagreements(tag: str, root: Path = ROOT) -> list[str]:
    """Say, in sentences, what does not fit a release under this tag."""
    number = version(root)
    cited = _only(r'^version: "?([^"\s]+)', root / "CITATION.cff")
    day = _only(r'^date-released: "?(\d{4}-\d\d-\d\d)', root / "CITATION.cff")
    logged = _only(rf"^## {re.escape(number)} - (\d{{4}}-\d\d-\d\d)$", root / "CHANGELOG.md")
    wrong = []
    if tag != f"v{number}":
        wrong.append(
            f"the tag is {tag}, but src/seqattractor/__init__.py says {number}: the tag should be "
            f"v{number}."
        )
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", number):
        wrong.append(
            f"{number} is a version of work in progress; take the end off "
            "(src/seqattractor/__init__.py)."
        )
    if cited != number:
        wrong.append(
            f"CITATION.cff says version {cited or '(none)'}, src/seqattractor/__init__.py says "
            f"{number}."
        )
    if not day:
        wrong.append("CITATION.cff has no date-released.")
    if not logged or logged != day:
        wrong.append(f"CHANGELOG.md needs the heading '## {number} - {day or 'YYYY-MM-DD'}'.")
    if not _only(r"^(\[project\.urls\])", root / "pyproject.toml"):
        wrong.append("[project.urls] in pyproject.toml is still commented out.")
    return wrong


def _only(pattern: str, path: Path) -> str:
    """What a pattern catches in a file, or nothing."""
    match = re.search(pattern, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return match[1] if match else ""


def main(words: list[str]) -> int:
    """Print what is missing; with a tag, give 1 if a release under that tag has to wait."""
    missing = blanks()
    for when in dict.fromkeys(FACTS.values()):
        for fact in (fact for fact in FACTS if FACTS[fact] == when):
            places = [f"{blank.file}:{blank.line}" for blank in missing if blank.fact == fact]
            if places:
                print(f"{when}: {fact} is to be filled in at {', '.join(places)}")
    unknown = [
        f"{blank.file}:{blank.line}: nobody knows what FILL-IN({blank.fact}) means."
        for blank in missing
        if blank.fact not in FACTS
    ]
    wrong = unknown + (disagreements(words[0]) if words else [])
    rest = (
        "Nothing else is missing."
        if words
        else "With the tag of a release, version and dates are compared, too (RELEASING.md)."
    )
    print("\n".join(wrong) or rest)
    return int(
        bool(words) and bool(wrong or any(FACTS.get(blank.fact) == "release" for blank in missing))
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
