"""Every dotted name that a page gives in code can be imported; every path that a guide gives is there."""

import importlib
import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if re.search(r"`poolpilot\.", page.read_text(encoding="utf-8")))

GUIDED = sorted(ROOT.glob("[a-z]*/README.md"))
FOLDERS = (".ci", "docs", "tests", *(page.parent.name for page in GUIDED))
"""Top-level folders; a path that begins with one is looked for as it stands."""

GUIDES = (ROOT / "CONTRIBUTING.md", DOCS / "architecture.md", *GUIDED)
"""Pages that say where things are."""

MADE = (".venv/", "build/")
"""What begins like this is made in a clone and not committed."""

FORBIDDEN = {"poolpilot/__init__.py"}
"""Named because it must not be there."""

FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
NAMED_PATH = re.compile(r"`([\w*.-]+(?:/[\w*.-]*)+|[\w*.-]+\.(?:py|pyi|cpp|hpp|md|json))`")


def named(name: str) -> object:
    """The module, or what a module holds, of a dotted name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        return getattr(named(module), last)


def shortened(path: Path) -> str:
    """A path as guides give it: `env/knobs.py` for `env/poolpilot/env/knobs.py`."""
    root, *rest = path.parts
    return "/".join(rest[1:] if rest[:1] == ["poolpilot"] else (root, *rest))


@cache
def known_paths() -> frozenset[str]:
    """The files and folders of the clone, whole and shortened."""
    found = [*ROOT.glob("*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    paths = [path.relative_to(ROOT) for path in found if "__pycache__" not in path.parts]
    return frozenset(form for path in paths for form in (path.as_posix(), shortened(path)))


def is_there(name: str, page: Path) -> bool:
    """Whether a path is there: as it stands or, where it begins with no top-level folder, within the page's folder."""
    wanted = name.rstrip("/")
    if wanted in known_paths():
        return True
    if wanted.partition("/")[0] in FOLDERS:
        return any(fnmatchcase(path, wanted) for path in known_paths())
    inside = "" if page.name != "README.md" else f"{page.parent.name}/"
    return any(path.startswith(inside) and fnmatchcase(path, f"*/{wanted}") for path in known_paths())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_dotted_names_are_there(page: Path) -> None:
    for name in re.findall(r"`(poolpilot(?:\.\w+)+)`", page.read_text(encoding="utf-8")):
        assert named(name) is not None


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_of_guides_are_there(page: Path) -> None:
    names = {*NAMED_PATH.findall(FENCED.sub("", page.read_text(encoding="utf-8")))} - FORBIDDEN
    assert names
    assert sorted(name for name in names if not name.startswith(MADE) and not is_there(name, page)) == []


def test_tests_that_pages_name_are_there() -> None:
    named_tests = {
        (name, page)
        for page in DOCS.rglob("*.md")
        for name in NAMED_PATH.findall(page.read_text(encoding="utf-8"))
        if name.startswith(("tests/", "native_pool/tests/"))
    }
    assert [(name, page.name) for name, page in named_tests if not is_there(name, page)] == []


def test_paths_that_went_are_missed() -> None:
    readme = ROOT / "featurizer" / "README.md"
    assert is_there("featurizer/catalogue.py", DOCS / "architecture.md")
    assert is_there("catalogue.py", readme)
    assert not is_there("featurizer/sql.py", DOCS / "architecture.md")
    assert not is_there("knobs.py", readme), "another folder's"
