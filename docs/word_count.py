"""Counts the words of README, CHANGELOG and documents, and how long their sentences are.

Usage: python docs/word_count.py [--against REVISION]

A row for each page, the longest first: words (as `wc -w` counts them), mean words of a sentence, and the share of
sentences above 30 words. Tables, code and headings hold words and no sentences. `--against` counts the pages of an
earlier commit beside them. Outside a clone it ends with 1.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parent.parent
LONG_SENTENCE = 30
NO_PROSE = re.compile(r"^ *(?:#|\||!\[|:::|<!--|---)")
BULLET = re.compile(r"^ *(?:[*+-]|\d+\.) ")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
SENTENCE_END = re.compile(r"(?<=[.?!])[\"')*]*\s+(?=[\"'(*`]*[A-Z0-9`])")
WORD = re.compile(r"\w")

GENERATED = ("docs/settings.md",)
"""A reference to look things up in, which a program writes: it is counted, and not among what is to be read."""


@dataclass(frozen=True, slots=True)
class PageCount:
    """What one page, or several, hold.

    Attributes:
        words: Words, those of tables and code too.
        sentences: Number of sentences of its prose.
        sentence_words: Words in those sentences.
        long_sentences: Sentences of more than `LONG_SENTENCE` words.
    """

    words: int = 0
    sentences: int = 0
    sentence_words: int = 0
    long_sentences: int = 0

    @classmethod
    def of(cls, page: str) -> Self:
        """The counts of a page of Markdown."""
        lengths = [words_of(sentence) for sentence in sentences_of(page)]
        long_sentences = sum(length > LONG_SENTENCE for length in lengths)
        return cls(len(page.split()), len(lengths), sum(lengths), long_sentences)

    def __add__(self, other: "PageCount") -> "PageCount":
        return PageCount(
            self.words + other.words,
            self.sentences + other.sentences,
            self.sentence_words + other.sentence_words,
            self.long_sentences + other.long_sentences,
        )

    @property
    def mean_sentence(self) -> float:
        """Mean words of a sentence; 0 without one."""
        return self.sentence_words / max(self.sentences, 1)

    def row(self) -> str:
        """The counts in a line."""
        share = 100 * self.long_sentences / max(self.sentences, 1)
        return f"{self.words:8,} {self.mean_sentence:6.1f} {share:5.0f} %"


def words_of(sentence: str) -> int:
    """Words of a sentence: what holds a letter or a digit."""
    return sum(bool(WORD.search(word)) for word in sentence.split())


def paragraphs_of(page: str) -> Iterator[str]:
    """The paragraphs and items of lists of a page, without code, tables, pictures and headings."""
    held: list[str] = []
    in_code = False
    for line in page.splitlines():
        fence = line.lstrip().startswith("```")
        in_code ^= fence
        if fence or in_code or not line.strip() or NO_PROSE.match(line) or BULLET.match(line):
            if held:
                yield " ".join(held)
            held = [BULLET.sub("", line)] if BULLET.match(line) and not in_code else []
        else:
            held.append(line.strip())
    if held:
        yield " ".join(held)


def sentences_of(page: str) -> Iterator[str]:
    """The sentences of a page's prose."""
    for paragraph in paragraphs_of(page):
        yield from (each for each in SENTENCE_END.split(LINK.sub(r"\1", paragraph)) if words_of(each))


def pages_now() -> dict[str, str]:
    """All pages of the work tree that git knows or would add, by their path."""
    listed = git("ls-files", "--cached", "--others", "--exclude-standard", "*.md").split()
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in sorted(set(listed)) if (ROOT / name).is_file()}


def pages_at(revision: str) -> dict[str, str]:
    """All pages of a commit, by their path."""
    listed = git("ls-tree", "-r", "--name-only", revision).split()
    return {name: git("show", f"{revision}:{name}") for name in listed if name.endswith(".md")}


def git(*arguments: str) -> str:
    """What git answers."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def counts_of(pages: Mapping[str, str]) -> dict[str, PageCount]:
    """The counts of each page."""
    return {name: PageCount.of(page) for name, page in pages.items()}


def total(counts: Iterable[PageCount]) -> PageCount:
    """All of them in one."""
    return sum(counts, PageCount())


def report(now: Mapping[str, PageCount], before: Mapping[str, PageCount] | None) -> Iterator[str]:
    """The table, a line a page, the longest first, all of them last."""
    head = f"{'words':>8} {'mean':>6} {'> 30':>7}"
    yield f"{head}   {head if before is not None else ''}   page"
    names = sorted({*now, *(before or {})}, key=lambda name: -now.get(name, PageCount()).words)
    for name in [*names, "all"]:
        sums = [total(each.values()) if name == "all" else each.get(name, PageCount()) for each in (now, before or {})]
        yield f"{sums[0].row()}   {sums[1].row() if before is not None else ''}   {name}"


def told(usage: str, counted: str, lines: Callable[[str | None], Iterable[str]]) -> int:
    """Prints what a count finds, beside an earlier commit where one is named; returns 1 where git cannot be asked.

    Args:
        usage: What the program does.
        counted: What git is asked for, as people call it.
        lines: The table, given the earlier commit.
    """
    parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="REVISION", help="an earlier commit to count beside this one")
    revision = parser.parse_args().against
    try:
        table = "\n".join(lines(revision))
    except FileNotFoundError:
        print(f"the count asks git for the {counted}: install git", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        heard = error.stderr if isinstance(error.stderr, str) else error.stderr.decode(errors="replace")
        said = (heard.strip().splitlines() or ["git ended with an error"])[-1]
        print(f"the count asks git for the {counted}, in a clone of the repository: {said}", file=sys.stderr)
        return 1
    print(table)
    return 0


def lines_of(revision: str | None) -> Iterator[str]:
    """The table of the pages, beside those of an earlier commit."""
    before = None if revision is None else counts_of(pages_at(revision))
    return report(counts_of(pages_now()), before)


if __name__ == "__main__":
    sys.exit(told(__doc__, "pages", lines_of))
