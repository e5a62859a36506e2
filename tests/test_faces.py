"""Results with a face: what a prompt, a notebook, pandas and matplotlib show of every result."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from seqattractor._faces import Result, drawn_by


@dataclass(frozen=True, repr=False)
class Temperature(Result):
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


def test_the_repr_says_the_answer_in_one_line():
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
    assert Temperature(3.5, "Graz").to_pandas().to_dict("records") == [{"degrees": 3.5, "place": "Graz"}]
    assert Many(3).to_pandas()["half"].tolist() == [0.0, 0.5, 1.0]


def test_without_pandas_one_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        Temperature(3.5, "Graz").to_pandas()


def test_plots_register_what_draws_a_result():
    @drawn_by(Temperature)
    def thermometer(result, *, ax=None, color="red"):
        return result.degrees, ax, color

    assert Temperature(3.5, "Graz").plot("axes", color="blue") == (3.5, "axes", "blue")
    with pytest.raises(NotImplementedError, match="no picture of a Many"):
        Many(3).plot()


def test_a_repr_loads_neither_matplotlib_nor_pandas():
    code = "import sys, seqattractor as s; repr(s.success_rate([1])); print('matplotlib' in sys.modules, 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False False\n"
