"""Every dotted name of the packages that a page gives in code can be imported."""

import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if re.search(r"`poolpilot\.", page.read_text(encoding="utf-8")))


def named(name: str) -> object:
    """The module, or what a module holds, of a dotted name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        return getattr(named(module), last)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_dotted_names_are_there(page: Path) -> None:
    for name in re.findall(r"`(poolpilot(?:\.\w+)+)`", page.read_text(encoding="utf-8")):
        assert named(name) is not None
