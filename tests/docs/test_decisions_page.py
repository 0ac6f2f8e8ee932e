"""docs/decisions.md has a short line for each decision, and the texts that are kept are short."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
INDEX = (DOCS / "decisions.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \| `(\w+)` \| (.*) \|$", INDEX, re.M)
TEXTS = sorted((DOCS / "decisions").glob("*.md"))
MOST_WORDS_OF_A_LINE = 25
MOST_WORDS_OF_A_TEXT = 200


def test_every_number_has_one_line_in_order() -> None:
    assert [int(number) for number, *_ in LINES] == [*range(1, len(LINES) + 1)]
    assert len(LINES) >= 50


def test_lines_are_short_and_name_a_commit() -> None:
    long = [line[0] for line in LINES if len(f"{line[1]} {line[2]}".split()) > MOST_WORDS_OF_A_LINE]
    unnamed = [line[0] for line in LINES if not re.fullmatch(r"[0-9a-f]{7,12}", line[4])]
    assert (long, unnamed) == ([], [])


def test_a_replaced_decision_names_a_later_one() -> None:
    for number, _, _, state, *_ in LINES:
        later = re.match(r"replaced by (\d+)", state)
        assert state == "stands" or (later is not None and int(number) < int(later[1]) <= len(LINES))


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_text_is_short_has_the_number_of_its_line_and_stands(text: Path) -> None:
    words = text.read_text(encoding="utf-8")
    assert len(words.split()) <= MOST_WORDS_OF_A_TEXT
    number = int(text.name[:4])
    assert words.startswith(f"# {number}. ")
    line = LINES[number - 1]
    assert (line[3], line[5]) == ("stands", f"[text](decisions/{text.name})")
