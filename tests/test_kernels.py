"""The binding of the kernels in C: nothing wrong reaches them; results do not depend on the processor, threads or processes."""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kernel_calls import KERNELS, Case
from seqattractor.learning import kernels

HERE = Path(__file__).parent
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
    return subprocess.run([sys.executable, *map(str, words)], env=environment, capture_output=True, text=True, check=False)


def fuzz(calls, seed):
    done = run(HERE / "kernel_calls.py", calls, seed)
    assert done.returncode == 0, f"{calls} calls with seed {seed} ended with {done.returncode}:\n{done.stderr[-3000:]}"
    return done.stdout


def test_no_wrong_argument_reaches_c():
    counts = dict(re.findall(r"'([\w ]+)': (\d+)", fuzz(2000, 0)))
    assert int(counts["right"]) > 200
    assert {"other_type", "not_contiguous", "misaligned", "read_only", "out_of_range", "overlapping", "condition"} < set(counts)


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


def test_an_unknown_instruction_set_is_rejected():
    with pytest.raises(ValueError, match="this processor and library have base"):
        kernels.use("sse9")


def test_two_threads_call_two_kernels_at_once():
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**32, size=(600, 40), dtype=np.uint32)
    other = rng.integers(0, 2**32, size=(500, 30), dtype=np.uint32)

    def products(_):
        K = np.zeros((600, 608), np.int32)
        kernels.products(K, bits, 1280)
        return K.tobytes()

    def changes(_):
        up, down = np.zeros(501, np.int64), np.zeros(501, np.int64)
        kernels.count_changes(other, up, down)
        return up.tobytes() + down.tobytes()

    alone = products(0), changes(0)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda k: (products, changes)[k % 2](k), range(60)))
    assert [result == alone[k % 2] for k, result in enumerate(both)] == [True] * 60


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_process_that_was_forked_after_use_computes_the_same():
    code = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")  # Python 3.12 and newer warn of a fork beside threads
import numpy as np
from seqattractor.learning import kernels
bits = np.random.default_rng(0).integers(0, 2**32, size=(300, 9), dtype=np.uint32)
def products():
    K = np.zeros((300, 320), np.int16)
    kernels.products(K, bits, 288)
    return K.tobytes()
before = products()
stop = threading.Event()
thread = threading.Thread(target=lambda: [products() for _ in iter(stop.is_set, True)])
thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        os._exit(products() != before)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
thread.join()
"""
    done = run("-c", code)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def copy(tmp_path):
    """A folder with a copy of the package."""
    shutil.copytree(PACKAGE, tmp_path / "seqattractor", ignore=shutil.ignore_patterns("__pycache__", "static"))
    return tmp_path


def why_unavailable(copy):
    code = "from seqattractor.learning import kernels; print(kernels.available(), kernels.why_unavailable())"
    done = run("-c", code, PYTHONPATH=str(copy))
    assert done.returncode == 0, done.stderr
    answer, _, sentence = done.stdout.strip().partition(" ")
    return answer, sentence


def library(copy):
    (found,) = (copy / "seqattractor" / "learning").glob("_core.*")
    return found


def test_a_library_beside_its_sources_is_available(copy):
    assert why_unavailable(copy) == ("True", "")


def test_without_a_library_a_sentence_says_how_to_make_one(copy):
    path = library(copy)
    path.rename(path.with_name("hidden"))
    answer, sentence = why_unavailable(copy)
    assert answer == "False"
    assert f"{path.name} is missing" in sentence
    assert "`pip install .`" in sentence
    assert sentence.count(".\n") == 0


def test_a_library_that_cannot_be_loaded_is_as_none(copy):
    path = library(copy)
    path.unlink()  # not written over: it may be mapped
    path.write_bytes(b"not a library")
    answer, sentence = why_unavailable(copy)
    assert answer == "False"
    assert f"{path.name} cannot be loaded" in sentence


def test_a_library_of_other_sources_is_not_used(copy):
    """Its kernels may take other arguments."""
    with open(copy / "seqattractor" / "learning" / "csrc" / "core.c", "a") as source:
        source.write("/* edited */\n")
    answer, sentence = why_unavailable(copy)
    assert answer == "False"
    assert "was compiled from other sources" in sentence
