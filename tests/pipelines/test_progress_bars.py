"""Bars show what they are about, whatever it is called."""

import io

from rich.console import Console

from poolpilot.pipelines.progress_bars import progress_bars


def test_name_that_looks_like_markup_is_shown_as_it_is() -> None:
    """Before, `[/a]` in the name of a workload ended an evaluation with a traceback."""
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    with progress_bars(console) as bars:
        assert list(bars.each("evaluating [/b]", ["mix [/a]"], str)) == ["mix [/a]"]
    assert isinstance(console.file, io.StringIO)
    assert "evaluating [/b]" in console.file.getvalue()
