"""The binding of the kernels in C: nothing wrong reaches them; results do not depend on the
processor, threads or processes.
"""

import os
import re
import shutil
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kernel_calls import KERNELS, Case
from seqattractor.engine import kernels

HERE = Path(__file__).parents[1]
PACKAGE = Path(kernels.__file__).parents[1]


@pytest.fixture(autouse=True)
def _best_instruction_set():
    """Whatever a test chooses, the others use the best."""
    yield
    if kernels.available():
        kernels.use(kernels.instruction_sets()[-1])


def run(*words, **settings):
    """Run Python with this package in a process of its own, so that a crash is seen."""
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)} | settings
    return subprocess.run(
        [sys.executable, *map(str, words)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def fuzz(calls, seed):
    done = run(HERE / "kernel_calls.py", calls, seed)
    assert done.returncode == 0, (
        f"{calls} calls with seed {seed} ended with {done.returncode}:\n{done.stderr[-3000:]}"
    )
    return done.stdout


def test_no_wrong_argument_reaches_c():
    counts = dict(re.findall(r"'([\w ]+)': (\d+)", fuzz(2000, 0)))
    assert int(counts["right"]) > 200
    assert {
        "other_type",
        "not_contiguous",
        "misaligned",
        "read_only",
        "out_of_range",
        "overlapping",
        "condition",
    } < set(counts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_no_wrong_argument_reaches_c_in_many_calls(seed):
    fuzz(20_000, seed)


@pytest.mark.parametrize("name", KERNELS)
def test_all_instruction_sets_give_the_same_bits(name):
    if len(kernels.instruction_sets()) < 2:
        pytest.skip("this processor and library have one instruction set")
    rng = np.random.default_rng(3)
    compared = 0
    for _ in range(40):
        case, results = Case(KERNELS[name], rng, typical=True), []
        for isa in kernels.instruction_sets():
            kernels.use(isa)
            results.append(case.run())
        assert all(other == results[0] for other in results), f"{case.names}, {case.types}"
        compared += results[0] is not None
    assert compared > 10


LONG = "words <= 2**10"  # longer than the arrays of a case


@pytest.mark.parametrize(
    ("name", "text"),
    [(name, text) for name, kernel in KERNELS.items() for text in kernel.where if text != LONG],
)
def test_every_condition_is_checked(name, text):
    case = Case(KERNELS[name], np.random.default_rng(7), broken=text)
    with pytest.raises(ValueError, match=f"^{name}: {re.escape(text)} must hold, but "):
        case.kernel(*case.arguments())


def test_more_inputs_than_16_bits_can_number_are_rejected():
    bits = np.zeros((1, 1025), dtype=np.uint32)
    with pytest.raises(ValueError, match=f"{re.escape(LONG)} must hold, but words = 1025"):
        kernels.add_start_fields(np.zeros((1, 1)), np.zeros((1, 5)), bits, 0, 5)


def test_contents_that_do_not_fit_together_raise_an_error():
    flips = np.array([[5, 0, 0, 1]], dtype=np.int32)  # of epoch 5 of 2
    others = (
        np.empty(1, dtype=np.int32),
        np.empty((1, 4), dtype=np.int64),
        np.empty((2, 3, 2), dtype=np.int64),
        np.empty(3, dtype=np.int64),
    )
    with pytest.raises(
        ValueError, match="sort_flips: flips must be of existing epochs and transitions"
    ):
        kernels.sort_flips(flips, *others)


def test_negative_indices_are_found():
    rates = np.zeros((2, 2)), np.zeros((1, 2)), np.zeros((1, 1)), np.zeros(2), np.zeros((2, 2))
    for wrong in (-1, -(2**62), 2):
        with pytest.raises(ValueError, match="run_pinning: plastic must be indices from 0 to 1"):
            kernels.run_pinning(np.zeros((2, 2)), np.array([wrong]), *rates, 1.0)


def test_masked_indices_are_checked_too():
    plastic = np.ma.masked_array(np.array([9]), mask=[True])
    with pytest.raises(ValueError, match="run_pinning: plastic must be indices"):
        kernels.run_pinning(
            np.zeros((2, 2)),
            plastic,
            *np.zeros((2, 1, 2)),
            np.zeros((1, 1)),
            np.zeros(2),
            np.zeros((1, 2)),
            1.0,
        )


def test_bound_arrays_live_as_long_as_the_function():
    order = np.arange(5, dtype=np.int32)
    alive = weakref.ref(order)
    flips = kernels.sparse_flips.bind(
        np.zeros((3, 2), np.int32), np.zeros(3, np.int32), order, np.random.default_rng(0)
    )
    del order
    assert flips(0, 3) == 0
    assert alive() is not None
    with pytest.raises(
        ValueError, match="0 <= first <= last <= n must hold, but first = 0, last = 4, n = 3"
    ):
        flips(0, 4)
    with pytest.raises(TypeError, match="sparse_flips takes 6 arguments, not 5"):
        flips(0)
    del flips
    assert alive() is None


def test_constants_are_those_of_the_sources():
    """Work space is made for them here, and filled by C."""
    defined = {}
    for source in sorted((PACKAGE / "engine" / "csrc").glob("*.h")):
        defined |= dict(
            re.findall(
                r"^#define ([A-Z_]{2,}) +([\d(][^/\n]*)", source.read_text(), flags=re.MULTILINE
            )
        )
    shared = {
        name: value
        for name, value in kernels.CONSTANTS.items()
        if name in defined and isinstance(value, int)
    }
    assert {"LANES", "AHEAD", "SLOTS", "ROWS", "SIDE", "SPAN", "ABREAST", "BLOCK", "WINDOW"} <= set(
        shared
    )
    assert shared == {name: eval(defined[name], {}, shared) for name in shared}


def test_a_declaration_that_is_none_is_rejected():
    with pytest.raises(ValueError, match="'x int8' declares no argument and no condition"):
        kernels.Kernel("f", "y: int8[n]; x int8")


def test_an_unknown_instruction_set_is_rejected():
    with pytest.raises(ValueError, match="this processor and library have base"):
        kernels.use("sse9")


def test_two_threads_call_two_kernels_at_once():
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**32, size=(200, 40), dtype=np.uint32)
    weights = rng.integers(-9, 9, size=(50, 1280)).astype(float)
    K = rng.integers(-9, 9, size=(600, 608)).astype(np.int32)

    def start_fields(_):
        fields = np.zeros((50, 200))
        kernels.add_start_fields(fields, weights, bits, 0, 1280)
        return fields.tobytes()

    def look_ahead(_):
        ahead = np.zeros((19, 66, 32), np.int32)
        kernels.look_ahead(K, ahead)
        return ahead.tobytes()

    alone = start_fields(0), look_ahead(0)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda k: (start_fields, look_ahead)[k % 2](k), range(60)))
    assert [result == alone[k % 2] for k, result in enumerate(both)] == [True] * 60


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_process_that_was_forked_after_use_computes_the_same():
    code = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")  # Python 3.12 and newer warn of a fork beside threads
import numpy as np
from seqattractor.engine import kernels
bits = np.random.default_rng(0).integers(0, 2**32, size=(300, 9), dtype=np.uint32)
weights = np.random.default_rng(0).integers(-9, 9, size=(50, 288)).astype(float)
def start_fields():
    fields = np.zeros((50, 300))
    kernels.add_start_fields(fields, weights, bits, 0, 288)
    return fields.tobytes()
before = start_fields()
stop = threading.Event()
thread = threading.Thread(target=lambda: [start_fields() for _ in iter(stop.is_set, True)])
thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        os._exit(start_fields() != before)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
thread.join()
"""
    done = run("-c", code)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def copy(tmp_path):
    """A folder with a copy of the package."""
    shutil.copytree(
        PACKAGE, tmp_path / "seqattractor", ignore=shutil.ignore_patterns("__pycache__", "static")
    )
    return tmp_path


def why_unavailable(copy):
    code = (
        "from seqattractor.engine import kernels; print(kernels.available(), "
        "kernels.why_unavailable())"
    )
    done = run("-c", code, PYTHONPATH=str(copy))
    assert done.returncode == 0, done.stderr
    answer, _, sentence = done.stdout.strip().partition(" ")
    return answer, sentence


def library(copy):
    engine = copy / "seqattractor" / "engine"
    (found,) = (path for path in engine.glob("_core.*") if path.suffix != ".wasm")
    return found


def test_a_library_beside_its_sources_is_available(copy):
    assert why_unavailable(copy) == ("True", "")


def test_without_a_library_the_message_explains_how_to_build_one(copy):
    path = library(copy)
    path.rename(path.with_name("hidden"))
    answer, sentence = why_unavailable(copy)
    assert answer == "False"
    assert f"{path.name} is missing" in sentence
    assert "`pip install .`" in sentence
    assert sentence.count(".\n") == 0


def test_calling_a_kernel_without_a_library_explains_how_to_build_one(copy):
    library(copy).unlink()
    arrays = "numpy.zeros((0, 0), 'int16'), numpy.zeros((0, 66, 32), 'int16')"
    code = f"import numpy; from seqattractor.engine import kernels; kernels.look_ahead({arrays})"
    done = run("-c", code, PYTHONPATH=str(copy))
    assert "RuntimeError: seqattractor computes without its compiled core" in done.stderr
    assert "`pip install .`" in done.stderr


def test_a_library_that_cannot_be_loaded_is_as_none(copy):
    path = library(copy)
    path.unlink()  # not written over: it may be mapped
    path.write_bytes(b"not a library")
    answer, sentence = why_unavailable(copy)
    assert answer == "False"
    assert f"{path.name} cannot be loaded" in sentence


def test_a_library_of_other_sources_is_not_used(copy):
    """Its kernels may take other arguments."""
    with open(copy / "seqattractor" / "engine" / "csrc" / "core.c", "a") as source:
        source.write("/* edited */\n")
    answer, sentence = why_unavailable(copy)
    assert answer == "False"
    assert "was compiled from other sources" in sentence
