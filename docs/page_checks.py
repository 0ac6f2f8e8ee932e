"""What the build of the documents refuses: a figure without its command, a decision without its line in the index.

MkDocs calls the hooks (`hooks` in mkdocs.yml), and itself refuses a link to a page that went.
Usage: python docs/page_checks.py [PAGE...] prints what is refused in the pages, README.md too, and ends with 1.

A figure is a picture, or a table of measured values: one with three cells or more that hold a percentage or a ratio.
Its command stands between the figure and the next heading, or before it under the same heading, as "Command: `...`".
A table between markers (`<!-- name: begin -->`) needs none where a program names that marker.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

DOCS = Path(__file__).parent
ROOT = DOCS.parent
INDEX = DOCS / "decisions.md"
SETTINGS = re.compile(r"\b(default|setting|flag|option|range)\b", re.IGNORECASE)
HEADING = re.compile(r"^#+ ", re.MULTILINE)
MARKED = re.compile(r"<!-- ([\w-]+): begin -->.*?<!-- \1: end -->", re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")
TABLE = re.compile(r"(?:^\|.*\|$\n?)+", re.MULTILINE)
MEASURED = re.compile(r"\d ?%|\bx\d")
COMMAND = re.compile(r"Commands?: +`")
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
LEAST_CELLS = 3


def refused_in(name: str, page: str) -> Iterator[str]:
    """What is wrong with the figures of a page, a sentence each."""
    for marker in MARKED.finditer(page):
        if not _is_written(marker[1]):
            yield f"{name}: no program writes the part between the markers of {marker[1]!r}"
    for section in HEADING.split(FENCED.sub("", page)):
        if not COMMAND.search(section):
            yield from (
                f"{name}: {figure} has no line 'Command: `...`' under its heading" for figure in figures(section)
            )


def figures(section: str) -> Iterator[str]:
    """The pictures and the tables of measured values of a section that no program is known to write."""
    by_hand = MARKED.sub("", section)
    yield from (f"the picture {picture[1]}" for picture in PICTURE.finditer(by_hand))
    for table in TABLE.finditer(by_hand):
        head, *rows = table[0].splitlines()
        cells = [cell for row in rows for cell in row.split("|") if MEASURED.search(cell)]
        if len(cells) >= LEAST_CELLS and not SETTINGS.search(head):
            yield f"the table {head!r}"


def unlisted_decisions() -> Iterator[str]:
    """The decisions that have no line in the index, a sentence each."""
    index = INDEX.read_text(encoding="utf-8")
    for decision in sorted((DOCS / "decisions").glob("*.md")):
        if f"](decisions/{decision.name})" not in index:
            yield f"decisions.md: the decision decisions/{decision.name} has no line"


def _is_written(marker: str) -> bool:
    """Whether a program names a marker, or at least what it begins with: some programs put the rest together."""
    begins = re.compile(rf"(?:\"|<!-- ){re.escape(marker.partition('-')[0])}(?:-|\"|: begin)")
    return any(begins.search(program) for program in _programs())


@cache
def _programs() -> tuple[str, ...]:
    """The texts of what may write parts of pages, read once for all markers."""
    paths = [*(ROOT / "benchmarks").rglob("*.py"), *DOCS.glob("*.py")]
    return tuple(path.read_text(encoding="utf-8") for path in paths)


def on_files(files: Files, **_: object) -> Files:
    """MkDocs' hook before pages are read.

    Raises:
        PluginError: A decision has no line in the index.
    """
    _raise_first(unlisted_decisions())
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """MkDocs' hook for each page.

    Raises:
        PluginError: A figure has no command.
    """
    _raise_first(refused_in(page.file.src_path, markdown))
    return markdown


def _raise_first(refused: Iterator[str]) -> None:
    for sentence in refused:
        raise PluginError(sentence)


def main(names: list[str]) -> int:
    """Prints what is refused; returns 1 where something is."""
    pages = [Path(name) for name in names] or [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    refused = [each for page in pages for each in refused_in(page.name, page.read_text(encoding="utf-8"))]
    refused += [] if names else unlisted_decisions()
    print("\n".join(refused))
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
