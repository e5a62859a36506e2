"""A notebook, executed by a real kernel: what it shows of networks, results and progress."""

import os

import pytest

nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

CELLS = {
    "begin": "import seqattractor as sa\n"
    "from seqattractor.study import Grid, read_study, run_sweep\n"
    "X = sa.datasets.random_periodic(8, 40, rng=0)",
    "new": "sa.SequenceAttractor(n_hidden=80)",
    "fit": "net = sa.SequenceAttractor(n_hidden=80, random_state=0, verbose=1).fit(X)",
    "every epoch": "_ = sa.SequenceAttractor(n_hidden=80, random_state=0, verbose=2).fit(X)",
    "net": "net",
    "sequences": "X",
    "certificate": "certificate = sa.certify(net, X)\ncertificate",
    "certificate drawn": "certificate.plot();",
    "attractors": "sa.find_attractors(net, X, starts=20, flips=2, rng=0)",
    "sweep": "grid = Grid({'network': 'lookup', 'n': 20, 't': [4, 8], 'flips': [1, 3]}, trials=2)\n"
    "run_sweep(grid, 'study.db', verbose=True)",
    "study": "study = read_study('study.db')\nstudy",
    "study drawn": "study.plot();",
    "study in xarray": "study.to_xarray()",
    "study in pandas": "study.to_pandas()",
    "comparison": "networks = ['hebbian', 'lookup']\n"
    "comparison = sa.compare('random', networks, values=[5], trials=2, verbose=True)\n"
    "comparison",
    "comparison drawn": "comparison.plot();",
    "capacity": "sa.measure_capacity('hebbian', n=20, flips=1, max_trials=4, verbose=True)",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each cell gave: lists of outputs by the name of the cell."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    )
    folder = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    # The tests draw without a screen; a notebook chooses for itself.
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources=folder).execute(
        env=environment
    )
    nbformat.validate(notebook)
    return dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))


def forms(outputs, kind):
    """The contents of one kind among the outputs of a cell."""
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def test_nothing_is_shown_as_if_it_had_gone_wrong(outputs):
    wrong = [
        o
        for cell in outputs.values()
        for o in cell
        if o.output_type == "error" or o.get("name") == "stderr"
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("new", "has learned nothing yet"),
        ("net", "fit saw 1 sequence with 7 transitions"),
        ("sequences", "1 loop of 8 patterns"),
        ("certificate", "wrong units are corrected in one step"),
        ("attractors", "20 starts end in"),
        ("sweep", "8 trials, 0 were there, 8 added."),
        ("study", "<th>network</th>"),
        ("study in xarray", "missing_trials"),
        ("comparison", "Length of a random sequence"),
        ("capacity", "hebbian, N = 20, 1 flip: T = "),
    ],
)
def test_networks_and_results_show_themselves_as_html(outputs, cell, text):
    page = forms(outputs[cell], "text/html")[-1]
    assert text in page
    assert len(page) < 60_000


def test_a_network_keeps_scikit_learns_diagram(outputs):
    assert "sk-top-container" in forms(outputs["net"], "text/html")[0]


@pytest.mark.parametrize("cell", ["certificate drawn", "study drawn", "comparison drawn"])
def test_pictures_are_seen_once(outputs, cell):
    assert len(forms(outputs[cell], "image/png")) == 1


def test_progress_is_one_bar_that_is_full_in_the_end(outputs):
    for cell, text in {
        "fit": "0 hidden, 0 visible errors",
        "sweep": "8 of 8",
        "comparison": "4 of 4",
        "capacity": "4 of 4",
    }.items():
        bars = [page for page in forms(outputs[cell], "text/html") if "<progress" in page]
        assert len(bars) == 1  # drawn again and again, in one place
        assert text in bars[0]
        done, total = (bars[0].split(f'{name}="')[1].split('"')[0] for name in ("value", "max"))
        assert done == total


def test_a_line_for_each_epoch_is_ordinary_output(outputs):
    assert {printed.name for printed in outputs["every epoch"]} == {"stdout"}
    assert "".join(printed.text for printed in outputs["every epoch"]).startswith("epoch 1: ")
