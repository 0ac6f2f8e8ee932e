"""Rewrites the measured parts of docs/operations.md: the base installation, and services that are killed."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from pages import read_report, replaced

INSTALLATION = Path("benchmarks/reports/base_install.json")
KILLS = Path("benchmarks/reports/killed_service.json")
PAGE = Path("docs/operations.md")
WIDTH = 118


def main() -> None:
    """Writes both parts."""
    page = replaced(PAGE.read_text(), "base-install", installation(read_report(INSTALLATION)))
    PAGE.write_text(replaced(page, "kills", kills(read_report(KILLS))))


def installation(report: Mapping[str, Any]) -> str:
    """What a production host gets."""
    largest = ", ".join(f"{name} {size:.0f}" for name, size in report["largest_mb"].items())
    starts = report["starts"]
    nothing_s = starts.pop("python -c pass")["cpu_s"]
    commands = ", ".join(f"`{name}` {figures['cpu_s']:.2f} s" for name, figures in starts.items())
    text = (
        f"`python benchmarks/base_install.py`: the packages take {report['site_packages_mb']:.0f} MB, the largest of "
        f"them {largest}. The service holds {report['service']['resident_mb']:.0f} MB once its models are loaded. "
        f"Processor time until a command is done: {commands}; an empty interpreter takes {nothing_s:.2f} s. "
        f"The machine's load was {report['load_before']:.1f} when that was measured."
    )
    return fill(text, WIDTH) + "\n"


def kills(report: Mapping[str, Any]) -> str:
    """What became of outcomes when the service was killed."""
    text = (
        f"`python benchmarks/killed_service.py` ended the service with SIGKILL at {report['kills']} random moments, "
        f"with {report['acknowledged']} outcomes acknowledged: {report['lost']} lost, {report['written_twice']} "
        f"written twice; torn ends that nobody had been told of: {report['torn_ends']}."
    )
    return fill(text, WIDTH) + "\n"


if __name__ == "__main__":
    main()
