"""What a production host gets: megabytes of the base installation, seconds until it answers, memory of its service.

How to run: `python benchmarks/base_install.py [--environment .venv/base] [--json PATH]` (a minute, nothing beside). The
size is that of the packages without pip and setuptools, which a host has or does not need. A start is the median of
`--repeats` runs, beside an interpreter that does nothing, in turns; its processor time counts where others keep the
machine busy. Results to expect: a fifth of a gigabyte, 12 MB of it PoolPilot; commands answer within half a second.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from poolpilot.env.output import write_json

TOOLS = {"pip", "setuptools", "_distutils_hack", "pkg_resources", "wheel"}
"""Packages that install others."""

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "version": ("--version",),
    "help": ("--help",),
    "advise --help": ("advise", "--help"),
    "tune, one simulated second": ("tune", "--backend", "simulated", "--seconds", "1"),
}
"""What is timed beside the empty interpreter."""

LARGEST_SHOWN = 8


def megabytes(path: Path) -> float:
    """What a file or folder takes on a disk, links left out."""
    files = [path] if path.is_file() else [inner for inner in path.rglob("*") if inner.is_file()]
    return sum(file.lstat().st_blocks * 512 for file in files if not file.is_symlink()) / 2**20


def sizes(environment: Path) -> dict[str, Any]:
    """Megabytes of what is installed, whole and by folder, the largest first."""
    (packages,) = environment.glob("lib/python3*/site-packages")
    entries = [path for path in packages.iterdir() if path.name.split("-")[0] not in TOOLS]
    found = {path.name: megabytes(path) for path in entries}
    largest = sorted(found.items(), key=lambda item: -item[1])[:LARGEST_SHOWN]
    return {"site_packages_mb": sum(found.values()), "largest_mb": dict(largest)}


def starts(environment: Path, repeats: int) -> dict[str, dict[str, float]]:
    """Median seconds, and seconds of a processor, of each command and of an interpreter that does nothing."""
    program = [str(environment / "bin/poolpilot")]
    commands: dict[str, Sequence[str]] = {"python -c pass": [str(environment / "bin/python"), "-c", "pass"]}
    commands |= {name: [*program, *arguments] for name, arguments in COMMANDS.items()}
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(repeats + 1):  # the first one fills the caches
        for name, command in commands.items():
            runs[name].append(run_s(command))
    medians = {
        name: [statistics.median(column) for column in zip(*each[1:], strict=True)] for name, each in runs.items()
    }
    return {name: {"seconds": seconds, "cpu_s": cpu_s} for name, (seconds, cpu_s) in medians.items()}


def run_s(command: Sequence[str]) -> tuple[float, float]:
    """Seconds that a command takes, and seconds of a processor."""
    began_s = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=_environment()) as running:
        _, status, used = os.wait4(running.pid, 0)
        took_s = time.perf_counter() - began_s
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        sys.exit(f"{' '.join(command)} ended with {running.returncode}")
    return took_s, used.ru_utime + used.ru_stime


@contextmanager
def service(environment: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`poolpilot serve` on a free port, and its address."""
    command = [str(environment / "bin/poolpilot"), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment()) as running:
        assert running.stdout is not None
        try:
            yield running, running.stdout.readline().split()[1]
        finally:
            running.terminate()


def service_figures(environment: Path) -> dict[str, float]:
    """Seconds until the service listens, and its memory then."""
    began_s = time.perf_counter()
    with service(environment) as (running, _):
        listens_s = time.perf_counter() - began_s
        pages = int(Path(f"/proc/{running.pid}/statm").read_text().split()[1])
    return {"listens_after_s": listens_s, "resident_mb": pages * os.sysconf("SC_PAGE_SIZE") / 2**20}


def _environment() -> dict[str, str]:
    """As on a host: nothing of this checkout on the path."""
    return {**os.environ, "PYTHONPATH": "", "OPENBLAS_NUM_THREADS": "1"}


def main() -> None:
    """Measures, prints and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", type=Path, default=Path(".venv/base"))
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if not (given.environment / "bin/poolpilot").exists():
        sys.exit(f"there is no poolpilot in {given.environment}: `make test` prepares .venv/base")
    report = {
        "load_before": os.getloadavg()[0],
        **sizes(given.environment),
        "starts": starts(given.environment, given.repeats),
        "service": service_figures(given.environment),
    }
    print(json.dumps(report, indent=1))
    write_json(given.json, report)


if __name__ == "__main__":
    main()
