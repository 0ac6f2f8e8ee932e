"""What runs where: versions of PoolPilot and of what it stands on, the machine, and the settings in the environment."""

import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

PREFIX = "POOLPILOT_"

_MEMORY_TOTAL = re.compile(r"^MemTotal:\s+(\d+) kB", re.MULTILINE)


def installation() -> dict[str, Any]:
    """Versions, interpreter and machine."""
    return {
        "poolpilot": version("poolpilot"),
        "packages": dict(_packages()),
        "python": sys.version,
        "executable": sys.executable,
        "platform": platform.platform(),
        "system": _operating_system(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "processors_of_this_process": len(os.sched_getaffinity(0)),
        "memory_kb": _memory_kb(),
        "user_is_root": os.geteuid() == 0,
        "locale": os.environ.get("LC_ALL") or os.environ.get("LANG", ""),
    }


def environment_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that are settings of PoolPilot."""
    return {name: value for name, value in sorted(environment.items()) if name.startswith(PREFIX)}


def _packages() -> Iterator[tuple[str, str]]:
    """What PoolPilot requires, with the version that is installed."""
    for requirement in requires("poolpilot") or []:
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        with suppress(PackageNotFoundError):
            yield name, version(name)


def _operating_system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _memory_kb() -> int | None:
    with suppress(OSError):
        found = _MEMORY_TOTAL.search(Path("/proc/meminfo").read_text(encoding="ascii"))
        return int(found[1]) if found else None
    return None
