"""A release in CHANGELOG.md is a page that a person reads, and the latest one is the version of the package."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
MOST_LINES = 150
MOST_WIDTH = 160


def test_releases_are_short() -> None:
    releases = TEXT.split("\n## ")[1:]
    assert [each.partition("\n")[0] for each in releases if len(each.splitlines()) > MOST_LINES] == []
    assert [line for line in TEXT.splitlines() if len(line) > MOST_WIDTH] == []


def test_latest_release_is_the_version_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    latest = re.search(r"^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$", TEXT, re.M)
    assert latest is not None
    assert latest[1] == version
