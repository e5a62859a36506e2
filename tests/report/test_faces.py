"""Results with a face: what a prompt, a notebook, pandas and matplotlib show of every result."""

import ast
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import seqattractor as sa
from seqattractor._faces import Result

NO_PICTURE = {"Separability", "SuccessRate", "Proof", "Conflicts", "Limit", "LayerMargin"}


@dataclass(frozen=True, repr=False)
class Temperature(Result):
    _drawn_by = "thermometer"
    degrees: float
    place: str

    def describe(self):
        return f"It is {self.degrees:.1f} degrees in {self.place}. That is all."


@dataclass(frozen=True, repr=False)
class Many(Result):
    n: int

    def describe(self):
        return "Many rows."

    def rows(self):
        return ({"k": k, "half": k / 2, "none": None} for k in range(self.n))


def test_the_repr_states_the_answer_in_one_line():
    assert repr(Temperature(3.5, "Graz")) == "Temperature: it is 3.5 degrees in Graz"


def test_notebooks_get_escaped_html_with_few_rows():
    html = Temperature(3.5, "<script>")._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
    assert Many(10)._repr_html_().count("<tr>") == 11
    assert Many(1000)._repr_html_().count("<tr>") == 11
    assert "to_pandas()" in Many(11)._repr_html_()
    assert "<table>" not in Many(0)._repr_html_()


def test_rows_become_a_data_frame():
    pytest.importorskip("pandas")
    assert Temperature(3.5, "Graz").to_pandas().to_dict("records") == [
        {"degrees": 3.5, "place": "Graz"}
    ]
    assert Many(3).to_pandas()["half"].tolist() == [0.0, 0.5, 1.0]


def test_without_pandas_one_sentence_explains_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        Temperature(3.5, "Graz").to_pandas()


def test_a_function_of_plots_draws_a_result(monkeypatch):
    def thermometer(result, *, ax=None, color="red"):
        return result.degrees, ax, color

    monkeypatch.setattr(sa.plots, "thermometer", thermometer, raising=False)
    assert Temperature(3.5, "Graz").plot("axes", color="blue") == (3.5, "axes", "blue")
    with pytest.raises(NotImplementedError, match="no picture of a Many"):
        Many(3).plot()


def test_a_repr_loads_neither_matplotlib_nor_pandas():
    code = (
        "import sys, seqattractor as s; repr(s.success_rate([1])); print('matplotlib' in "
        "sys.modules, 'pandas' in sys.modules)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "False False\n"
    )


def results():
    """One of every result that the package gives without experiments."""
    X = sa.datasets.random_periodic(8, 40, rng=0)
    net = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(X)
    attractors = sa.find_attractors(net, X, starts=20, flips=2, rng=0)
    verdict = sa.separable(sa.datasets.xor())
    return [
        sa.success_rate([True, True, False]),
        sa.certify(net, X),
        sa.certify(net, X[::-1]),
        sa.robustness_curve(net, X, trials=20, rng=0),
        sa.lesion_curve(net, X, draws=2, rng=0),
        *sa.theory.limits(net, 40),
        *sa.theory.layer_margins(net, X),
        sa.hidden_activity(net, X),
        sa.lost_starts(net, X, flips=15, rng=0),
        attractors,
        attractors[0],
        verdict,
        verdict.proof(0),
        verdict.proof(1),
        sa.find_conflicts(X),
        sa.find_conflicts(sa.datasets.xor()[[0, 1, 0, 2]]),
        X,
    ]


@pytest.mark.parametrize("result", results(), ids=lambda result: type(result).__name__)
def test_every_result_states_the_answer_in_one_line_and_has_rows(result):
    line = repr(result)
    assert "\n" not in line
    assert "array(" not in line
    assert len(line) < 200
    assert result._repr_html_().startswith("<")
    rows = list(result.rows())
    assert all(row.keys() == rows[0].keys() for row in rows)
    json.dumps(rows)  # plain values


def test_the_certificate_states_what_is_proven():
    X = sa.datasets.random_periodic(20, 60, rng=0)
    certificate = sa.certify(sa.SequenceAttractor(n_hidden=150, random_state=0).fit(X), X)
    low, high = certificate.radius.min(), certificate.radius.max()
    words = (
        f"any {low} wrong units are corrected in one step, at each of 19 stored transitions "
        f"(radius {low} to {high}, median 3"
    )
    assert repr(certificate).startswith(f"Certificate: {words}")
    assert [row["radius"] for row in certificate.rows()] == certificate.radius.tolist()


@pytest.mark.parametrize(
    "result",
    [r for r in results() if type(r).__name__ not in NO_PICTURE],
    ids=lambda r: type(r).__name__,
)
def test_results_draw_themselves_into_given_or_new_axes(result):
    ax = plt.figure().add_subplot()
    assert result.plot(ax) is ax
    assert ax.has_data()
    assert result.plot().figure is not ax.figure


def test_every_legend_has_a_place():
    """Finding the best place takes long on a busy machine, and matplotlib then warns."""
    source = Path(sa.__file__).parent
    files = [*(source / "plots").rglob("*.py"), *(source.parents[1] / "examples").glob("*.py")]
    without = [
        f"{path.name}:{node.lineno}"
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "legend"
        if "loc" not in {keyword.arg for keyword in node.keywords}
    ]
    assert without == []
