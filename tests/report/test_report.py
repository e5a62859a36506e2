"""Pages: one template for all, everything escaped that data bring along, and the files beside
them.
"""

import csv
import json
import re
from html.parser import HTMLParser

import pytest
from matplotlib import pyplot as plt

from seqattractor.paper.reproduce import report_page, write_target
from seqattractor.paper.target import Request, Result, Target
from seqattractor.report.figures import drawn, picture, save
from seqattractor.report.machine import machine, machine_words, software_words
from seqattractor.report.page import Animation, Section, Table, Verdict, duration, render

HOSTILE = "</h2><script>alert(\"1\")</script><img src=x onerror='alert(2)'>&amp;"


def draw():
    figure, ax = plt.subplots(figsize=(3, 2))
    ax.plot([0, 1], [0, 1])
    return figure


def hostile_section():
    return Section(
        HOSTILE,
        HOSTILE,
        HOSTILE,
        Verdict(False, HOSTILE),
        pictures=[picture(draw, HOSTILE)],
        tables=[Table([HOSTILE, HOSTILE], [[HOSTILE, HOSTILE]], HOSTILE)],
        animations=[Animation(b"GIF", HOSTILE, 10)],
        files=[HOSTILE],
    )


class Text(HTMLParser):
    """Collects tags and the words between them."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize(
    "page",
    [
        lambda s: report_page(
            [s], Request(gait_dir=HOSTILE), command=HOSTILE, seconds=1.0, missing=[HOSTILE]
        ),
        lambda s: render("compare.html", title=HOSTILE, sections=[s]),
        lambda s: render("inspect.html", name=HOSTILE, lead=HOSTILE, sections=[s]),
    ],
    ids=["reproduce", "compare", "inspect"],
)
def test_names_in_data_are_escaped(page):
    html = page(hostile_section())
    seen = Text()
    seen.feed(html)
    assert "script" not in seen.tags
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert sum(HOSTILE in words for words in seen.words) >= 8
    assert not re.search(r'src="(?!data:image/)', html)
    assert html.count("<title>") == html.count("<style>") == 1


def test_the_files_beside_a_page_are_links_and_stay_beside_it_whatever_they_are_called():
    page = render(
        "compare.html",
        title="t",
        sections=[Section("a", "A", files=["a.json", "b c.csv", "javascript:alert(1)"])],
    )
    assert re.findall('<a href="([^"]*)">([^<]*)</a>', page) == [
        ("a.json", "a.json"),
        ("b%20c.csv", "b c.csv"),
        ("javascript%3Aalert%281%29", "javascript:alert(1)"),
    ]


class Figure0(Target):
    def cells(self, request):
        return [{}]

    def verdict(self, result):
        return Verdict(None, "Nothing to compare.")

    def figure(self, result):
        return draw()


FIGURE_0 = Figure0(name="fig0", title="Figure 0", about="A line.", trial="")


def test_a_result_has_four_files_and_a_section_that_names_them(tmp_path):
    rows = [
        {"T": 10, "interval": [0.1, 0.2], "success": True},
        {"T": 20, "interval": [0.3, 0.4], "success": None},
    ]
    shown = write_target(tmp_path, FIGURE_0, Result({"rows": rows}), seconds=1.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(shown.files)
    assert json.loads((tmp_path / "fig0.json").read_text()) == {"rows": rows}
    with (tmp_path / "fig0.csv").open(newline="") as file:
        assert [row["T"] for row in csv.DictReader(file)] == ["10", "20"]
    assert (tmp_path / "fig0.pdf").read_bytes().startswith(b"%PDF")
    assert shown.pictures[0].light == (tmp_path / "fig0.png").read_bytes()
    page = report_page([shown], Request(), command="", seconds=1.0)
    assert (
        ", ".join(
            f'<a href="fig0.{kind}">fig0.{kind}</a>' for kind in ("json", "csv", "png", "pdf")
        )
        in page
    )


def test_a_figure_is_the_same_bytes_again_and_other_ones_in_the_dark():
    assert drawn(draw, "png", "pdf", "svg")[:2] == drawn(draw, "png", "pdf")
    assert drawn(draw, "png") != drawn(draw, "png", dark=True)
    assert plt.get_fignums() == []


def test_a_figure_of_another_kind_is_rejected(tmp_path):
    with pytest.raises(ValueError, match=r"\.png, \.pdf or \.svg"):
        save(draw, tmp_path / "figure.gif")


def test_the_machine_is_described_once():
    found = machine()
    assert found["cpu"] in machine_words()
    assert f"scipy {found['scipy']}" in software_words()
    json.dumps(found)


def test_a_table_has_a_line_for_each_row_or_a_column_for_each_value():
    rows = [{"T": 10, "rate": 0.25}]
    assert Table.of(rows, {"length": "T = {T}", "success": "{rate:.0%}"}).rows == [
        ["T = 10", "25%"]
    ]
    lines = [
        ("success", rows, "{rate:.0%}".format_map),
        ("none", [{"T": 20, "rate": 0}], "{rate:.0%}".format_map),
    ]
    table = Table.over("T", lines)
    assert table.columns == ["T", "10", "20"]
    assert table.rows == [["success", "25%", "-"], ["none", "-", "0%"]]


def test_a_duration_has_minutes_from_a_minute_on():
    assert [duration(seconds) for seconds in (5.04, 75)] == ["5.0 s", "1 min 15 s"]
