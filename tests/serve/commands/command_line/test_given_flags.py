"""What is given is of the use that is asked for, in the order of where it stands; all else is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from poolpilot.errors import SettingError
from poolpilot.serve.commands.command_line.given_flags import CommandLine
from poolpilot.serve.commands.command_line.uses import found_at
from poolpilot.serve.commands.observe.grants_command import GrantsSettings
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.commands.tune.why_command import WhySettings

Invoke = Callable[..., Any]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any, Path | None]]:
    """What is done by place, with which settings, and where its JSON goes; nothing is."""
    done: list[tuple[str, Any, Path | None]] = []

    def instead(place: str) -> Any:
        is_model = place.partition(":")[2][0].isupper()
        return found_at(place) if is_model else lambda settings, json_path: done.append((place, settings, json_path))

    monkeypatch.setattr("poolpilot.serve.commands.command_line.uses.found_at", instead)
    return done


@pytest.mark.parametrize(
    ("line", "work", "values"),
    [
        ("demo", "observe.demo_command:demo", {}),
        ("demo --mariadb", "observe.demo_command:demo_mariadb", {}),
        ("demo --production --quick", "production.production_command:demo_production", {"quick": True}),
        ("advise h=db1 --seconds 3", "observe.advise_command:advise", {"dsn": "h=db1", "seconds": 3.0}),
        ("advise --windows a.json", "observe.predict_command:predict", {"windows": Path("a.json")}),
        ("advise --simulate a.json --grid", "observe.simulate_command:run", {"profile": Path("a.json"), "grid": True}),
        ("check h=db1", "observe.check_command:check_server", {"dsn": "h=db1"}),
        ("grants --plain", "observe.grants_command:grants", {"plain": True}),
        ("why log --last 3", "tune.why_command:why", {"log": Path("log"), "last": 3}),
        ("page logs --port 0", "observe.page_command:page", {"folder": Path("logs"), "port": 0}),
        ("bundle --settings a.toml --settings b.toml", "bundle.bundle_command:bundle", {"settings": ("a", "b")}),
        ("tune h=db1 --hours nights --watch", "tune.tune_command:tune", {"hours": ("nights",), "watch": True}),
        ("climb --knob pool_size --period 2", "climb.climb_command:climb", {"knob": ("pool_size",), "period": 2.0}),
        ("climb --search --rounds 3", "search.search_command:run", {"rounds": 3}),
        ("climb --sweep h=db1 --period 2", "act.sweep_command:sweep", {"dsn": "h=db1", "window": 2.0}),
        ("restore h=db1 --forget", "act.restore_command:restore", {"forget": True, "execute": False}),
        ("serve --port 0", "act.serve_command:serve", {"port": 0}),
        ("learn --no-promote", "learn.learn_command:run", {"promote": False}),
        ("learn --dsn h=db1 --promote", "learn.learn_command:run", {"dsn": "h=db1", "promote": True}),
        ("learn collect --store a", "learn.collect_command:run", {"store": Path("a")}),
        ("learn curves --output a", "learn.curves_command:run", {"output": Path("a")}),
        ("learn calibrate --seed 3", "learn.calibrate_command:run", {"seed": 3}),
        ("learn train --store a", "learn.train_command:run", {"store": Path("a")}),
        (
            "learn promote --candidate a --dry-run",
            "learn.promote_command:run",
            {"candidate": Path("a"), "dry_run": True},
        ),
        ("records a b", "learn.records_show_command:show", {"folders": (Path("a"), Path("b"))}),
        ("records --check a", "learn.records_command:check", {"folders": (Path("a"),)}),
        ("records --sql SHOW a --limit 3", "learn.records_sql_command:sql", {"folder": Path("a"), "query": "SHOW"}),
        ("evaluate --split validation", "learn.evaluate_command:run", {"split": "validation"}),
        ("lab up --slow-disk", "learn.lab_command:up", {"slow_disk": True}),
        ("lab load --workload a", "learn.lab_load:load", {"workload": "a"}),
        ("lab disk --read-us 1 --write-us 2 --flush-us 3", "learn.lab_command:disk", {"flush_us": 3}),
        ("lab down --remove", "learn.lab_command:down", {"remove": True}),
    ],
)
def test_every_use_has_its_work_and_is_given_what_stands_there(
    invoke: Invoke, ran: list[Any], line: str, work: str, values: dict[str, Any]
) -> None:
    result = invoke(*line.split())
    assert (result.code, result.err) == (0, "")
    ((place, settings, json_path),) = ran
    found = {name: getattr(settings, name) for name in values}
    if "settings" in found:
        found["settings"] = tuple(path.stem for path in found["settings"])
    assert (place, found, json_path) == (work, values, None)


def test_assignments_win_over_flags_these_over_the_environment_and_that_over_the_file(
    invoke: Invoke, ran: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, written = tmp_path / "why.toml", tmp_path / "why.json"
    file.write_text("last = 1\nreport = true\n")
    told = []
    for more in ((), ("--last", 3), ("--set", "last=4"), ("--set", "last=4", "--last", 3, "--set", "last=5")):
        invoke("why", "--config", file, *more, "--json", written)
        told.append(ran[-1][1].last)
        monkeypatch.setenv("POOLPILOT_WHY_LAST", "2")
        invoke("why", "--config", file, *more)
        told.append(ran[-1][1].last)
        monkeypatch.delenv("POOLPILOT_WHY_LAST")
    assert told == [1, 2, 3, 3, 4, 4, 5, 5]
    assert {settings.report for _, settings, _ in ran} == {True}
    assert [json_path for _, _, json_path in ran[:2]] == [written, None]


def test_a_switch_that_file_or_environment_have_on_can_be_taken_off(
    invoke: Invoke, ran: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLPILOT_GRANTS_PLAIN", "true")
    for more in ((), ("--set", "plain=false")):
        invoke("grants", *more)
    assert [settings.plain for _, settings, _ in ran] == [True, False]


def test_lists_and_nested_settings_are_assigned(invoke: Invoke, ran: list[Any]) -> None:
    given = ("hours=nights,weekends", "guard.factor=3", "pace.shift=0.5", "guard.most_size = 64")
    invoke("tune", *(f"--set={one}" for one in given))
    ((_, settings, _),) = ran
    assert isinstance(settings, TuneSettings)
    assert (settings.hours, settings.guard.factor, settings.pace.shift) == (("nights", "weekends"), 3.0, 0.5)
    assert settings.guard.most_size == 64
    assert settings.guard.min_gain == TuneSettings().guard.min_gain, "what nobody names stays"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("why --set last", "--set wants NAME=VALUE, such as seed=3, and not 'last'"),
        ("why --set =3", "--set wants NAME=VALUE"),
        ("why --set latest=3", "setting 'latest': there is no such setting"),
        ("why --set last=0", "setting 'last': Input should be greater than or equal to 1; it is '0'"),
        ("tune --set guard.fan=1", "setting 'guard.fan': there is no such setting"),
        ("tune --set guard.tries_per_hour=1", "setting 'guard.tries_per_hour' is called 'guard.trials_per_hour' now"),
        ("tune --mode dictate", "setting 'mode': Input should be 'observe', 'advise' or 'apply'; it is 'dictate'"),
        ("why --config gone.toml", "there is no settings file gone.toml"),
        ("why --json gone/why.json", "cannot write gone/why.json: there is no such folder"),
        ("check --settings nonsense", "no command 'nonsense' has settings: name one of advise,"),
        ("records . --check --set limit=3", "setting 'limit': there is no such setting"),
    ],
)
def test_a_wrong_setting_is_one_sentence_and_nothing_is_run(
    invoke: Invoke, ran: list[Any], line: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke(*line.split())
    assert (result.code, result.out, result.err.count("\n"), ran) == (1, "", 1, [])
    assert says in result.err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("climb --sweep h=db1 --warm", "--warm is not of `poolpilot climb --sweep`: leave it out"),
        ("climb --sweep h=db1 --knob all", "--knob is not of"),
        ("climb --sweep h=db1 --keep", "--keep is not of"),
        ("climb --search --seconds 3", "--seconds is not of `poolpilot climb --search`"),
        ("climb --rounds 3", "--rounds is not of `poolpilot climb`"),
        ("demo --quick", "--quick is not of `poolpilot demo`"),
        ("demo --production --seed 3", "--seed is not of `poolpilot demo --production`"),
        ("advise h=db1 --grid", "--grid is not of `poolpilot advise`"),
        ("advise --windows a.json --cpus 3", "--cpus is not of `poolpilot advise --windows`"),
        ("advise --simulate a.json --model a", "--model is not of `poolpilot advise --simulate`"),
        ("records a --limit 3", "--limit is not of `poolpilot records`"),
        ("learn --candidate a", "--candidate is not of `poolpilot learn`"),
        ("learn train --minutes 3", "--minutes is not of `poolpilot learn train`"),
        ("learn promote --anew", "--anew is not of `poolpilot learn promote`"),
        ("check --settings serve h=db1", "DSN is not of `poolpilot serve`"),
        ("check --settings why --seconds 3", "--seconds is not of `poolpilot why`"),
        ("restore", "`poolpilot restore` needs DSN"),
        ("climb --sweep --execute", "`poolpilot climb --sweep` needs DSN"),
        ("lab load", "`poolpilot lab load` needs --workload"),
        ("lab disk --read-us 3", "Missing option"),
        ("records", "Missing argument"),
        ("climb --search --sweep h=db1", "--search and --sweep are two ways to look: name one"),
        ("demo --mariadb --production", "two demonstrations: name one"),
        ("records a --check --sql SHOW", "two questions: name one"),
        ("records a b --sql SHOW", "--sql asks one store: name one folder"),
        ("advise", "name one thing to advise on: a DSN, --windows FILE or --simulate FILE"),
        ("advise h=db1 --windows a.json", "name one thing to advise on"),
        ("check", "name what to check: a DSN, or --settings COMMAND"),
        ("learn nonsense", "'nonsense' is not one of"),
        ("page --port many", "should be a valid integer"),
        ("why --no-such-flag", "No such option"),
        ("nonsense", "No such command"),
    ],
)
def test_wrong_usage_has_exit_code_2_and_nothing_is_run(
    invoke: Invoke, ran: list[Any], line: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = invoke(*line.split())
    assert (result.code, result.out, ran) == (2, "", [])
    assert says in result.err


def test_what_a_use_must_have_may_come_from_the_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = found_at("act.sweep_command:SweepSettings")
    file = tmp_path / "sweep.toml"
    file.write_text('dsn = "h=file"\n')
    nothing = CommandLine({}, None, [], None)
    with pytest.raises(typer.BadParameter, match="needs DSN"):
        nothing.settings(model, "climb --sweep")
    assert nothing._replace(config=file).settings(model, "climb --sweep").dsn == "h=file"
    assert nothing._replace(assignments=["dsn=h=assigned"]).settings(model, "climb --sweep").dsn == "h=assigned"
    monkeypatch.setenv("POOLPILOT_SWEEP_DSN", "h=environment")
    assert nothing.settings(model, "climb --sweep").dsn == "h=environment"


def test_a_file_of_another_command_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tuner.toml"
    file.write_text('mode = "apply"\n')
    for model in (WhySettings, GrantsSettings):
        with pytest.raises(SettingError, match="'mode': there is no such setting"):
            CommandLine({}, file, [], None).settings(model, "why")
