"""The printed grants, run as printed on a real server, give what they promise and no more."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.host.programs import program
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.actuator import CallProcedure
from poolpilot.mariadb.diagnosis.listed_session import quoted_account
from poolpilot.mariadb.grants import grants
from poolpilot.mariadb.login.dsn import Account, Dsn
from poolpilot.mariadb.restoration.mariadb_restoration import MariadbRestoration
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session
from poolpilot.mariadb.tuner_lock import lock, sees_itself, stranger_of, unlock

PASSWORD = "chosen-by-the-dba"


def run_sql(lab: Lab, text: str) -> None:
    command = [program("mariadb"), f"--defaults-file={lab.root_file}"]
    subprocess.run(command, input=text, text=True, check=True, capture_output=True)


def account_of(lab: Lab, user: str) -> Account:
    return replace(Dsn(defaults_file=lab.defaults_file).account(), user=user, password=PASSWORD)


def with_password(user: str) -> str:
    return f"ALTER USER {user}@127.0.0.1 IDENTIFIED BY '{PASSWORD}' ACCOUNT UNLOCK;"


def setting_statements(session: Session) -> int:
    return int(session.row("SHOW SESSION STATUS LIKE 'Com_set_option'")[1])


@pytest.fixture(scope="module")
def granted(lab: Lab) -> Iterator[Lab]:
    """Accounts that may look, call the procedure, and set."""
    for user in ("looker", "caller", "setter"):
        printed = grants(tuner=f"{user}@127.0.0.1", sizes=(1, 64), plain=user == "setter")
        run_sql(lab, printed["observe"] if user == "looker" else "\n".join(printed.values()))
        run_sql(lab, with_password(user))
    yield lab
    run_sql(
        lab,
        "SET GLOBAL thread_pool_size=2; SET GLOBAL thread_pool_oversubscribe=3; SET GLOBAL thread_pool_stall_limit=500",
    )


def test_new_account_is_locked_until_it_has_a_password(lab: Lab) -> None:
    run_sql(lab, "\n".join(grants(tuner="fresh@127.0.0.1").values()))
    with pytest.raises(ServerError):
        Session(replace(account_of(lab, "fresh"), password=""))
    run_sql(lab, with_password("fresh"))
    with Session(account_of(lab, "fresh")) as session:
        assert session.row("SELECT CURRENT_USER()") == ("fresh@127.0.0.1",)


def test_printed_statements_leave_the_procedure_and_nothing_else(lab: Lab) -> None:
    run_sql(lab, "\n".join(grants(tuner="tuned@127.0.0.1", plain=True).values()) + with_password("tuned"))
    run_sql(lab, "\n".join(grants(tuner="tuned@127.0.0.1").values()))
    with Session(account_of(lab, "tuned")) as session:
        shown = [row[0].partition(" TO ")[0] for row in session.rows("SHOW GRANTS")]
        assert shown == ["GRANT USAGE ON *.*", "GRANT EXECUTE ON PROCEDURE `poolpilot`.`apply_pool`"]
        before = session.row("SELECT @@thread_pool_size, @@thread_pool_oversubscribe, @@thread_pool_stall_limit")
        with pytest.raises(ServerError, match="poolpilot grants"):
            session.execute("SET GLOBAL thread_pool_size = 4")
        session.execute("CALL poolpilot.apply_pool(%s, %s, %s)", before)


def test_usage_alone_sees_everything_and_sets_nothing(granted: Lab) -> None:
    with MariadbServer(account_of(granted, "looker")) as server:
        before = server.snapshot().pool_tuple
        with pytest.raises(ServerError, match="poolpilot grants"):
            server.apply(before.with_core((8, 3, 500)))
        assert server.tuple_in_force() == before


def test_procedure_sets_a_tuple_for_an_account_without_privileges(granted: Lab) -> None:
    with MariadbServer(account_of(granted, "caller"), CallProcedure()) as server:
        wanted = server.tuple_in_force().with_core((8, 2, 60))
        assert server.apply(wanted) == wanted
        with pytest.raises(ServerError, match="poolpilot grants"):
            server.session.execute("SET GLOBAL thread_pool_size = 4")


@pytest.mark.parametrize(
    ("wanted", "statements"),
    [((8, 3, 100), 0), ((8, 3, 60), 1), ((9, 3, 100), 1), ((7, 4, 100), 2), ((9, 2, 60), 3), ((7, 4, 200), 3)],
)
def test_procedure_sets_what_differs_alone(granted: Lab, wanted: tuple[int, int, int], statements: int) -> None:
    with Session(account_of(granted, "caller")) as session:
        session.execute("CALL poolpilot.apply_pool(8, 3, 100)")
        before = setting_statements(session)
        session.execute("CALL poolpilot.apply_pool(%s, %s, %s)", wanted)
        assert setting_statements(session) - before == statements
        assert (
            session.row("SELECT @@thread_pool_size, @@thread_pool_oversubscribe, @@thread_pool_stall_limit") == wanted
        )


@pytest.mark.parametrize(
    "values", ["(65, 3, 500)", "(0, 3, 500)", "(8, 65, 500)", "(8, 3, 9)", "(NULL, 3, 500)", "(8, 3, NULL)"]
)
def test_procedure_refuses_what_is_out_of_range(granted: Lab, values: str) -> None:
    with Session(account_of(granted, "caller")) as session:
        before = session.row("SELECT @@thread_pool_size, @@thread_pool_oversubscribe, @@thread_pool_stall_limit")
        with pytest.raises(ServerError, match="pool setting outside the allowed range"):
            session.execute(f"CALL poolpilot.apply_pool{values}")
        assert (
            session.row("SELECT @@thread_pool_size, @@thread_pool_oversubscribe, @@thread_pool_stall_limit") == before
        )


def test_procedure_lets_threads_become_fewer_though_the_limit_was_lowered(granted: Lab) -> None:
    with Session(granted.root) as dba, Session(account_of(granted, "caller")) as session:
        (limit,) = dba.row("SELECT @@GLOBAL.thread_pool_max_threads")
        session.execute("CALL poolpilot.apply_pool(16, 3, 500)")
        dba.execute("SET GLOBAL thread_pool_max_threads = 40")
        try:
            session.execute("CALL poolpilot.apply_pool(16, 3, 100)")
            session.execute("CALL poolpilot.apply_pool(12, 3, 100)")
            with pytest.raises(ServerError, match="pool setting outside the allowed range"):
                session.execute("CALL poolpilot.apply_pool(13, 3, 100)")
        finally:
            dba.execute(f"SET GLOBAL thread_pool_max_threads = {limit}")


def test_range_error_of_the_procedure_leaves_the_tuple(granted: Lab) -> None:
    with MariadbServer(account_of(granted, "caller"), CallProcedure()) as server:
        before = server.tuple_in_force()
        with pytest.raises(ServerError, match="outside the allowed range"):
            server.apply(before.with_core((100, 3, 500)))
        assert server.tuple_in_force() == before


def test_plain_grant_sets(granted: Lab) -> None:
    with MariadbServer(account_of(granted, "setter")) as server:
        wanted = server.tuple_in_force().with_core((3, 3, 100))
        assert server.apply(wanted) == wanted


def test_nobody_logs_in_as_the_owner(granted: Lab) -> None:
    with pytest.raises(ServerError):
        Session(account_of(granted, "poolpilot_owner"))


def test_procedure_keeps_the_idle_timeout(granted: Lab) -> None:
    server = MariadbServer(account_of(granted, "caller"), CallProcedure())
    with server, pytest.raises(ServerError, match="stall limit alone"):
        server.apply(PoolTuple(4, 3, 500, idle_timeout_s=30.0))


def test_defaults_file_of_the_test_server_is_for_its_owner_alone(lab: Lab) -> None:
    assert Path(lab.defaults_file).stat().st_mode & 0o077 == 0


def test_way_back_of_a_dead_command_is_gone_with_the_right_that_it_had(granted: Lab, tmp_path: Path) -> None:
    """A keeper, or `poolpilot restore`, need not be told of the procedure."""
    account = account_of(granted, "caller")
    with MariadbServer(account, CallProcedure()) as dead:
        restoration = MariadbRestoration(dead, tmp_path)
        first = restoration.begin("tune", lambda _sentence: None)
        dead.apply(first.with_core((5, 3, 250)))
        restoration.close()
    with MariadbServer(account) as keeper:
        asked = keeper.actuator
        said = MariadbRestoration(keeper, tmp_path).resume()
        assert keeper.tuple_in_force() == first
        assert keeper.actuator is asked
    assert f"In force now: {first}." in said


def test_procedure_that_would_refuse_the_way_back_lets_nothing_be_set(granted: Lab, tmp_path: Path) -> None:
    """An account may set 1 to 64 groups; 100 are in force, which a person has set."""
    with Session(granted.root) as session, MariadbServer(account_of(granted, "caller"), CallProcedure()) as server:
        before = server.tuple_in_force().pool_size
        session.execute("SET GLOBAL thread_pool_size = 100")
        try:
            with pytest.raises(ServerError, match=r"could not be brought back, so nothing is set.*outside the allowed"):
                MariadbRestoration(server, tmp_path).begin("tune", lambda _sentence: None)
            assert server.tuple_in_force().pool_size == 100
            assert not list(tmp_path.glob("*.jsonl"))
        finally:
            session.execute(f"SET GLOBAL thread_pool_size = {before}")


def test_procedure_that_is_not_there_lets_nothing_be_set(granted: Lab, tmp_path: Path) -> None:
    with (
        MariadbServer(account_of(granted, "caller"), CallProcedure("poolpilot.nothing")) as server,
        pytest.raises(ServerError, match="so nothing is set"),
    ):
        MariadbRestoration(server, tmp_path).begin("tune", lambda _sentence: None)


def test_tls_is_asked_for_where_that_is_wanted(lab: Lab) -> None:
    printed = grants(tuner="sealed@127.0.0.1", require_tls=True)
    assert "tls" not in grants(tuner="sealed@127.0.0.1")
    run_sql(lab, "\n".join(printed.values()) + with_password("sealed"))
    with pytest.raises(ServerError, match=r"denies access to 'sealed'.*TLS"):
        Session(account_of(lab, "sealed"))


@pytest.mark.parametrize(
    ("account", "printed"),
    [
        ("'poolpilot'@'10.%'", "`poolpilot`@`10.%`"),
        ("`poolpilot`@`10.%`", "`poolpilot`@`10.%`"),
        ("me@corp@10.%", "`me@corp`@`10.%`"),
        ("poolpilot", "`poolpilot`@`%`"),
        ("pool`pilot@db1", "`pool``pilot`@`db1`"),
    ],
)
def test_account_is_taken_as_people_write_it(account: str, printed: str) -> None:
    """Before, quotes became part of the name, and the first @ ended it."""
    assert f"CREATE USER IF NOT EXISTS {printed} WITH" in grants(tuner=account)["observe"]


def test_account_whose_name_holds_an_at_is_known_for_the_own_one(lab: Lab) -> None:
    """Before, the name ended at the first @, so that a stranger's lock kept what was tried in force without a word."""
    with Session(lab.root) as root:
        root.execute("CREATE OR REPLACE USER 'me@corp'@'127.0.0.1', me@'127.0.0.1'")
        root.execute("GRANT PROCESS ON *.* TO 'me@corp'@'127.0.0.1', me@'127.0.0.1'")
        here = replace(account_of(lab, "none"), password="")
        with Session(replace(here, user="me@corp")) as ours, Session(replace(here, user="me")) as theirs:
            assert sees_itself(ours)
            assert quoted_account(ours) == "`me@corp`@`127.0.0.1`"
            lock(theirs)
            assert stranger_of(ours) == theirs.connection_id
            unlock(theirs)
            lock(ours)
            assert stranger_of(ours) is None
        root.execute("DROP USER 'me@corp'@'127.0.0.1', me@'127.0.0.1'")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"tuner": "@localhost"}, "is no account: write name@host"),
        ({"owner": "'owner@localhost"}, "is no account: write name@host"),
        ({"sizes": (200, 128)}, "no pool size, since the least one, 200, is above the greatest, 128"),
        ({"stall_limits_ms": (10, 9)}, "no stall limit"),
        ({"procedure": "apply_pool"}, r"write schema\.procedure"),
    ],
)
def test_what_nobody_could_use_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        grants(**wrong)
