"""The machine and the software that numbers were measured on."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from seqattractor import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn")


def machine() -> dict[str, Any]:
    """Return date, processor, cores, load, system and versions as plain values."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
        cpu = next(
            (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), cpu
        )
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
        "seqattractor": __version__,
    }


def machine_words() -> str:
    """Return processor, cores and system in a line."""
    values = machine()
    return f"{values['cpu']}, {values['cores']} cores, {values['system']}"


def software_words() -> str:
    """Return the versions of the software in a line."""
    values = machine()
    packages = ", ".join(f"{name} {values[name]}" for name in _PACKAGES)
    return f"seqattractor {values['seqattractor']}, Python {values['python']}, {packages}"
