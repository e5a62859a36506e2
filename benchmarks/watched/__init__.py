"""What `asv` watches from commit to commit (asv.conf.json, `make watch`)."""

import sys
from pathlib import Path

_SCRIPTS = str(Path(__file__).parents[1])  # beside this folder; they do the measuring
if _SCRIPTS not in sys.path:
    sys.path.insert(0, _SCRIPTS)
