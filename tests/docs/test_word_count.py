"""README and documents stay short enough to be read, and the count counts what a reader reads."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import word_count
from word_count import GENERATED, LONG_SENTENCE, PageCount, counts_of, pages_now, report, sentences_of, total

PAGE = """# A heading of five words

One sentence. Another one, with a [link to a page](page.md), e.g. of
two lines! Is `poolpilot advise` one?

| a table | holds |
|---|---|
| words | and no sentence. |

* An item without a full stop
* Another. And more.

```
code. No sentence.
```
"""


def test_sentences_are_those_of_the_prose() -> None:
    assert list(sentences_of(PAGE)) == [
        "One sentence.",
        "Another one, with a link to a page, e.g. of two lines!",
        "Is `poolpilot advise` one?",
        "An item without a full stop",
        "Another.",
        "And more.",
    ]


def test_words_are_counted_as_wc_counts_them() -> None:
    count = PageCount.of(PAGE)
    assert (count.words, count.sentences) == (len(PAGE.split()), 6)
    assert count.mean_sentence == pytest.approx((2 + 12 + 4 + 6 + 1 + 2) / 6)


def test_long_sentences_are_counted_and_sums_add_up() -> None:
    long = PageCount.of("word " * (LONG_SENTENCE + 1) + ".")
    assert (long.long_sentences, PageCount.of(PAGE).long_sentences) == (1, 0)
    both = total([long, PageCount.of(PAGE)])
    assert (both.words, both.long_sentences) == (long.words + PageCount.of(PAGE).words, 1)


def test_pages_before_stand_beside_those_of_now() -> None:
    lines = list(report({"a.md": PageCount.of("One two.")}, {"b.md": PageCount.of("Three.")}))
    assert [line.split()[-1] for line in lines] == ["page", "a.md", "b.md", "all"]


def test_readme_is_read_in_a_minute_and_no_page_is_a_maze() -> None:
    counts = counts_of(pages_now())
    assert counts["README.md"].words <= 900
    assert {name: round(count.mean_sentence, 1) for name, count in counts.items() if count.mean_sentence > 20.0} == {}
    assert total(count for name, count in counts.items() if name not in GENERATED).words <= 60_000


def test_generated_reference_alone_is_beyond_the_limit() -> None:
    assert GENERATED == ("docs/settings.md",)
    assert {*GENERATED} <= {*pages_now()}


def test_changelog_is_read_in_a_sitting() -> None:
    assert pages_now()["CHANGELOG.md"].count("\n") <= 150


def test_outside_a_clone_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    program = shutil.copy(word_count.__file__, tmp_path / "docs")
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "the count asks git for the pages, in a clone of the repository: fatal: not a git repository"
    )
    assert done.stderr.count("\n") == 1


def test_without_git_is_a_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, word_count.__file__], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "the count asks git for the pages: install git\n")
