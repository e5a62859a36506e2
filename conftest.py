"""What tests and the examples in docstrings share: a back end without a screen, no figure that
stays open, any order.
"""

import os
import random
import signal
import sys

import pytest

collect_ignore = [
    "src/seqattractor/exchange/torch_module.py"
]  # no examples there, and importing torch takes seconds

os.environ.setdefault("MPLBACKEND", "Agg")

# What a shell starts in the background ignores Ctrl-C, and so would all that tests start and
# interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    """Add the option for another order of the tests, that of a seed."""
    parser.addoption(
        "--order",
        type=int,
        metavar="SEED",
        help="shuffle the files, and the tests of each; the same seed, the same order",
    )


def pytest_collection_modifyitems(config, items):
    """Shuffle the files, and the tests of each."""
    if (seed := config.getoption("order")) is not None:
        rng = random.Random(seed)
        place = {path: rng.random() for path in dict.fromkeys(item.path for item in items)}
        rng.shuffle(items)
        items.sort(key=lambda item: place[item.path])


@pytest.fixture(autouse=True)
def _no_open_figures():
    """Close what was drawn: matplotlib warns of more than twenty open figures, and warnings are
    errors.
    """
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
