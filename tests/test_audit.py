"""`make audit` takes silence, and a package that nobody has looked up, for no answer, and never for a clean one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
FOUND = {"id": "PYSEC-2026-1", "aliases": ["CVE-2026-1"], "fix_versions": ["2.0"]}
CLEAN = {"name": "h11", "version": "0.16.0", "vulns": []}
BAD = {"name": "left", "version": "1.0", "vulns": [FOUND]}
SKIPPED = {"name": "lost", "skip_reason": "Dependency not found"}
UNREACHABLE = "nothing but a traceback"


def program(folder: Path, answers: dict[str, Any]) -> Path:
    """A pip-audit that gives each service's answer, and fails as the real one does where it finds something."""
    path = folder / "pip-audit"
    path.write_text(
        f"#!{sys.executable}\nimport json, sys\nanswers = json.loads({json.dumps(json.dumps(answers))})\n"
        "answer = answers[sys.argv[sys.argv.index('--vulnerability-service') + 1]]\n"
        "print(answer if isinstance(answer, str) else json.dumps({'dependencies': answer}))\n"
        "sys.exit(1)\n"
    )
    path.chmod(0o700)
    return path


@pytest.mark.parametrize(
    ("answers", "explained", "code", "says"),
    [
        ({"osv": [CLEAN]}, "", 0, "1 packages audited, 0 advisories"),
        ({"osv": [CLEAN, BAD]}, "", 1, "left 1.0: CVE-2026-1, PYSEC-2026-1; mended by 2.0"),
        ({"osv": [BAD]}, 'CVE-2026-1 = "never called"', 0, "never called"),
        ({"osv": [BAD, SKIPPED]}, "", 1, "not explained"),
        ({"osv": [CLEAN]}, 'CVE-2026-1 = "never called"', 2, "CVE-2026-1 is explained in"),
        ({"osv": [CLEAN, SKIPPED]}, "", 4, "not audited, which is no answer: lost"),
        ({"osv": UNREACHABLE, "pypi": [CLEAN]}, "", 0, "asked pypi"),
        ({"osv": UNREACHABLE, "pypi": [SKIPPED]}, "", 4, "nothing is known, good or bad"),
        ({"osv": UNREACHABLE, "pypi": UNREACHABLE}, "", 4, "nothing is known, good or bad"),
    ],
)
def test_verdicts(tmp_path: Path, answers: dict[str, Any], explained: str, code: int, says: str) -> None:
    (tmp_path / "explained.toml").write_text(explained)
    command = [sys.executable, str(ROOT / ".ci/audit.py"), str(program(tmp_path, answers))]
    run = subprocess.run(
        [*command, "--explained", str(tmp_path / "explained.toml")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (run.returncode, run.stderr) == (code, "")
    assert says in run.stdout


def test_a_program_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / ".ci/audit.py"), str(tmp_path / "gone")]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (run.returncode, run.stderr.count("\n")) == (4, 1)
    assert "`make audit` installs it" in run.stderr
