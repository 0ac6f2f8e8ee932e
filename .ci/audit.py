"""Asks whether an advisory is known of what constraints.txt names, and whether each is explained.

How to run: `make audit`, or `python .ci/audit.py PIP_AUDIT` with the program pip-audit. Advisories come from OSV, and
from PyPI where that cannot be reached. One is explained in `.ci/explained_advisories.toml`: its identifier = "reason".

Ends with 0 where none is left unexplained, 1 where one is, 2 where an explanation is of nothing any more, and 4 where
the advisories cannot be had, wholly or of one package: that is no answer, and never taken for a clean one.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
EXPLAINED = ROOT / ".ci/explained_advisories.toml"
SERVICES = ("osv", "pypi")
CLEAN, UNEXPLAINED, STALE, NO_ANSWER = 0, 1, 2, 4
LONGEST_S = 600.0


def audited(program: str, requirements: Path, service: str) -> list[dict[str, Any]] | None:
    """What one service says of every package; None where it does not answer."""
    command = [program, "--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json", "--aliases"]
    command += ["--vulnerability-service", service, "--requirement", str(requirements)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_S)
        packages: list[dict[str, Any]] = json.loads(run.stdout)["dependencies"]
    except OSError as error:
        print(f"cannot run {program}: {error.strerror}; `make audit` installs it", file=sys.stderr)
        sys.exit(NO_ANSWER)
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return None
    return None if all("skip_reason" in package for package in packages) else packages


def advisories(packages: list[dict[str, Any]]) -> Iterator[tuple[str, set[str], str]]:
    """Each advisory with its package, all its names, and the versions that mend it."""
    for package in packages:
        for found in package.get("vulns", []):
            names = {found["id"], *found.get("aliases", [])}
            mended = ", ".join(found.get("fix_versions", [])) or "no version"
            yield f"{package['name']} {package['version']}", names, mended


def verdict(packages: list[dict[str, Any]], explained: Mapping[str, str]) -> int:
    """Prints what was found; the exit code."""
    unexplained, used = 0, set()
    for package, names, mended in advisories(packages):
        known = sorted(names & explained.keys())
        used.update(known)
        unexplained += not known
        print(f"{package}: {', '.join(sorted(names))}; mended by {mended}")
        print(f"  {explained[known[0]]}" if known else f"  not explained in {EXPLAINED.name}")
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    if skipped:
        print(f"not audited, which is no answer: {', '.join(skipped)}")
    for stale in sorted(explained.keys() - used):
        print(f"{stale} is explained in {EXPLAINED.name} and is of nothing here: remove it")
    print(f"{len(packages) - len(skipped)} packages audited, {unexplained} advisories not explained")
    if unexplained:
        return UNEXPLAINED
    return NO_ANSWER if skipped else STALE if explained.keys() - used else CLEAN


def main() -> int:
    """Asks one service after the other; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="the program pip-audit")
    parser.add_argument("--requirements", type=Path, default=ROOT / "constraints.txt")
    parser.add_argument("--explained", type=Path, default=EXPLAINED)
    given = parser.parse_args()
    explained = tomllib.loads(given.explained.read_text(encoding="utf-8")) if given.explained.is_file() else {}
    for service in SERVICES:
        packages = audited(given.program, given.requirements, service)
        if packages is not None:
            print(f"asked {service}")
            return verdict(packages, explained)
    print(f"no advisories could be had from {' or '.join(SERVICES)}: nothing is known, good or bad")
    return NO_ANSWER


if __name__ == "__main__":
    sys.exit(main())
