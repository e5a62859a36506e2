"""`seqattractor learn` and `recall`: from a file to a model to a picture, in two lines."""

import base64
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

import seqattractor as sa
from films import save_gif, textured_film
from seqattractor.io._attached import attached
from seqattractor.networks.choose_hidden import choose_hidden, recalls_from_noise


def bouncing_square(side=16, size=5, n=9):
    """Frames of a square that moves right and comes round again, (n, side, side) uint8."""
    frames = np.zeros((n, side, side), np.uint8)
    for t in range(n):
        frames[t, 5 : 5 + size, np.arange(t, t + size) % side] = 255
        frames[t, t, :] = 255
    return frames


FRAMES = bouncing_square()
PATTERNS = np.where(FRAMES.reshape(len(FRAMES), -1) > 0, 1, -1)


@pytest.fixture
def square(tmp_path):
    pictures = [Image.fromarray(frame) for frame in FRAMES]
    pictures[0].save(
        tmp_path / "square.gif", save_all=True, append_images=pictures[1:], duration=100
    )
    return tmp_path / "square.gif"


@pytest.fixture
def tune(tmp_path):
    """A tune in which the same note is followed by different ones: C D C E C D C E."""
    roll = np.eye(3)[[0, 1, 0, 2, 0, 1, 0, 2]]
    sa.io.write_midi(tmp_path / "tune.mid", roll, [60, 62, 64])
    return tmp_path / "tune.mid"


# -- learning
# --------------------------------------------------------------------------------------------------


def test_a_gif_is_learned_and_described_in_the_model_file(run, square, tmp_path):
    code, out, err = run("learn", square, "-o", "m.npz", "--hidden", 60, "--loop")
    assert (code, err) == (0, "")
    assert "every transition is stored exactly" in out
    net = sa.load(tmp_path / "m.npz")
    assert net.n_hidden == 60
    data = attached(net).sequences
    assert np.array_equal(data, np.vstack([PATTERNS, PATTERNS[:1]]))
    assert (data.frame_shape, data.names, data.rate, data.kind) == (
        (16, 16),
        ["square"],
        10.0,
        "pictures",
    )


def test_the_same_seed_gives_the_same_network_and_another_seed_another(run, square, tmp_path):
    weights = []
    for seed in (3, 3, 4):
        assert run("learn", square, "-o", "m.npz", "--hidden", 30, "--seed", seed)[0] == 0
        weights.append(sa.load(tmp_path / "m.npz").U_)
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


def test_several_inputs_are_several_sequences_in_one_network(run, square, tmp_path):
    np.save(tmp_path / "other.npy", FRAMES.swapaxes(1, 2))
    code, out, _ = run("learn", square, "other.npy", "-o", "m.npz", "--hidden", 100, "--json")
    found = json.loads(out)
    assert code == 0
    assert [s["name"] for s in found["sequences"]] == ["square", "other"]
    assert found["transitions_exact"] == 1.0
    assert (
        sa.load(tmp_path / "m.npz").score(
            [PATTERNS, np.where(FRAMES.swapaxes(1, 2).reshape(9, -1) > 0, 1, -1)]
        )
        == 1.0
    )


def test_hidden_auto_tries_sizes_until_everything_is_stored_and_comes_back(run, square):
    code, out, err = run("learn", square, "-o", "m.npz", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["tries"][0]["n_hidden"] == 25
    assert found["tries"][-1]["n_hidden"] == found["n_hidden"]
    assert (found["tries"][-1]["score"], found["converged"]) == (1.0, True)
    assert found["tries"][-1]["recalled"] >= 18


def test_hidden_auto_takes_the_smallest_size_that_does_it():
    X = sa.datasets.random_periodic(20, 100, rng=2)
    plain = sa.SequenceAttractor(random_state=0)
    net, attempts = choose_hidden(plain, plain.transitions(X))
    assert [a.enough for a in attempts] == [False] * (len(attempts) - 1) + [True]
    assert net.n_hidden == attempts[-1].n_hidden > 25
    assert recalls_from_noise(net, net.transitions(X), flips=0.0) == 20


def test_another_network_is_learned_by_its_short_name(run, square, tmp_path):
    assert run("learn", square, "-o", "m.npz", "--network", "pseudo-inverse")[0] == 0
    assert type(sa.load(tmp_path / "m.npz")).__name__ == "PseudoInverseMemory"
    code, _, err = run("learn", square, "-o", "n.npz", "--network", "hopfield")
    assert code == 2
    assert "there is no network 'hopfield'" in err
    code, _, err = run("learn", square, "-o", "n.npz", "--network", "one-hot", "--hidden", 5)
    assert code == 2
    assert "n_hidden" in err
    assert not (tmp_path / "n.npz").exists()


def test_any_parameter_can_be_set(run, square, tmp_path):
    assert (
        run(
            "learn",
            square,
            "-o",
            "m.npz",
            "--hidden",
            40,
            "--set",
            "kappa=0.5",
            "--network",
            "attractor-V",
        )[0]
        == 0
    )
    net = sa.load(tmp_path / "m.npz")
    assert (net.kappa, type(net)) == (0.5, sa.FixedHiddenNetwork)
    assert run("learn", square, "-o", "m.npz", "--set", "kappa")[0] == 2
    assert run("learn", square, "-o", "m.npz", "--set", "kapa=1")[0] == 2


def test_a_single_frame_is_rejected_by_its_name(run, tmp_path):
    Image.fromarray(FRAMES[0]).save(tmp_path / "still.png")
    code, _, err = run("learn", "still.png", "-o", "m.npz")
    assert code == 2
    assert "still has only one pattern" in err


def test_frames_that_are_all_equal_are_warned_of(run, square):
    code, _, err = run("learn", "square.gif", "--threshold", 300, "--hidden", 10, "-o", "m.npz")
    assert code == 0
    assert "warning: all patterns are equal" in err


def test_advice_names_only_what_the_network_has(run, square):
    _, _, err = run("learn", "square.gif", "--network", "dense", "-o", "m.npz")
    assert "transitions are stored without a wrong unit; try an order of 2" in err


def test_a_model_that_does_not_store_everything_is_saved_with_a_warning(run, tmp_path):
    X = sa.datasets.random_periodic(60, 30, rng=0)
    np.save(tmp_path / "hard.npy", X)
    code, out, err = run("learn", "hard.npy", "-o", "m.npz", "--hidden", 10, "--max-epochs", 20)
    assert code == 1  # for scripts
    assert "not everything is stored" in out
    assert "try more epochs (hidden neurons have errors left) or more hidden neurons" in err
    assert "warning: only" in err
    assert (tmp_path / "m.npz").exists()


# -- repeated patterns
# ----------------------------------------------------------------------------------------------


def test_a_pattern_with_two_successors_gets_the_context_it_needs_and_a_note(run, tune, tmp_path):
    code, out, err = run("learn", tune, "-o", "m.npz")
    assert code == 0
    assert "every transition is stored exactly" in out
    assert sa.load(tmp_path / "m.npz").order_ == 2
    note = "frame 0 of tune occurs again as frame 2 of tune with a different successor"
    assert f"note: {note}, so the network looks at the last 2 frames (--order)." in err


def test_too_small_a_context_is_an_error_that_names_the_right_one(run, tune, tmp_path):
    code, _, err = run("learn", tune, "-o", "m.npz", "--order", 1)
    assert code == 2
    assert "pattern 0 of tune occurs again as pattern 2 of tune" in err
    assert "--order 2" in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "m.npz").exists()


def test_order_auto_takes_the_least_context_and_recalls_the_tune_as_music(run, tune, tmp_path):
    assert run("learn", tune, "-o", "m.npz", "--order", "auto", "--hidden", 100)[0] == 0
    assert sa.load(tmp_path / "m.npz").order_ == 2
    code, out, _ = run("recall", "m.npz", "-o", "again.mid", "--json")
    assert code == 0
    assert json.loads(out)["locked_on"] == 0
    assert np.array_equal(sa.io.load(tmp_path / "again.mid"), sa.io.load(tune))


def test_a_loop_with_context_goes_round_and_round(run, tmp_path):
    roll = np.eye(4)[[0, 1, 0, 2, 3]]  # C D C E F, and again
    sa.io.write_midi(tmp_path / "loop.mid", roll, [60, 62, 64, 65])
    assert (
        run("learn", "loop.mid", "-o", "m.npz", "--order", "auto", "--loop", "--hidden", 100)[0]
        == 0
    )
    code, out, _ = run("recall", "m.npz", "--steps", 33, "--json")
    found = json.loads(out)
    assert code == 0
    assert len(found["wrong"]) == 2 + 33
    assert sum(found["wrong"]) == 0


def test_repeated_frames_are_left_out_unless_keep_repeats_is_given(run, tmp_path):
    np.save(tmp_path / "slow.npy", np.repeat(FRAMES, 3, axis=0))
    code, _, err = run("learn", "slow.npy", "-o", "m.npz", "--hidden", 60)
    assert code == 0
    assert "note: 18 of 27 frames equal the one before and were left out" in err
    net = sa.load(tmp_path / "m.npz")
    assert (net.order_, len(attached(net).sequences)) == (1, 9)
    assert run("learn", "slow.npy", "-o", "m.npz", "--hidden", 60, "--keep-repeats")[0] == 0
    net = sa.load(tmp_path / "m.npz")
    assert (net.order_, len(attached(net).sequences)) == (3, 27)
    code, _, err = run("learn", "slow.npy", "-o", "m.npz", "--hidden", 60, "--order", 1)
    assert code == 2
    assert "--drop-repeats" in err
    code, _, err = run(
        "learn", "slow.npy", "-o", "m.npz", "--hidden", 60, "--order", 1, "--drop-repeats", "--loop"
    )
    assert code == 0
    assert (
        "note: 18 of 27 frames equal the one before and were left out." in err
    )  # the closing frame is not one of them
    data = attached(sa.load(tmp_path / "m.npz")).sequences
    assert (len(data), data.closed, data.options["drop_repeats"]) == (10, 1, True)


def test_bins_of_silence_are_never_left_out_on_their_own(run, tmp_path):
    np.savetxt(tmp_path / "raster.csv", np.eye(5)[[0, 1, 1, 1, 2, 3, 4]], fmt="%d", delimiter=",")
    assert run("learn", "raster.csv", "-o", "m.npz", "--hidden", 60)[0] == 0
    assert len(attached(sa.load(tmp_path / "m.npz")).sequences) == 7


def test_nearly_equal_frames_are_named_and_can_be_left_out(run, tmp_path):
    frames = textured_film(n_frames=40)
    save_gif(tmp_path / "film.gif", frames)
    code, out, err = run("learn", "film.gif", "-o", "m.npz")
    assert code == 0
    assert "every transition is stored exactly" in out
    assert "frames are nearly the same as the one before; --drop-near 1 leaves them out." in err
    assert "warning" not in err
    _, out, err = run("learn", "film.gif", "-o", "m.npz", "--hidden", 200, "--json")
    assert ("nearly the same" in json.loads(out)["notes"][0], err) == (True, "")
    code, _, err = run("learn", "film.gif", "-o", "m.npz", "--drop-near", 1)
    left = len(attached(sa.load(tmp_path / "m.npz")).sequences)
    assert code == 0
    assert (
        f"note: {len(frames) - left} of {len(frames)} frames differ in at most 1 units from the "
        "last one taken and were" in err
    )
    assert "nearly the same" not in err


def test_what_the_papers_network_cannot_store_the_sparse_one_is_tried_for(run, tmp_path):
    np.save(
        tmp_path / "crowd.npy", sa.datasets.random_sequences(1, 60, 8, rng=0)
    )  # many transitions of few units
    code, out, err = run("learn", "crowd.npy", "-o", "m.npz", "--order", 1)
    assert code == 0
    assert out.splitlines()[1].startswith("SparseSequenceAttractor with ")
    assert "  sparse, 25 hidden neurons" in err
    code, out, err = run(
        "learn", "crowd.npy", "-o", "m.npz", "--order", 1, "--network", "attractor"
    )
    assert code == 1
    assert "sparse," not in err
    assert (
        "try the network sparse (there are more transitions than a hidden neuron has inputs) or an "
        "order of 2" in err
    )


def test_advice_never_names_what_was_just_tried(run, tmp_path):
    X = np.tile(sa.datasets.random_sequences(1, 12, 6, rng=1), (3, 1))
    np.save(tmp_path / "again.npy", np.concatenate([X, -X[::-1]]))
    code, _, err = run("learn", "again.npy", "-o", "m.npz", "--max-epochs", 3)
    advice = next(line for line in err.splitlines() if line.startswith("warning: only"))
    orders = {int(word) for word in re.findall(r"a context of (\d+) patterns", err)}
    assert code == 1
    assert "sparse, " in err
    assert "sparse" not in advice
    assert "more hidden neurons" not in advice
    assert not orders & {int(word) for word in re.findall(r"an order of (\d+)", advice)}


# -- recall
# --------------------------------------------------------------------------------------------------


@pytest.fixture
def model(run, square, tmp_path):
    assert run("learn", square, "-o", "model.npz", "--hidden", 100, "--loop")[0] == 0
    return tmp_path / "model.npz"


def test_a_corrupted_cue_brings_the_sequence_back_and_the_overlap_is_printed_step_by_step(
    run, model
):
    code, out, err = run("recall", model, "--flips", 20)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "cue: frame 0 of square, 20 of 256 units wrong"
    assert lines[2].split()[:3] == ["0", "0.844", "20"]
    assert lines[3].split() == ["1", "1.000", "0", "0:1"]
    assert (
        "Locked on at step 1 of 9: every frame from there to the end is right and in phase." in out
    )


def test_a_loop_is_judged_by_the_papers_criterion_too_and_a_film_is_not(
    run, model, square, tmp_path
):
    out = run("recall", model, "--flips", 20)[1]
    assert (
        "By the paper's criterion (section 6.2), the whole loop is seen in any phase: from step "
        "tau = 9 on." in out
    )
    found = json.loads(run("recall", model, "--flips", 20, "--json")[1])
    assert (found["tau"], found["period"], found["lock_step"], found["final_overlap"]) == (
        9,
        9,
        1,
        1.0,
    )
    assert found["criterion"] == "locked on: every frame from there to the end right and in phase"
    assert run("learn", square, "-o", "open.npz", "--hidden", 60)[0] == 0
    assert "section 6.2" not in run("recall", "open.npz", "--flips", 20, "--trials", 3)[1]


def test_a_stored_cue_that_does_not_bring_its_sequence_back_ends_with_1(run, tmp_path):
    np.save(tmp_path / "hard.npy", sa.datasets.random_periodic(60, 30, rng=0))
    assert run("learn", "hard.npy", "-o", "m.npz", "--hidden", 10, "--max-epochs", 20)[0] == 1
    code, out, _ = run("recall", "m.npz")
    assert code == 1
    assert "Not recalled" in out
    assert "Worst step: " in out
    assert run("recall", "m.npz", "--json")[0] == 1
    assert (
        run("recall", "m.npz", "--flips", 15)[0] == 0
    )  # what a corrupted cue does is the answer that was asked for


def test_all_forms_of_output_are_written_and_can_be_read_again(run, model, tmp_path):
    names = ["r.gif", "r.webp", "r.png", "r.npz", "r.csv", "r.txt", "frames"]
    code, out, _ = run(
        "recall", model, "--flips", 20, *[word for name in names for word in ("-o", name)]
    )
    assert code == 0
    for name in [*names, "r.gif-strip.png", "r.webp-strip.png"]:
        assert f"wrote {name}" in out
    expected = np.vstack([PATTERNS, PATTERNS[:1]])[1:]
    for name, options in (
        ("r.csv", {}),
        ("r.txt", {}),
        ("frames", {}),
        ("r.npz", {"key": "recall"}),
    ):
        assert np.array_equal(sa.io.load(tmp_path / name, **options)[1:], expected), name
    with Image.open(tmp_path / "r.gif") as gif, Image.open(tmp_path / "r.webp") as webp:
        assert gif.n_frames == webp.n_frames == 10
        assert gif.size == webp.size
    with np.load(tmp_path / "r.npz") as arrays:
        assert int((arrays["cue"][0] != arrays["truth"][0]).sum()) == 20
        assert arrays["overlap"][1:].tolist() == [1.0] * 9
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_each_animation_gets_a_strip_of_its_own(run, model, tmp_path):
    assert run("recall", model, "--flips", 20, "-o", "r.gif")[0] == 0
    first = (tmp_path / "r.gif-strip.png").read_bytes()
    assert run("recall", model, "--flips", 90, "-o", "r.webp")[0] == 0
    assert (
        (tmp_path / "r.gif-strip.png").read_bytes()
        == first
        != (tmp_path / "r.webp-strip.png").read_bytes()
    )


@pytest.mark.parametrize("name", ["r.pdf", "r.svg"])
def test_a_strip_for_a_paper_is_the_same_file_each_time_and_has_the_pixels_of_the_png(
    run, model, tmp_path, name
):
    contents = []
    for _ in range(2):
        assert run("recall", model, "--flips", 20, "-o", name, "-o", "r.png")[0] == 0
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    with Image.open(tmp_path / "r.png") as png:
        strip = np.asarray(png.convert("RGB"))
    if name == "r.pdf":
        assert contents[0].startswith(b"%PDF")
        assert f"/Height {len(strip)}".encode() in contents[0]
    else:
        [embedded] = re.findall(rb'href="data:image/png;base64,([^"]+)"', contents[0])
        with Image.open(io.BytesIO(base64.b64decode(embedded))) as image:
            assert np.array_equal(np.asarray(image.convert("RGB")), strip)


def test_a_video_is_written(run, model, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    assert run("recall", model, "-o", "r.mp4")[0] == 0
    assert len(sa.io.load(tmp_path / "r.mp4")) == 10


def test_in_the_gif_wrong_units_have_colours_of_their_own(run, tmp_path):
    X = sa.datasets.random_periodic(12, 64, rng=0)
    np.save(tmp_path / "x.npy", X.reshape(12, 8, 8))
    assert (
        run("learn", "x.npy", "-o", "m.npz", "--network", "hebbian")[0] == 1
    )  # not all of it is stored
    assert run("recall", "m.npz", "--flips", 24, "-o", "r.gif")[0] == 0
    with Image.open(tmp_path / "r.gif") as gif:
        gif.seek(1)
        colours = {colour for _, colour in gif.convert("RGB").getcolors()}
    assert {(230, 159, 0), (86, 180, 233)} <= colours


def test_a_cue_may_be_a_file_a_name_and_a_frame_or_occluded(run, model, tmp_path):
    Image.fromarray(np.where(np.arange(16) < 12, FRAMES[4], 0).astype(np.uint8)).save(
        tmp_path / "half.png"
    )
    code, out, _ = run("recall", model, "--cue", "half.png", "--json")
    found = json.loads(out)
    assert code == 0
    assert "nearest to frame 4 of square" in found["cue"]
    assert found["locked_on"] is not None
    assert json.loads(run("recall", model, "--cue", "square:3", "--json")[1])["nearest"][0] == "0:3"
    found = json.loads(run("recall", model, "--occlude", "0:4,0:16", "--steps", 4, "--json")[1])
    assert found["wrong"][0] == int((FRAMES[0, :4] > 0).sum())
    assert json.loads(run("recall", model, "--occlude", "0.2", "--json")[1])["steps"] == 9


def test_a_cue_for_pictures_may_be_a_table_of_units(run, model, tmp_path):
    np.savetxt(
        tmp_path / "first.csv", (FRAMES[:1].reshape(1, -1) > 0).astype(int), fmt="%d", delimiter=","
    )
    code, out, _ = run("recall", "model.npz", "--cue", "first.csv")
    assert code == 0
    assert "nearest to frame 0 of square (overlap 1.000)" in out
    np.save(tmp_path / "narrow.npy", np.eye(5))
    code, _, err = run("recall", "model.npz", "--cue", "narrow.npy")
    assert code == 2
    assert "narrow.npy has 5 units, but the network has 256" in err


def test_the_last_frame_is_a_cue_where_the_number_of_steps_is_given(run, tmp_path):
    np.save(tmp_path / "open.npy", FRAMES[:5])
    run("learn", "open.npy", "--hidden", 60, "-o", "open.npz")
    code, _, err = run("recall", "open.npz", "--cue", "0:4")
    assert code == 2
    assert "unless --steps is given" in err
    code, out, _ = run("recall", "open.npz", "--cue", "0:4", "--steps", 2)
    assert code == 0
    assert "cue: frame 4 of open" in out
    assert "nothing is stored that follows the cue" in out
    code, _, err = run("recall", "open.npz", "--cue", "0:5", "--steps", 2)
    assert code == 2
    assert "sequence 0 has no frame 5: it has 5, counted from 0" in err


def test_trials_count_how_often_it_works(run, model):
    code, out, _ = run("recall", model, "--flips", 10, "--trials", 12)
    assert code == 0
    assert (
        "12 of 12 trials locked on: every frame from there to the end right and in phase (95% "
        "interval 0.76 to 1.00)" in out
    )
    _, out, _ = run("recall", model, "--flips", 128, "--trials", 12, "--json")
    assert json.loads(out)["successes"] < 12


@pytest.mark.parametrize("seed", [0, 1])
def test_a_cue_with_the_seed_of_random_data_has_flips_of_both_kinds(run, tmp_path, seed):
    """One stream for both would flip only units that are +1."""
    X = sa.datasets.random_periodic(6, 200, rng=seed)
    np.save(tmp_path / "random.npy", X.patterns)
    run("learn", "random.npy", "--hidden", 50, "-o", "model.npz")
    code, _, _ = run("recall", "model.npz", "--flips", 40, "--seed", seed, "-o", "recall.npz")
    assert code == 0
    with np.load(tmp_path / "recall.npz") as file:
        turned = (file["cue"].ravel() > 0) != (X[0] > 0)
    assert turned.sum() == 40
    assert 0.2 < (X[0][turned] > 0).mean() < 0.8
    assert np.array_equal(
        np.flatnonzero(turned), np.flatnonzero(sa.noise.flip(X[0], 40, rng=seed) != X[0])
    )


def test_a_model_without_its_sequences_still_recalls_from_a_file(run, square, tmp_path):
    assert run("learn", square, "-o", "m.npz", "--hidden", 100, "--no-patterns")[0] == 0
    code, _, err = run("recall", "m.npz")
    assert code == 2
    assert "--cue FILE" in err
    assert run("recall", "m.npz", "--cue", square, "--steps", 8, "-o", "r.txt")[0] == 0
    assert np.array_equal(sa.io.load(tmp_path / "r.txt"), PATTERNS)


def test_steps_beyond_what_was_stored_have_no_truth_and_do_not_fail(run, square):
    assert run("learn", square, "-o", "m.npz", "--hidden", 100)[0] == 0
    code, out, _ = run("recall", "m.npz", "--steps", 12, "-o", "r.gif", "-o", "r.png")
    assert code == 0
    assert "       -      -" in out


# -- what can go wrong
# ----------------------------------------------------------------------------------------------


def folder_state(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        ("learn", "none.gif", "-o", "m.npz"),
        ("learn", "cut.gif", "-o", "m.npz"),
        ("learn", "empty", "-o", "m.npz"),
        ("learn", "square.gif", "-o", "no/m.npz"),
        ("learn", "square.gif", "-o", "m.npz", "--size", "5by5"),
        ("learn", "square.gif", "-o", "m.npz", "--threshold", "high"),
        ("learn", "square.gif", "-o", "m.npz", "--frames", "0:1"),
        ("learn", "square.gif", "-o", "m.npz", "--hidden", "0"),
        ("learn", "square.gif", "-o", "m.npz", "--crop", "1,2"),
        ("learn", "square.gif"),
        ("learn", "square.gif", "-o", "square.gif"),
        ("learn", "-o", "m.npz"),
        ("recall", "none.npz"),
        ("recall", "cut.npz"),
        ("recall", "square.gif"),
        ("recall", "model.npz", "--cue", "7:0"),
        ("recall", "model.npz", "--cue", "circle:0"),
        ("recall", "model.npz", "--cue", "here"),
        ("recall", "model.npz", "--cue", "wide.npy"),
        ("recall", "model.npz", "--flips", "9999"),
        ("recall", "model.npz", "--occlude", "some"),
        ("recall", "model.npz", "--occlude", "0:99,0:2"),
        ("recall", "model.npz", "-o", "r.doc"),
        ("recall", "model.npz", "-o", "r.mid"),
        ("recall", "model.npz", "-o", "no/r.gif"),
        ("recall", "model.npz", "-o", "good.gif", "-o", "r.mid"),
        ("recall", "model.npz", "-o", "empty"),
        ("recall", "model.npz", "-o", "model.npz"),
        ("recall", "model.npz", "--cue", "square.gif", "-o", "square.gif"),
    ],
    ids=" ".join,
)
def test_a_mistake_is_one_sentence_and_exit_code_2_and_nothing_is_written(
    run, model, square, tmp_path, words
):
    (tmp_path / "cut.gif").write_bytes(square.read_bytes()[:300])
    (tmp_path / "cut.npz").write_bytes(model.read_bytes()[:3000])
    (tmp_path / "empty").mkdir()
    np.save(tmp_path / "wide.npy", np.eye(20))
    before = folder_state(tmp_path)
    code, out, err = run(*words)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    assert len(err.splitlines()) <= 5  # click shows how the command is used, then the sentence
    assert folder_state(tmp_path) == before


def test_the_certified_radius_is_reported_and_nothing_is_promised_for_wrong_transitions(
    run, square, tmp_path
):
    code, out, _ = run("learn", square, "-o", "m.npz", "--hidden", 100, "--json")
    radius = json.loads(out)["certified_radius"]
    assert code == 0
    assert (
        radius
        == sa.certify(
            sa.load(tmp_path / "m.npz"), PATTERNS, method="count", attack=False
        ).radius.min()
        > 0
    )
    printed = run("learn", square, "-o", "m.npz", "--hidden", 100)[1]
    assert f"is proven to withstand any {radius} wrong unit" in printed
    assert "`seqattractor inspect` looks closer and may prove more" in printed
    np.save(tmp_path / "hard.npy", sa.datasets.random_periodic(60, 30, rng=0))
    _, out, _ = run("learn", "hard.npy", "-o", "m.npz", "--hidden", 10, "--max-epochs", 20)
    assert "proven" not in out
    code, _, err = run(
        "learn", square, "-o", "m.npz", "--network", "one-hot", "--set", "tolerance=0"
    )
    assert code == 0
    assert "recall from noise is fragile" in err


def test_a_cue_from_an_npz_file_names_its_array(run, model, tmp_path):
    np.savez(tmp_path / "cues.npz", a=FRAMES[2:3], b=FRAMES[5:6])
    assert (
        "nearest to frame 5"
        in json.loads(run("recall", model, "--cue", "cues.npz", "--key", "b", "--json")[1])["cue"]
    )
    assert run("recall", model, "--cue", "cues.npz")[0] == 2
