"""`poolpilot check --settings tune` on a real server: what the account may do is told, and nothing is changed."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.mariadb.test_grants import PASSWORD, run_sql, with_password

from poolpilot.errors import ServerError, SettingError
from poolpilot.lab.instance import Lab
from poolpilot.mariadb import control
from poolpilot.mariadb.control import EXTRA_PORT_UNUSED, Control
from poolpilot.mariadb.grants import grants
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE
from poolpilot.mariadb.session import Session
from poolpilot.serve.commands.act.restore_command import RestoreSettings
from poolpilot.serve.commands.command_line.given_flags import CommandLine
from poolpilot.serve.commands.config.config_command import check_settings
from poolpilot.serve.commands.presentation.exit_codes import REFUSED

FILE = """
dsn = "h=127.0.0.1"
mode = "apply"
defaults_file = "{client}"
procedure = "poolpilot.apply_pool"
lease = "event"
"""


@pytest.fixture
def scheduled(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "journals"))
    run_sql(lab, "SET GLOBAL event_scheduler = ON")
    yield lab
    run_sql(lab, "SET GLOBAL event_scheduler = OFF")


def file_of(lab: Lab, user: str, folder: Path, *, lease: bool) -> Path:
    """Settings of an account with the rights that are printed."""
    run_sql(lab, "\n".join(grants(tuner=f"{user}@127.0.0.1", lease=lease).values()))
    run_sql(lab, with_password(user))
    account = Dsn(defaults_file=lab.defaults_file).account()
    client, file = folder / "client.cnf", folder / "tuner.toml"
    client.write_text(
        f"[client]\nuser={user}\npassword={PASSWORD}\nport={account.port}\n[poolpilot]\nextra-port={account.extra_port}\n"
    )
    file.write_text(FILE.format(client=client), encoding="utf-8")
    return file


def check(file: Path | None, written: Path | None = None, *, defaults: bool = False, **flags: str) -> None:
    """Explains the settings of a tuner, and tries what it needs."""
    check_settings("tune", CommandLine(flags, file, [], written), all_of_them=defaults)


def checked(file: Path, folder: Path) -> dict[str, Any]:
    """The trials of a check by their names, whatever it ends with."""
    path = folder / "check.json"
    with suppress(typer.Exit):
        check(file, path)
    return {trial["name"]: trial for trial in json.loads(path.read_text(encoding="utf-8"))["trials"]}


def test_account_with_what_is_asked_for_can_follow(scheduled: Lab, tmp_path: Path) -> None:
    file = file_of(scheduled, "asked", tmp_path, lease=True)
    with Session(scheduled.root) as session:
        before = session.rows("SHOW GLOBAL VARIABLES LIKE 'thread_pool%'")
    check(file, tmp_path / "check.json")
    trials = checked(file, tmp_path)
    assert all(trials[name]["good"] for name in ("server", "extra port", "setting", "after its restart", "by an event"))
    assert not trials["other sessions"]["good"]
    assert "threads" in trials["at worst"]["found"]
    with Session(scheduled.root) as session:
        assert session.rows("SHOW GLOBAL VARIABLES LIKE 'thread_pool%'") == before
        assert session.rows("SELECT * FROM information_schema.EVENTS") == []
    assert not (tmp_path / "journals").exists()


def test_password_that_everybody_may_read_is_told(scheduled: Lab, tmp_path: Path) -> None:
    file = file_of(scheduled, "asked", tmp_path, lease=True)
    client = tmp_path / "client.cnf"
    client.chmod(0o644)
    trial = checked(file, tmp_path)["defaults file"]
    assert (trial["good"], trial["needed"]) == (False, False)
    assert trial["remedy"].endswith(f"chmod 600 {client}")
    client.chmod(0o600)
    assert checked(file, tmp_path)["defaults file"]["good"]


def test_extra_port_with_too_few_connections_is_told(scheduled: Lab, tmp_path: Path) -> None:
    file = file_of(scheduled, "asked", tmp_path, lease=True)
    with Session(scheduled.root) as session:
        (connections,) = session.row("SELECT @@GLOBAL.extra_max_connections")
        session.execute("SET GLOBAL extra_max_connections = 2")
        try:
            trial = checked(file, tmp_path)["extra port"]
        finally:
            session.execute(f"SET GLOBAL extra_max_connections = {connections}")
    assert (trial["good"], trial["needed"]) == (False, False)
    assert "extra_max_connections = 2" in trial["found"]
    assert "set extra_max_connections = 3 or more" in trial["remedy"]


def test_lease_that_the_account_may_not_keep_is_refused(scheduled: Lab, tmp_path: Path) -> None:
    file = file_of(scheduled, "unasked", tmp_path, lease=False)
    with pytest.raises(typer.Exit) as ended:
        check(file)
    assert ended.value.exit_code == REFUSED
    trial = checked(file, tmp_path)["by an event"]
    assert "lacks EVENT on poolpilot.*" in trial["found"]
    assert "grants --lease" in trial["remedy"]


def test_scheduler_that_is_off_is_told(scheduled: Lab, tmp_path: Path) -> None:
    file = file_of(scheduled, "asked", tmp_path, lease=True)
    run_sql(scheduled, "SET GLOBAL event_scheduler = OFF")
    trial = checked(file, tmp_path)["by an event"]
    assert (trial["good"], trial["needed"]) == (False, True)
    assert "SET GLOBAL event_scheduler = ON" in trial["remedy"]


def test_procedure_that_it_may_not_call_is_refused_where_it_applies(scheduled: Lab, tmp_path: Path) -> None:
    file = file_of(scheduled, "asked", tmp_path, lease=True)
    text = file.read_text(encoding="utf-8").replace("apply_pool", "another")
    file.write_text(text, encoding="utf-8")
    assert not checked(file, tmp_path)["setting"]["good"]
    file.write_text(text.replace('"apply"', '"advise"').replace('lease = "event"', ""), encoding="utf-8")
    check(file)


def test_log_that_cannot_be_kept_is_refused_in_words(scheduled: Lab, tmp_path: Path) -> None:
    """Before, it read 'no: are kept in ...', and only where rights forbade it."""
    file = file_of(scheduled, "asked", tmp_path, lease=True)
    file.write_text(f"{file.read_text(encoding='utf-8')}log = '/proc/poolpilot-decisions'\n", encoding="utf-8")
    with pytest.raises(typer.Exit) as ended:
        check(file)
    assert ended.value.exit_code == REFUSED
    trial = checked(file, tmp_path)["decisions"]
    assert (trial["good"], trial["needed"]) == (False, True)
    assert trial["found"] == "cannot be kept in /proc/poolpilot-decisions"
    assert trial["remedy"] == "name another folder with --log"


@pytest.mark.parametrize(("proposed", "good"), [("0,3,10", False), ("4,3,10", True)])
def test_proposal_outside_the_ranges_of_the_server_is_refused(
    scheduled: Lab, tmp_path: Path, proposed: str, good: bool
) -> None:
    """Before, the tuner began, and called it a fault of the predictor at every window."""
    file = file_of(scheduled, "asked", tmp_path, lease=True)
    file.write_text(f"{file.read_text(encoding='utf-8')}propose = '{proposed}'\n", encoding="utf-8")
    trial = checked(file, tmp_path)["proposal"]
    assert (trial["good"], trial["needed"]) == (good, not good)
    assert ("--propose 0,3,10: pool_size is 0, outside the allowed range 1..128" in trial["found"]) != good


def test_without_a_server_the_settings_are_told_and_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before, it ended with 0, and a tuner with a DSN that was left out tuned a pool of its own."""
    file, written = tmp_path / "tuner.toml", tmp_path / "check.json"
    file.write_text('mode = "observe"\n[guard]\nfactor = 1.5\n', encoding="utf-8")
    with pytest.raises(typer.Exit) as ended:
        check(file, written)
    assert ended.value.exit_code == REFUSED
    said = capsys.readouterr().out
    assert "guard.factor = 1.5 (file; allowed: more than 1, at most 16)" in said
    assert "what ships loads" in said
    assert "guard.most_size" not in said
    server, *_ = json.loads(written.read_text(encoding="utf-8"))["trials"]
    assert (server["name"], server["good"], server["needed"]) == ("server", False, True)
    assert "no server is named" in server["found"]
    with suppress(typer.Exit):
        check(file, defaults=True)
    assert "guard.most_size = 128 (default" in capsys.readouterr().out


@pytest.mark.parametrize("named", ['backend = "simulated"', 'server = "my_pool:open_server"'])
def test_server_without_an_account_can_be_followed(
    named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tuner.toml"
    file.write_text(f"{named}\n", encoding="utf-8")
    check(file)
    assert "has no account to try" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("[guard]\nleast_size = 64\nmost_size = 2", "guard.least_size is 64, above guard.most_size, which is 2"),
        ("[guard]\nleast_stall_limit_ms = 5000\nmost_stall_limit_ms = 10", "guard.least_stall_limit_ms is 5000, above"),
        ("[guard]\nleast_size = 200", "guard.least_size is 200, above guard.most_size, which is 128"),
        ("[pace]\nleast_pairs = 10\nmost_pairs = 2", "pace.least_pairs is 10, above pace.most_pairs, which is 2"),
    ],
)
def test_settings_that_contradict_one_another_are_refused_without_a_server(
    written: str, said: str, tmp_path: Path
) -> None:
    """Before, they passed until a tuner began."""
    file = tmp_path / "tuner.toml"
    file.write_text(f"{written}\n", encoding="utf-8")
    with pytest.raises(SettingError, match=said):
        check(file)


def test_wrong_setting_and_unreachable_server_are_errors(tmp_path: Path) -> None:
    file = tmp_path / "tuner.toml"
    file.write_text("speed = 3\n", encoding="utf-8")
    with pytest.raises(SettingError, match="'speed': there is no such setting"):
        check(file)
    with pytest.raises(ServerError, match="cannot reach a server"):
        check(None, dsn=f"S={tmp_path}/none.sock")


def test_extra_port_that_cannot_be_used_is_not_told_as_none(scheduled: Lab, tmp_path: Path) -> None:
    """Before, the server was said to have no extra port."""
    file, unused = file_of(scheduled, "asked", tmp_path, lease=True), EXTRA_PORT_UNUSED.format(port=1, error="refused")
    client = tmp_path / "client.cnf"
    client.write_text(client.read_text(encoding="utf-8").partition("[poolpilot]")[0], encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(control, "_reached", lambda account: Control(Session(account), None, (unused,)))
        trial = checked(file, tmp_path)["extra port"]
    assert (trial["good"], trial["found"]) == (False, "there is one, and the tuner is not on it")
    assert trial["remedy"] == unused


def test_password_in_the_dsn_is_refused_before_the_settings_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before, the DSN was shown with it."""
    file = tmp_path / "tuner.toml"
    file.write_text('dsn = "h=db,p=hunter2"\n', encoding="utf-8")
    with pytest.raises(SettingError, match="everybody who may list processes"):
        check(file)
    assert "hunter2" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["`poolpilot`.`apply_pool`", "apply_pool"])
def test_procedure_that_a_journal_could_not_name_is_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "tuner.toml"
    file.write_text(f'procedure = "{name}"\n', encoding="utf-8")
    with pytest.raises(SettingError, match=r"setting 'procedure': .*write schema\.procedure"):
        check(file)
    with pytest.raises(SettingError, match=r"setting 'procedure': .*write schema\.procedure"):
        RestoreSettings.load(None, {"dsn": "db1", "procedure": name})
