"""A configuration as people write it."""

import pytest

from poolpilot.serve.tuner.guard.written_core import written_core


@pytest.mark.parametrize("text", ["(4, 3, 250)", "4,3,250", " ( 4,3 , 250 )\n", "4, 3, 250"])
def test_brackets_and_spaces_do_not_matter(text: str) -> None:
    assert written_core(text) == (4, 3, 250)


@pytest.mark.parametrize("text", ["", "4,3", "4,3,250,1", "-4,3,250", "4;3;250", "4,3,2500000000", "(4, 3, 250) yes"])
def test_what_is_no_configuration_is_none(text: str) -> None:
    assert written_core(text) is None
