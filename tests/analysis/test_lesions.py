"""Lesions: what is measured is what a network with those weights does, and what is proven no lesion
breaks.
"""

import itertools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import seqattractor as sa
from seqattractor.analysis import lesioned


def signs(fields, low=-1):
    return np.where(fields >= 0, 1, low)


def answer(layers, x, silent=(), cut=None):
    """What follows x if some hidden or visible neurons send nothing, or some synapses are cut: the
    equations, written out. `layers` are pairs of weights and offsets, `low` the silent state.
    """
    *hidden, (last, c) = layers
    x = x.astype(float)
    kind, which = cut or (None, ())
    if kind == "visible":
        x = x.reshape(-1, len(last)).copy()
        x[:, list(which)] = 0
        x = x.ravel()
    weights = [w.copy() for w, _ in layers]
    if kind == "synapses":
        there = [
            (k, i, j) for k, w in enumerate(weights) for i, j in zip(*np.nonzero(w), strict=True)
        ]
        for k, i, j in (there[s] for s in which):
            weights[k][i, j] = 0
    for _, b in hidden:
        x = signs(weights[0] @ x + b, silent).astype(float)
        if kind == "hidden":
            x[list(which)] = 0
    return signs(weights[-1] @ x + c)


def layers_of(net):
    """Weights and offsets of a network's layers, and its silent hidden state."""
    layers = net.layers()
    return [(layer.weights, layer.offset) for layer in layers], layers[0].low


def right(net, x, target, kind, which):
    layers, low = layers_of(net)
    alive = np.ones(len(target), dtype=bool)
    if kind == "visible":
        alive[list(which)] = False
    return bool((answer(layers, x, low, (kind, which)) == target)[alive].all())


def pairs(net, X):
    """Inputs with their context, and targets."""
    k = net.order_
    return [(X[t - k : t].ravel(), X[t]) for t in range(k, len(X))]


def tiny(name, seed):
    """A small network that has learned a random sequence, and the sequence."""
    X = sa.datasets.random_periodic(5, 7, rng=seed)
    net = {
        "paper": sa.SequenceAttractor(11, random_state=seed, kappa=0.5),
        "bias": sa.SequenceAttractor(11, bias=True, random_state=seed),
        "order 2": sa.SequenceAttractor(11, order=2, random_state=seed),
        "sparse": sa.SparseSequenceAttractor(14, n_winners=4, random_state=seed),
        "visible": sa.VisibleNetwork(random_state=seed),
        "hebbian": sa.zoo.HebbianMemory(),
    }[name]
    return net.fit(X), X


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("part", ["hidden", "visible", "synapses"])
@pytest.mark.parametrize("name", ["paper", "bias", "order 2", "sparse", "visible", "hebbian"])
def test_no_lesion_of_the_proven_size_breaks_a_transition(name, part):
    """All lesions of up to three neurons or one synapse, and random ones of the proven size."""
    if part == "hidden" and name in ("visible", "hebbian"):
        pytest.skip("there are no hidden neurons")
    tried, most, rng = 0, 1 if part == "synapses" else 3, np.random.default_rng(0)
    for seed in range(4):
        net, X = tiny(name, seed)
        curve = sa.lesion_curve(net, X, remove=part, draws=1, rng=0)
        for (x, target), proven in zip(pairs(net, X), curve.proven, strict=True):
            lesions = [
                which
                for size in range(min(proven, most) + 1)
                for which in itertools.combinations(range(curve.size), size)
            ]
            if proven > most:
                lesions += [rng.permutation(curve.size)[:proven].tolist() for _ in range(50)]
            tried += len(lesions)
            for which in lesions:
                assert right(net, x, target, part, which), (seed, which)
            if part == "hidden" and 0 <= proven < most:  # the proof is exact: one more breaks it
                worse = itertools.combinations(range(curve.size), proven + 1)
                assert not all(right(net, x, target, part, which) for which in worse)
            assert proven >= 0 or not right(net, x, target, part, ())
    assert tried > 10


@pytest.mark.parametrize("sparse", [False, True])
def test_attacks_on_larger_networks_stay_above_the_proof(sparse):
    """The supports of the weakest neurons are removed first: what the worst lesion would do."""
    X = sa.datasets.random_periodic(20, 50, rng=1)
    net = sa.SparseSequenceAttractor(150, random_state=1) if sparse else sa.SequenceAttractor(150)
    net = net.set_params(random_state=1).fit(X)
    (U, b), (V, c) = layers_of(net)[0]
    low = layers_of(net)[1]
    curves = {p: sa.lesion_curve(net, X, remove=p, draws=1) for p in ("hidden", "synapses")}
    flips = sa.certify(net, X, method="count", attack=False)
    away = sa.lesion_curve(net, X, remove="visible", draws=1)
    # A removed unit takes half of what a flip takes.
    assert (away.proven >= flips.radius).all()
    for t, (x, target) in enumerate(pairs(net, X)):
        y = signs(U @ x + b, low)
        supports = target[:, None] * V * y
        margin = target * (V @ y + c)
        exact = []
        for j in range(50):
            largest = np.argsort(-supports[j])
            lost = np.cumsum(supports[j][largest].clip(0))
            over = lost > margin[j] if target[j] > 0 else lost >= margin[j]
            exact.append(int(over.argmax()) if over.any() else 150)
            if over.any():
                assert not right(net, x, target, "hidden", largest[: exact[-1] + 1])
        assert curves["hidden"].proven[t] == min(exact)
        # To cut the same synapses of V, one after another, is an attack on synapses, too.
        assert curves["synapses"].proven[t] <= min(exact)
        # And so is to change hidden neurons by cutting their own synapses.
        cost = []
        for i in range(150):
            field = U[i] @ x + b[i]
            own = np.sort((signs(field) * U[i] * x).clip(0))[::-1].cumsum()
            over = own > field if field >= 0 else own >= -field
            cost.append(1 + int(over.argmax()) if over.any() else np.inf)
        change = target[:, None] * V * (y - (low + 1 - y))
        for j in range(50):
            order = np.argsort(-change[j] / cost)
            lost, spent = change[j][order].clip(0).cumsum(), np.cumsum(np.array(cost)[order])
            over = lost > margin[j]
            if over.any():
                assert curves["synapses"].proven[t] < spent[over.argmax()]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("part", ["hidden", "visible", "synapses"])
def test_the_curve_is_what_a_network_with_those_weights_does(part):
    net, X = tiny("bias", 3)
    curve = sa.lesion_curve(
        net, X, remove=part, fractions=[0, 0.3, 0.7], draws=6, rng=np.random.default_rng(5)
    )
    rng = np.random.default_rng(5)
    for d in range(6):
        order = rng.permutation(curve.size)
        sa.noise.flip(X[:1], 0, rng)
        for k, count in enumerate(curve.removed):
            made = [right(net, x, y, part, order[:count].tolist()) for x, y in pairs(net, X)]
            assert curve.right[k, d] == np.mean(made)
            assert curve.recalled[k, d] == all(made)
            left = lesioned(net, part, order[:count])
            assert part != "hidden" or not left.V_[:, order[:count]].any()
    assert curve.right[0].min() == 1


@pytest.mark.parametrize(
    ("net", "part"),
    [
        (sa.SequenceAttractor(60, random_state=0), "hidden"),
        (sa.SparseSequenceAttractor(60, n_winners=20, random_state=0), "hidden"),
        (sa.VisibleNetwork(random_state=0), "visible"),
        (sa.VisibleNetwork(random_state=0), "synapses"),
    ],
)
def test_random_lesions_break_no_more_often_than_proven(net, part):
    X = sa.datasets.random_periodic(3, 60, rng=2)
    net = net.fit(X)
    shares = np.linspace(0, 0.5, 16)
    curve = sa.lesion_curve(net, X, remove=part, fractions=shares, draws=300, rng=1)
    allowed = 1 - curve.sure + 4 * np.sqrt((1 - curve.sure) * curve.sure / 300)
    assert ((~curve.recalled).mean(axis=1) <= allowed + 1e-12).all()
    # It says something beyond what holds for any lesion.
    beyond = curve.removed > curve.proven.min()
    assert curve.sure[beyond].max() > 0.5
    assert (np.diff(curve.sure) <= 1e-12).all()


def test_recall_from_a_corrupted_cue_is_harder_than_from_a_clean_one():
    X = sa.datasets.random_periodic(20, 50, rng=0)
    net = sa.SequenceAttractor(150, random_state=0).fit(X)
    found = {
        flips: sa.lesion_curve(net, X, fractions=[0, 0.2, 0.3], flips=flips, draws=8, rng=1)
        for flips in (0, 5, 20)
    }
    counts = {flips: curve.recalled.sum() for flips, curve in found.items()}
    assert counts[0] >= counts[5] > counts[20]
    assert found[5].recalled[0].all()
    assert "cues with 5 flips" in found[5].describe()
    assert "clean cues" in found[0].describe()


def test_the_result_describes_itself_and_gives_its_numbers():
    X = [sa.datasets.random_periodic(8, 50, rng=k) for k in range(2)]
    net = sa.SequenceAttractor(100, random_state=0).fit(X)
    curve = sa.lesion_curve(net, X, fractions=[0, 0.1, 0.9], draws=4, rng=0)
    assert curve.removed.tolist() == [0, 10, 90]
    assert len(curve.proven) == 14
    table = curve.to_pandas()
    assert table["removed"].tolist() == [0, 10, 90]
    assert table["right"].tolist() == curve.right.mean(axis=1).tolist()
    assert table["certain"][0] == 1
    assert (table["recalled_low"] <= table["recalled"] / 4).all()
    assert "in all 4 draws" in curve.describe()
    assert f"whichever {curve.proven.min()} of the hidden neurons" in curve.describe()
    labels = [each.get_text() for each in curve.plot().get_legend().get_texts()]
    assert "transitions proven, any lesion" in labels


def test_what_is_lost_without_a_lesion_is_not_proven():
    X = sa.datasets.random_periodic(40, 30, rng=0)
    with pytest.warns(ConvergenceWarning):
        net = sa.zoo.HebbianMemory().fit(X)
    curve = sa.lesion_curve(net, X, remove="synapses", fractions=[0, 0.5], draws=2, rng=0)
    assert curve.proven.min() == -1
    assert curve.sure.tolist() == [0, 0]
    assert "nothing is proven for all" in curve.describe()
    assert "even with 0 synapses removed" in curve.describe()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"remove": "glia"}, "remove"),
        ({"fractions": [0.5, 0.1]}, "fractions must lie between 0 and 1, in order"),
        ({"fractions": [0, 2]}, "fractions must lie between 0 and 1"),
        ({"draws": 0}, "draws"),
        ({"flips": 99}, "flips"),
    ],
)
def test_bad_input_is_rejected_in_one_sentence(options, message):
    net, X = tiny("paper", 0)
    with pytest.raises(ValueError, match=message):
        sa.lesion_curve(net, X, **options)


def test_networks_without_what_is_to_be_removed_say_so():
    X = sa.datasets.random_periodic(5, 20, rng=0)
    with pytest.raises(ValueError, match="no hidden neurons to remove"):
        sa.lesion_curve(sa.VisibleNetwork(random_state=0).fit(X), X)
    with pytest.raises(ValueError, match="supports_certificate"):
        sa.lesion_curve(sa.zoo.LookupMemory().fit(X), X)
    with pytest.raises(ValueError, match="which must be whole numbers from 0 to 99"):
        lesioned(sa.SequenceAttractor(100, random_state=0).fit(X), "hidden", [100])
