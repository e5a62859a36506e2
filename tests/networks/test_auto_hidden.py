"""n_hidden="auto": `fit` finds out how many hidden neurons, and how many epochs, sequences need."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import seqattractor as sa
from films import as_sequences, textured_film
from quiet import fit_quietly
from seqattractor.networks.choose_hidden import (
    LADDER,
    PATIENCE,
    Attempt,
    choose_hidden,
    recalls_from_noise,
)
from seqattractor.tasks.learn import learn

LOOP = sa.datasets.random_periodic(20, 60, rng=2)
FILM = as_sequences(textured_film(n_frames=40))
CLASSES = [sa.SequenceAttractor, sa.SparseSequenceAttractor]
both = pytest.mark.parametrize("cls", CLASSES, ids=["paper", "sparse"])


USUAL = {
    sa.SequenceAttractor: 500,
    sa.SparseSequenceAttractor: 750,
}  # epochs, unless more are needed


def search(net, X):
    return choose_hidden(net, net.transitions(X))


@both
def test_fit_takes_as_many_as_it_needs_without_a_warning(cls):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = cls(n_hidden="auto", random_state=0).fit(LOOP)
    assert net.n_hidden_ == len(net.U_) == net.V_.shape[1]
    assert net.n_hidden_ in LADDER
    assert net.score(LOOP) == 1.0
    assert recalls_from_noise(net, net.transitions(LOOP)) >= 18


@both
@pytest.mark.parametrize("data", [LOOP, FILM], ids=["loop", "film"])
def test_it_is_the_network_of_that_size_bit_for_bit(cls, data):
    chosen, attempts = search(cls(n_hidden="auto", random_state=5), data)
    net = cls(n_hidden="auto", random_state=5).fit(data)
    best = max(attempts, key=lambda one: one.merit)
    assert net.n_hidden_ == chosen.n_hidden == best.n_hidden
    same = cls(n_hidden=net.n_hidden_, max_epochs=chosen.max_epochs, random_state=5)
    fit_quietly(same, data)
    fitted = vars(same).keys() - vars(cls(5)).keys()
    assert fitted == vars(net).keys() - vars(cls(5)).keys()
    for name in fitted - {"rng_"}:
        assert np.array_equal(getattr(net, name), getattr(same, name)), name


def test_the_smallest_size_that_does_it_is_taken():
    _, attempts = search(sa.SequenceAttractor(n_hidden="auto", random_state=0), LOOP)
    assert [attempt.enough for attempt in attempts] == [False] * (len(attempts) - 1) + [True]
    assert [attempt.n_hidden for attempt in attempts] == list(LADDER[: len(attempts)])
    assert len(attempts) > 1


@both
def test_the_parameter_stays_auto(cls):
    net = cls(n_hidden="auto", random_state=0).fit(LOOP)
    assert net.get_params()["n_hidden"] == clone(net).n_hidden == "auto"
    assert repr(net) == f"{cls.__name__}(n_hidden='auto', random_state=0)"
    assert not hasattr(clone(net), "n_hidden_")
    with pytest.raises(AttributeError, match="n_hidden_"):
        _ = clone(net).n_hidden_
    assert fit_quietly(cls(n_hidden=30, random_state=0, max_epochs=2), LOOP).n_hidden_ == 30


@both
def test_a_seed_gives_the_same_network_and_a_generator_moves_on(cls):
    one, other = (cls(n_hidden="auto", random_state=3).fit(LOOP) for _ in range(2))
    assert np.array_equal(one.V_, other.V_)
    rng, alike = (np.random.default_rng(7) for _ in range(2))
    first = cls(n_hidden="auto", random_state=rng).fit(LOOP)
    number = cls(n_hidden=first.n_hidden_, random_state=alike).fit(LOOP)
    assert np.array_equal(first.V_, number.V_)
    assert rng.bit_generator.state == alike.bit_generator.state
    assert not np.array_equal(
        first.V_, cls(n_hidden=first.n_hidden_, random_state=rng).fit(LOOP).V_
    )


@both
def test_it_is_saved_loaded_certified_and_learns_on(cls, tmp_path):
    net = cls(n_hidden="auto", random_state=0).fit(LOOP)
    net.save(tmp_path / "net.npz")
    again = sa.load(tmp_path / "net.npz")
    assert (again.n_hidden, again.n_hidden_) == ("auto", net.n_hidden_)
    assert np.array_equal(sa.certify(again, LOOP).radius, sa.certify(net, LOOP).radius)
    assert sa.hidden_activity(again, LOOP).n_codes > 0
    assert again.n_parameters() == net.n_parameters()
    for one in (net, again):
        one.partial_fit([LOOP, sa.datasets.random_periodic(5, 60, rng=8)])
    assert np.array_equal(net.V_, again.V_)
    assert net.n_hidden_ == again.n_hidden_


@both
def test_partial_fit_cannot_begin_without_a_number_of_hidden_neurons(cls):
    net = cls(n_hidden="auto")
    with pytest.raises(ValueError, match="begin partial_fit with a number of hidden neurons"):
        net.partial_fit(LOOP)
    assert not hasattr(net, "n_features_in_")


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (sa.SequenceAttractor, {}),
        # Steps too small for films.
        pytest.param(
            sa.SparseSequenceAttractor, {"eta_hidden": 0.2 / FILM.shape[1]}, marks=pytest.mark.slow
        ),
    ],
    ids=["paper", "sparse"],
)
def test_a_film_with_nearly_equal_frames_gets_more_epochs_before_more_neurons(cls, options):
    _, attempts = search(cls(n_hidden="auto", random_state=0, **options), FILM)
    raised = next(k for k, attempt in enumerate(attempts) if attempt.epochs > USUAL[cls])
    assert attempts[raised].n_hidden == attempts[raised - 1].n_hidden
    assert attempts[raised].hidden_errors < attempts[raised - 1].hidden_errors
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = cls(n_hidden="auto", random_state=0, **options).fit(FILM)
    assert net.score(FILM) == 1.0
    assert net.n_iter_ > USUAL[cls]


@both
def test_a_given_number_of_epochs_is_never_exceeded(cls):
    _, attempts = search(cls(n_hidden="auto", max_epochs=40, random_state=0), FILM)
    assert max(attempt.epochs for attempt in attempts) <= 40


def test_noise_while_learning_is_not_taken_for_a_lack_of_epochs():
    net, attempts = search(sa.SparseSequenceAttractor(n_hidden="auto", random_state=0), LOOP)
    assert net.noise_ > 0
    assert np.mean(net.hidden_errors_[:500] > 0) > 0.9  # nearly every epoch with noise has some
    assert not any(attempt.hidden_errors for attempt in attempts)
    assert max(attempt.epochs for attempt in attempts) <= USUAL[type(net)]


def test_too_many_transitions_warn_once_with_advice_that_was_not_tried():
    X = sa.datasets.random_sequences(
        1, 60, 6, rng=0
    )  # far more transitions than six units can distinguish
    with pytest.warns(ConvergenceWarning) as seen:
        net = sa.SequenceAttractor(n_hidden="auto", on_conflict="learn", random_state=0).fit(X)
    assert len(seen) == 1
    words = str(seen[0].message)
    missing = int(net.wrong_units(X).any(axis=1).sum())
    assert f"{missing} of 59 transitions are not stored" in words
    assert "order=2" in words
    assert "more hidden neurons" not in words
    assert "more epochs" not in words


def test_a_search_without_progress_ends():
    X = np.tile(sa.datasets.random_sequences(1, 12, 6, rng=1), (3, 1))
    X[7, :3] *= -1  # the same pattern with two successors: no size helps
    _, attempts = search(
        sa.SequenceAttractor(n_hidden="auto", on_conflict="learn", random_state=0), X
    )
    assert attempts[-1].score < 1
    assert attempts[-1].n_hidden < LADDER[-1]


def rare_activity(n_patterns, n_units, active, seed):
    """Units that are on now and then, as neurons are: all patterns are nearly alike, so that recall
    from noise is hard.
    """
    return np.where(np.random.default_rng(seed).random((n_patterns, n_units)) < active, 1, -1)


def test_sizes_grow_while_recall_gets_better():
    chosen, attempts = search(
        sa.SequenceAttractor("auto", order=5, random_state=0), rare_activity(80, 60, 0.04, seed=2)
    )
    stored = [attempt for attempt in attempts if attempt.score == 1]
    assert len(stored) > PATIENCE + 1  # more sizes than would be tried if none of them did better
    assert all(now.recalled > before.recalled for before, now in pairwise(stored))
    assert attempts[-1].enough
    assert chosen.n_hidden == attempts[-1].n_hidden


def test_the_search_ends_after_two_sizes_that_recall_no_better():
    chosen, attempts = search(
        sa.SequenceAttractor("auto", order=4, random_state=0), rare_activity(80, 40, 0.05, seed=1)
    )
    sizes = sorted({attempt.n_hidden for attempt in attempts})
    assert attempts[-1].score == 1
    assert not attempts[-1].enough
    assert sizes[-1] < LADDER[-1]
    assert chosen.n_hidden == sizes[-1 - PATIENCE]
    assert chosen.n_hidden == max(attempts, key=lambda one: one.merit).n_hidden


def test_sizes_that_do_not_fit_into_memory_end_the_search(monkeypatch):
    monkeypatch.setattr(
        "seqattractor._checks._memory", lambda: 8 * 60 * (20 + 2 * 20)
    )  # memory for 60 hidden neurons
    net = sa.SequenceAttractor(n_hidden="auto", random_state=0)
    with pytest.warns(ConvergenceWarning, match="transitions"):
        net.fit(sa.datasets.random_periodic(60, 20, rng=0))
    assert net.n_hidden_ <= 50
    monkeypatch.setattr("seqattractor._checks._memory", lambda: 1000)
    with pytest.raises(ValueError, match="not enough memory"):
        net.fit(LOOP)
    assert net.n_hidden_ <= 50  # as it was


def test_sizes_that_take_too_much_work_are_left_out_and_that_is_recorded(monkeypatch):
    monkeypatch.setattr("seqattractor.networks.choose_hidden.MOST_WORK", 19**2 * (25 + 60) * 500)
    X = sa.datasets.random_periodic(20, 60, rng=2)
    _, attempts = search(sa.SequenceAttractor(n_hidden="auto", random_state=0), X)
    assert [(attempt.n_hidden, attempt.cut_short) for attempt in attempts] == [(25, True)]
    hard = learn(sa.datasets.random_periodic(150, 60, rng=2), "attractor", {"random_state": 0})
    assert [attempt.n_hidden for attempt in hard.attempts] == [25]  # one is tried in any case
    assert "more hidden neurons or epochs than were tried" in hard.warnings[0]


def test_a_callback_sees_every_epoch_of_every_size_and_ends_the_search():
    seen = []
    net = sa.SequenceAttractor(n_hidden="auto", random_state=0).fit(
        LOOP, callback=lambda *epoch: bool(seen.append(epoch))
    )
    assert sum(epoch == 1 for epoch, *_ in seen) == LADDER.index(net.n_hidden_) + 1
    seen.clear()
    with pytest.warns(ConvergenceWarning):
        net.fit(LOOP, callback=lambda epoch, *_: bool(seen.append(epoch)) or epoch == 4)
    assert (seen, net.n_hidden_, net.n_iter_) == ([1, 2, 3, 4], LADDER[0], 4)


def test_verbose_prints_every_size(capsys):
    net = sa.SequenceAttractor(n_hidden="auto", random_state=0, verbose=1).fit(LOOP)
    lines = [line for line in capsys.readouterr().err.splitlines() if "hidden neurons" in line]
    assert lines[-1].startswith(
        f"{net.n_hidden_} hidden neurons, {net.n_iter_} epochs: 100.0% of the transitions, "
    )


VARIANTS = [
    sa.SequenceAttractor,
    sa.FixedHiddenNetwork,
    sa.HebbianReadoutNetwork,
    sa.LearnedTargetsAttractor,
]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("network", VARIANTS)
def test_every_variant_can_choose(network, bias):
    X = sa.datasets.random_periodic(5, 60, rng=0)
    assert network(n_hidden="auto", bias=bias, random_state=0).fit(X).score(X) == 1.0


@pytest.mark.parametrize("value", ["many", 2.5, None, True])
@pytest.mark.parametrize("name", ["n_hidden", "max_epochs"])
@both
def test_other_words_are_rejected(cls, name, value):
    with pytest.raises(TypeError, match=f"{name} must be a whole number or 'auto'"):
        cls(**{name: value}).fit(LOOP)


def test_there_are_at_least_as_many_neurons_as_winners():
    net = sa.SparseSequenceAttractor(n_hidden="auto", n_winners=60, max_epochs=5, random_state=0)
    _, attempts = search(net, LOOP)
    assert attempts[0].n_hidden == 100
    with pytest.raises(
        ValueError, match="n_winners must be at most n_hidden, which is chosen up to 3200"
    ):
        net.set_params(n_winners=4000).fit(LOOP)


def test_it_takes_part_in_a_comparison(tmp_path):
    comparison = sa.compare(
        "random", networks={"chosen": sa.SequenceAttractor(n_hidden="auto")}, values=[10], trials=2
    )
    rows = [row for row in comparison.rows() if row["network"] == "chosen"]
    assert rows[0]["trials"] == 2
    assert rows[0]["successes"] == 2


def test_an_attempt_describes_what_was_tried():
    attempt = Attempt("SequenceAttractor", 50, 2, 300, True, 0, 0, 1.0, 19, 20, 20)
    assert attempt.describe() == (
        "50 hidden neurons, 300 epochs, a context of 2 patterns: "
        "100.0% of the transitions, 19 of 20 noisy cues recalled"
    )


def test_an_attempt_that_recalls_everything_describes_why_it_is_not_enough():
    attempt = Attempt("SequenceAttractor", 50, 1, 500, False, 12, 0, 1.0, 20, 20, 20)
    assert not attempt.enough
    last = "updates of {} neurons in the last epoch)"
    assert attempt.describe().endswith(
        "20 of 20 noisy cues recalled, but not all margins are reached (12 " + last.format("hidden")
    )
    assert (
        replace(attempt, hidden_errors=0)
        .describe()
        .endswith("are reached (" + last.format("visible"))
    )
    assert (
        replace(attempt, converged=True, recalled=17)
        .describe()
        .endswith("17 of 20 noisy cues recalled (18 are asked for)")
    )
    assert replace(attempt, converged=True).enough


def test_no_size_is_passed_over_without_a_reason():
    seen = []
    for seed in range(3):
        net = sa.SequenceAttractor(
            n_hidden="auto", max_epochs=60, random_state=seed
        )  # too few for all margins of small networks
        _, attempts = search(net, sa.datasets.random_periodic(20, 60, rng=seed))
        seen += [attempt.describe() for attempt in attempts if not attempt.enough]
    assert any("20 of 20 noisy cues recalled, but not all margins" in words for words in seen)
    assert all(
        "not stored" in words or "asked for" in words or "margins" in words for words in seen
    )


def test_one_flip_shows_where_a_tenth_of_the_units_is_too_much():
    lost = Attempt(
        "SequenceAttractor", 50, 1, 300, True, 0, 0, 1.0, recalled=0, recalled_one=8, cues=20
    )
    better = replace(lost, n_hidden=100, recalled_one=9)
    assert better.merit > lost.merit
    assert better.describe().endswith(
        "100.0% of the transitions, 0 of 20 noisy cues recalled (18 are asked for), 9 with one flip"
    )
    assert (
        replace(lost, recalled=1).merit > better.merit
    )  # a tenth counts more where any comes back
    assert "one flip" not in replace(lost, recalled=1).describe()
