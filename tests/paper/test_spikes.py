"""How long networks of integrate-and-fire neurons stay on a sequence: what the trials do, and what
the words count.
"""

import numpy as np

import seqattractor as sa
from seqattractor.paper.spikes import run_disturbed
from seqattractor.paper.target import Request, Result, get_target
from seqattractor.study.protocol import seed_of

TARGET = get_target("spikes")
SIZES = {"N": 60, "M": 120, "flips": 4, "steps": 25}


def test_a_trial_counts_what_runs_by_hand_give():
    levels = {"noise": [0.1, 0.8], "dead_visible": [2, 40]}
    settings = {"network": "sparse", "T": 9, **SIZES, "levels": levels}
    found = run_disturbed(settings, seed_of(5, "any", 2))
    rngs = map(np.random.default_rng, seed_of(5, "spikes", 2).spawn(5))
    of_data, of_network, of_cue, of_noise, of_dead = rngs
    X = sa.datasets.random_periodic(9, 60, rng=of_data)
    net = sa.SparseSequenceAttractor(120, random_state=int(of_network.integers(2**32))).fit(X)
    cue = sa.noise.flip(X[0], 4, rng=of_cue)

    def by_hand(rng, **how):
        return sa.spiking_recall(net, cue, 25, **how, rng=rng).steps_on(X)

    assert found == {
        "none": [26],
        "noise": [by_hand(of_noise, noise=level) for level in (0.1, 0.8)],
        "dead_visible": [by_hand(of_dead, dead_visible=count) for count in (2, 40)],
    }
    assert found["noise"][0] > found["noise"][1]


def test_networks_are_compared_on_the_same_sequences_and_cues(monkeypatch):
    seen = []

    def look(net, cue, steps):
        seen.append(cue)
        return sa.spiking_recall(net, cue, steps)

    monkeypatch.setattr("seqattractor.paper.spikes.spiking_recall", look)
    for network in ("sparse", "attractor"):
        run_disturbed({"network": network, "T": 9, **SIZES, "levels": {}}, seed_of(0, network, 1))
    assert np.array_equal(*seen)


def test_the_paragraph_and_the_table_are_made_from_the_numbers():
    request = Request(trials=8)
    cells = TARGET.cells(request)
    steps = [3, 4, 5, 6, 7, 501, 501, 501]

    def outcome(k, cell):
        levels = {"none": [0], **cell["levels"]}
        return {
            name: [501 if i < 3 else steps[k] for i in range(len(each))]
            for name, each in levels.items()
        }

    rows = [
        row for cell in cells for row in TARGET.rows(cell, [outcome(k, cell) for k in range(8)])
    ]
    fourth = next(row for row in rows if row["level"] == 0.25)
    # With 95 % the median of a distribution lies between the smallest and the largest of 8 values.
    assert (fourth["median"], fourth["low"], fourth["high"], fourth["stayed"]) == (6.5, 3, 501, 3)
    result = Result({"settings": TARGET.settings(request), "rows": rows})
    assert (
        "The paper's network, T = 50: 8 of 8 stay on the sequence to the end without a "
        "disturbance; at least half do with membrane noise of up to 0.2 of the root mean square "
        "distance from threshold, jitter of up to 1.5 ms, up to 25 dead hidden neurons, or up to 5 "
        "dead visible ones."
    ) in TARGET.verdict(result).sentence
    [table] = TARGET.tables(result)
    assert len(table.rows) == 33
    assert table.rows[0] == ["none", *["501 (501–501), 8"] * 3]
    assert ["jitter 2 ms", *["6 (3–501), 3"] * 3] in table.rows
