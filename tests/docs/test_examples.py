"""Every example runs, prints what it promises, and draws a picture."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from PIL import Image

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))
# What must be printed for the example to be true to its words.
PROMISES = {
    "plot_gallop": "exact from the second step on: True",
    "plot_grey_film": "recalled exactly: True",
    "plot_is_it_replay": "The laps have a sequence in common.",
    "plot_lesions": "whichever 11 of the hidden neurons are removed",
    "plot_letters": "spelled right: True",
    "plot_moving_digits": "retrieved: True\nretrieved: True\nretrieved: True",
    "plot_night_of_replay": "\nwith replay: 5 of 5 earlier sequences exact, new one 100%",
    "plot_place_cells": "the lap is replayed: True",
    "plot_replay_of_laps": "context of 5 bins: 100.0% of the transitions stored",
    "plot_spikes": "the patterns of recall: True\npatterns on the sequence: 61 of 61",
    "plot_tune": "recalled without a mistake: True",
    "plot_walker": "after each step: 2000 0 0 0",
}

# Those that take more than a second, of which other examples and tests show the same calls.
SLOW = (
    "plot_guarantees",
    "plot_lesions",
    "plot_night_of_replay",
    "plot_replay_of_laps",
    "plot_spikes",
    "plot_theory",
    "plot_why_sparse",
    "plot_your_own_rule",
)
MOVING = ("plot_gallop", "plot_lesions", "plot_night_of_replay", "plot_spikes", "plot_walker")


def test_the_promised_examples_are_there():
    assert {*PROMISES, *SLOW, *MOVING} <= {path.stem for path in EXAMPLES}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.slow) if path.stem in SLOW else path
        for path in EXAMPLES
    ],
    ids=[path.stem for path in EXAMPLES],
)
def test_the_example_runs_and_draws_a_picture(path, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")
    runpy.run_path(str(path), run_name="__main__")
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    for figure in figures:
        figure.canvas.draw()
        assert any(ax.has_data() for ax in figure.axes)
    plt.close("all")
    printed = capsys.readouterr().out
    assert PROMISES.get(path.stem, "") in printed
    assert "None" not in printed
    for film in tmp_path.glob("*.gif"):  # the gallery shows it (docs/conf.py)
        with Image.open(film) as picture:
            assert 10 < picture.n_frames < 40
        assert film.stat().st_size < 200_000
    assert path.stem not in MOVING or list(tmp_path.glob("*.gif"))
    if path.stem == "plot_grey_film":  # the guide shows its table
        page = (path.parents[1] / "docs" / "encoders.rst").read_text()
        assert [
            line for line in printed.splitlines()[1:] if f"    {line.rstrip()}\n" not in page
        ] == []
