"""What was called otherwise before is refused in one sentence with what it is called today, and nothing is run."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import typer.main
from pydantic.fields import FieldInfo
from tests.serve.commands.command_line.flags_of_commands import command_of, flags_of

from poolpilot.env.program_settings import RENAMED, settings_within
from poolpilot.serve.commands.command_line.given_flags import CommandLine
from poolpilot.serve.commands.command_line.names_of_before import COMMANDS_OF_BEFORE, FLAGS_OF_BEFORE, refusal_of_before
from poolpilot.serve.commands.command_line.uses import CATALOGUE
from poolpilot.serve.commands.main import build

Invoke = Callable[..., Any]
STAGES = ("collect", "curves", "calibrate", "train", "promote")


@pytest.fixture(autouse=True)
def _nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CommandLine, "settings", lambda *_: pytest.fail("it has begun"))


@pytest.mark.parametrize("rest", [(), ("--help",), ("--execute", "h=db1"), ("--no-such-flag", "x")], ids=" ".join)
@pytest.mark.parametrize("words", COMMANDS_OF_BEFORE, ids=" ".join)
def test_a_command_of_before_is_refused_with_its_name_of_today(
    invoke: Invoke, words: tuple[str, ...], rest: tuple[str, ...]
) -> None:
    result = invoke(*words, *rest)
    assert (result.code, result.out) == (2, "")
    today = COMMANDS_OF_BEFORE[words]
    assert result.err == f"poolpilot: `poolpilot {' '.join(words)}` is called `poolpilot {today}` now\n"


@pytest.mark.parametrize("today", sorted({*COMMANDS_OF_BEFORE.values()} - {"--version"}))
def test_the_name_of_today_is_one(today: str) -> None:
    _, command = command_of(today)
    words = [word for word in today.split()[1:] if not word.isupper() and word not in STAGES]
    assert [word for word in words if word not in flags_of(command)] == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("advise DSN --model.folder x", None),
        ("advise DSN --seconds 3", None),
        ("advise --windows FILE --requests 3", "--requests is a setting now: write --set requests=VALUE"),
        ("advise --simulate FILE --sizes 3 --sizes 4", "--sizes is a setting now: write --set sizes=VALUE"),
        ("advise --profile FILE", "the flag --profile of `poolpilot advise` is now --simulate"),
        ("bundle --journals x", None),
        ("check DSN --replica-lag 3", "--replica-lag is a setting now: write --set replica_lag=VALUE"),
        ("climb --cold", "the flag --cold of `poolpilot climb` is now the default: leave it out"),
        ("climb --list-settings", "is now `poolpilot check --settings climb --defaults`"),
        ("climb --settings climb.toml", "the flag --settings of `poolpilot climb` is now --config"),
        ("climb --hiccup-s 3", "--hiccup-s is a setting now: write --set hiccup_s=VALUE"),
        ("climb --no-log-enabled", "--no-log-enabled is a setting now: write --set log_enabled=false"),
        ("climb --no-adapt-period", "the flag --no-adapt-period is a constant of the climber now: leave it out"),
        ("climb --hcm-eps=3", "the flag --hcm-eps is a constant of the climber now: leave it out"),
        ("evaluate --methods.climb.patience 4", "--methods.climb.patience is a constant of the climber now"),
        ("climb --noise=0.2", "--noise is a setting now: write --set noise=VALUE, or noise in the file of --config"),
        ("climb --search --random-rounds 3", "--random-rounds is a setting now: write --set random_rounds=VALUE"),
        ("climb --sweep DSN --window 3", "the flag --window of `poolpilot climb` is now --period"),
        ("climb --sweep DSN --repeats 3", "--repeats is a setting now: write --set repeats=VALUE"),
        ("demo --production --tuner-s 3", "--tuner-s is a setting now: write --set tuner_s=VALUE"),
        ("demo --mariadb --place.folder x", "--place.folder is a setting now: write --set place.folder=VALUE"),
        ("evaluate --comparison.resamples 3", "write --set comparison.resamples=VALUE"),
        ("evaluate --files.methods.tries 3", "write --set files.methods.trials=VALUE"),
        ("grants --most-size 3", "--most-size is a setting now: write --set most_size=VALUE"),
        ("lab up --extra-port 3", "--extra-port is a setting now: write --set extra_port=VALUE"),
        ("lab load --no-such-flag", None),
        ("learn --no-track", "the flag --no-track of `poolpilot learn` is now --set track=false"),
        ("learn --servers native", "--servers is a setting now: write --set servers=VALUE"),
        ("learn calibrate --judged-store x", "--judged-store is a setting now: write --set judged_store=VALUE"),
        ("learn collect --families page_faults", "--families is a setting now: write --set families=VALUE"),
        ("learn curves --grid.sizes 3", "--grid.sizes is a setting now: write --set grid.sizes=VALUE"),
        ("learn promote --champion x", "--champion is a setting now: write --set champion=VALUE"),
        ("learn train --all-action.epochs 3", "write --set all_action.epochs=VALUE"),
        ("restore DSN --look", None),
        ("serve --ray", "the flag --ray is no more: one process serves"),
        ("serve --openapi", "the flag --openapi is no more: docs/service.md describes the service"),
        ("serve --rate-per-s 3", "--rate-per-s is a setting now: write --set rate_per_s=VALUE"),
        ("tune DSN --guard.factor 3", "--guard.factor is a setting now: write --set guard.factor=VALUE"),
        ("tune DSN --guard.tries-per-hour 3", "write --set guard.trials_per_hour=VALUE"),
        ("tune DSN --pace.look-shift=3", "write --set pace.ratio_shift=VALUE"),
        ("tune DSN --lease-s 3", "--lease-s is a setting now: write --set lease_s=VALUE"),
        ("why --lines", None),
    ],
)
def test_a_flag_of_before_is_refused_with_what_does_the_same_today(
    invoke: Invoke, line: str, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if told is None:
        assert refusal_of_before(line.split(), typer.main.get_command(build())) is None, "it never was one, or still is"
        return
    monkeypatch.setenv("POOLPILOT_TUNE_NO_SUCH_SETTING", "1")  # what else is wrong is not looked at
    result = invoke(*line.split())
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith("poolpilot: the flag --")
    assert told in result.err


def settings_of_uses() -> Iterator[tuple[str, str, FieldInfo]]:
    """Every setting of every use of a command."""
    for use, one in CATALOGUE.items():
        for name, field in settings_within(one.model()).items():
            yield use, name, field


def test_every_flag_of_before_is_refused_or_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, every setting was a flag, its name with dots and hyphens; of a switch there was one to take it off."""
    monkeypatch.setattr("typer.main.get_command", cache(typer.main.get_command))
    program, looked_at = typer.main.get_command(build()), 0
    for use, name, field in settings_of_uses():
        called, command = command_of(use)
        known = flags_of(command)
        for begins, value in (("--", "VALUE"), *((("--no-", "false"),) if field.annotation is bool else ())):
            flag = begins + name.replace("_", "-")
            if flag in known or name in ("dsn", "folders", "query", "set"):
                continue
            refusal = refusal_of_before([*use.split(), flag], program)
            assert refusal is not None, (use, flag)
            if (called, flag) not in FLAGS_OF_BEFORE:
                assert f"write --set {name}={value}, or {name} in the file of --config" in refusal
            looked_at += 1
    assert looked_at > 500


@pytest.mark.parametrize(("before", "today"), RENAMED.items())
def test_every_renamed_setting_leads_to_its_name_of_today(before: str, today: str) -> None:
    use = next(use for use, name, _ in settings_of_uses() if name.endswith(today))
    within = next(name for one, name, _ in settings_of_uses() if one == use and name.endswith(today))
    flag = "--" + within.removesuffix(today).replace("_", "-") + before.replace("_", "-")
    refusal = refusal_of_before([*use.split(), flag], typer.main.get_command(build()))
    assert refusal is not None
    assert f"--set {within}=VALUE" in refusal


@pytest.mark.parametrize(
    "line", ["", "--help", "--version", "nonsense", "nonsense --set x", "mariadb", "climb --help", "lab", "lab --help"]
)
def test_what_never_was_otherwise_is_let_through(line: str) -> None:
    assert refusal_of_before(line.split(), typer.main.get_command(build())) is None
