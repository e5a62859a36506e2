"""The page on trust shows what the campaigns counted, and the campaigns were the full ones."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from campaign import RESULTS

FULL = {
    "kills": 100,
    "damaged studies": 500,
    "model files": 20_000,
    "data files": 5_000,
    "calls": 20_000,
    "requests": 50_000,
}


def test_the_page_shows_the_saved_results():
    table = Path(__file__).with_name("table.py")
    assert subprocess.run([sys.executable, table, "--check"], check=False).returncode == 0


@pytest.mark.parametrize("name", FULL)
def test_a_full_campaign_was_saved_and_found_nothing(name):
    counts = json.loads((RESULTS / f"{name.replace(' ', '_')}.json").read_text())
    assert counts["tried"] == FULL[name]
    assert counts["answered"] + counts["rejected"] == counts["tried"]
    assert counts["wrong"] == counts["crashes"] == counts["hangs"] == 0
