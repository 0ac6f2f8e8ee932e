"""The command as a user meets it: help, exit codes and one sentence for every mistake."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import pytest
import typer

from poolpilot.env.interrupts import ENDING, Interrupts
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.errors import SettingError
from poolpilot.serve.commands import main
from poolpilot.serve.commands.command_line.uses import CATALOGUE

PANELS = {
    "Observe": ["demo", "advise", "check", "grants", "why", "page", "bundle"],
    "Act": ["tune", "climb", "restore", "serve"],
    "Learn": ["learn", "records", "evaluate", "bench", "lab"],
}


SCREEN = 40
"""Lines of a help that is read at a glance."""


@pytest.fixture
def arranged(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Lets the command have one sub-command, `fail`, that does what is given."""

    def arrange(doing: Callable[[], None]) -> None:
        app = typer.Typer(pretty_exceptions_enable=False)
        app.callback()(lambda: None)
        app.command("fail")(lambda: doing())
        monkeypatch.setattr(main, "build", lambda: app)

    return arrange


@pytest.fixture
def failing(arranged: Callable[[Callable[[], None]], None]) -> Callable[[BaseException], None]:
    """Lets the sub-command raise."""

    def arrange(error: BaseException) -> None:
        def fail() -> None:
            raise error

        arranged(fail)

    return arrange


@pytest.mark.parametrize("panel", PANELS)
def test_help_shows_every_command_in_its_group(invoke: Callable[..., Any], panel: str) -> None:
    result = invoke("--help")
    assert result.code == 0
    block = result.out.partition(f" {panel} ")[2].partition("╰")[0]
    rows = [line for line in block.splitlines() if line.startswith("│ ") and line[2] != " "]
    assert [row.split()[1] for row in rows] == PANELS[panel]


def names_of(group: Any, before: str = "") -> Iterator[str]:
    """The commands of a group and of the groups in it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from names_of(command, f"{before}{name} ")
        else:
            yield before + name


@pytest.mark.parametrize("name", sorted(names_of(typer.main.get_command(main.build()))))
def test_every_command_explains_itself_on_one_screen_or_in_groups(
    invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = invoke(*name.split(), "--help")
    assert (result.code, result.err) == (0, "")
    assert f"Usage: poolpilot {name}" in result.out
    lines = result.out.splitlines()
    assert max(map(ord, result.out)) < 0x1F000, "a `:name:` has become a picture"
    assert "…" not in result.out, "a name is cut"
    assert len(lines) <= SCREEN or sum(line.startswith("╭─") for line in lines) >= 4


def test_version(invoke: Callable[..., Any]) -> None:
    assert invoke("--version")[:2] == (0, f"poolpilot {version('poolpilot')}\n")


def test_a_stated_error_is_one_sentence_and_exit_code_1(
    invoke: Callable[..., Any], failing: Callable[[BaseException], None]
) -> None:
    failing(SettingError("pool_size is 0, outside the allowed range 1..128"))
    assert invoke("fail") == (1, "", "poolpilot: pool_size is 0, outside the allowed range 1..128\n")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "/srv/kept"), "refuses /srv/kept (Permission denied): see to rights"),
        (OSError(18, "Invalid cross-device link", "a", None, "b"), "refuses a and b (Invalid cross-device link)"),
        (TimeoutError("timed out"), "refuses what was asked of it (timed out)"),
    ],
    ids=["file", "two files", "socket"],
)
def test_what_the_system_refuses_is_one_sentence_and_exit_code_1(
    invoke: Callable[..., Any], failing: Callable[[BaseException], None], error: OSError, said: str
) -> None:
    failing(error)
    result = invoke("fail")
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert result.err.startswith(f"poolpilot: the system {said}")


def test_a_missing_extra_is_one_sentence_and_exit_code_1(
    invoke: Callable[..., Any], failing: Callable[[BaseException], None]
) -> None:
    failing(ModuleNotFoundError("No module named 'torch'", name="torch"))
    result = invoke("fail")
    assert result.code == 1
    assert "'torch'" in result.err
    assert "pip install '.[train]'" in result.err


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModuleNotFoundError("No module named 'poolpilot.gone'", name="poolpilot.gone"), "No module named"),
        (ImportError("cannot import name 'gone'", name="poolpilot.here"), "ImportError: cannot import name 'gone'"),
        (RuntimeError("two\n  lines"), "RuntimeError: two lines"),
        (KeyError("pool_size"), "KeyError: 'pool_size'"),
        (AssertionError(), "AssertionError"),
        (ValueError("x" * 10_000), "ValueError: xxx"),
    ],
)
def test_what_nobody_has_foreseen_is_a_sentence_that_calls_it_a_defect(
    invoke: Callable[..., Any],
    failing: Callable[[BaseException], None],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    told: str,
) -> None:
    """Before, an operator saw a traceback."""
    monkeypatch.delenv("POOLPILOT_TRACEBACK")
    failing(error)
    result = invoke("fail")
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert result.err.startswith("poolpilot: this is a defect of PoolPilot")
    assert told in result.err
    assert len(result.err) < 1000
    assert "POOLPILOT_TRACEBACK=1" in result.err


def test_the_traceback_of_a_defect_is_shown_to_who_asks_for_it(
    invoke: Callable[..., Any], failing: Callable[[BaseException], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLPILOT_TRACEBACK", "yes")
    failing(RuntimeError("nobody thought of it"))
    result = invoke("fail")
    assert result.code == 1
    assert "Traceback (most recent call last)" in result.err
    assert result.err.splitlines()[-1].startswith("poolpilot: this is a defect of PoolPilot (RuntimeError: nobody")
    failing(SettingError("pool_size is 0"))
    assert invoke("fail").err == "poolpilot: pool_size is 0\n"


@pytest.mark.parametrize(("error", "code"), [(typer.Exit(3), 3), (KeyboardInterrupt(), 130)], ids=["gate", "interrupt"])
def test_other_exit_codes(
    invoke: Callable[..., Any], failing: Callable[[BaseException], None], error: BaseException, code: int
) -> None:
    failing(error)
    assert invoke("fail").code == code


def test_wrong_usage_is_exit_code_2(invoke: Callable[..., Any]) -> None:
    assert invoke("advise", "--no-such-flag").code == 2


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
@pytest.mark.parametrize("patient", [None, False, True], ids=["none", "impatient", "patient"])
def test_signal_ends_a_command_in_order(
    invoke: Callable[..., Any],
    arranged: Callable[[Callable[[], None]], None],
    number: signal.Signals,
    patient: bool | None,
) -> None:
    """Whatever block of its own the command has, it cleans up behind itself."""
    moments: list[str] = []

    def interrupted(block: Interrupts | None) -> None:
        os.kill(os.getpid(), number)
        time.sleep(0.01)
        moments.append("after the signal")
        if block is not None:
            block.check()

    def run() -> None:
        try:
            if patient is None:
                interrupted(None)
            else:
                with Interrupts(patient=patient) as block:
                    interrupted(block)
        finally:
            moments.append("cleaned up")

    arranged(run)
    before = signal.getsignal(number)
    assert invoke("fail").code == 130
    assert moments == (["after the signal", "cleaned up"] if patient else ["cleaned up"])
    assert signal.getsignal(number) == before


def models_of(model: type[ProgramSettings]) -> Iterator[type[ProgramSettings]]:
    """The settings of all programs that were imported."""
    for one in model.__subclasses__():
        yield from (one, *models_of(one))


def test_programs_know_whose_prefix_begins_with_theirs() -> None:
    """Else one refused the variables of another."""
    assert len([use.model() for use in CATALOGUE.values()]) > 30
    prefixes = {
        model: model.model_config["env_prefix"]
        for model in models_of(ProgramSettings)
        if model.__module__.startswith("poolpilot.") and model.model_config["env_prefix"]
    }
    assert len({*prefixes.values()}) > 30
    for model, prefix in prefixes.items():
        longer = sorted({other for other in prefixes.values() if other.startswith(prefix) and other != prefix})
        assert sorted(model.longer_prefixes) == longer, model
