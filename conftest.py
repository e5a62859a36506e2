"""What tests and the examples in docstrings share: a back end without a screen, and no figure that stays open."""

import os
import signal
import sys

import pytest

collect_ignore = ["src/seqattractor/networks/_exchange/torch_module.py"]  # no examples there, and importing torch takes seconds

os.environ.setdefault("MPLBACKEND", "Agg")

# What a shell starts in the background ignores Ctrl-C, and so would all that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_open_figures():
    """Close what was drawn: matplotlib warns of more than twenty open figures, and warnings are errors."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
