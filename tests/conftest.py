"""What all tests share: quiet, bounded Hypothesis runs and a drawing back end without a screen."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent))  # for oracle.py and strategies.py

# Time limits per example say more about the machine than about the code.
settings.register_profile("seqattractor", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("seqattractor")
