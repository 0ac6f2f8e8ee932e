"""Bars show what they are about, whatever it is called; a file has lines."""

import io

from rich.console import Console

from poolpilot.pipelines.progress_bars import LINE_EVERY_S, ProgressLines, new_progress, progress_bars


def test_name_that_looks_like_markup_is_shown_as_it_is() -> None:
    """Before, `[/a]` in the name of a workload ended an evaluation with a traceback."""
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    with progress_bars(console) as bars:
        assert list(bars.each("evaluating [/b]", ["mix [/a]"], str)) == ["mix [/a]"]
    assert isinstance(console.file, io.StringIO)
    assert "evaluating [/b]" in console.file.getvalue()


def test_who_writes_to_a_file_sees_a_line_a_minute() -> None:
    """Before, an evaluation of an hour that was started by `nohup` said nothing until its end."""
    now_s, file = 0.0, io.StringIO()
    progress = ProgressLines(console=Console(file=file, width=40), get_time=lambda: now_s)
    bar = progress.add_task("evaluating", total=4, shown="")
    for _ in range(10):
        now_s += LINE_EVERY_S / 4
        progress.update(bar, shown="mix [/a]: portfolio_3")
    progress.advance(bar)
    now_s += LINE_EVERY_S
    progress.advance(bar)
    assert file.getvalue().splitlines() == [
        "evaluating: 0 of 4, mix [/a]: portfolio_3, after 1 min",
        "evaluating: 0 of 4, mix [/a]: portfolio_3, after 2 min",
        "evaluating: 2 of 4, mix [/a]: portfolio_3, after 4 min",
    ]


def test_lines_are_for_who_has_no_terminal() -> None:
    shown = Console(file=io.StringIO(), force_terminal=True)
    assert isinstance(new_progress(Console(file=io.StringIO())), ProgressLines)
    assert not isinstance(new_progress(shown), ProgressLines)
