"""What tests and the examples in docstrings share: a back end without a screen, and no figure that stays open."""

import os
import sys

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def _no_open_figures():
    """Close what was drawn: matplotlib warns of more than twenty open figures, and warnings are errors."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
