"""Restoration on a real MariaDB: one tuner at a time, lost connections, left-over tuples, and what others set."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import NoReturn

import pytest
from rich.console import Console

from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.env.tuning.restoration import restoring
from poolpilot.errors import JournalError, LostServerError, ServerError, TakenServerError, TupleChangedError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.identity_query import read_identity
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.restoration import mariadb_restoration
from poolpilot.mariadb.restoration.journal import Journal, path_of
from poolpilot.mariadb.restoration.known_server import KnownServer
from poolpilot.mariadb.restoration.mariadb_restoration import MariadbRestoration, by_hand
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session


def opened(lab: Lab) -> MariadbServer:
    return MariadbServer(Dsn(defaults_file=lab.defaults_file).account())


@pytest.fixture
def server(lab: Lab) -> Iterator[MariadbServer]:
    with opened(lab) as server:
        before = server.tuple_in_force()
        yield server
    with opened(lab) as again:
        again.put_back(before)


@pytest.fixture
def console() -> Console:
    return Console(file=StringIO(), width=1000)


def said(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def other_than(first: PoolTuple) -> PoolTuple:
    return first.with_core((16, 9, 40))


def leave_behind(server: MariadbServer, folder: Path) -> PoolTuple:
    """Ends as a killed program does: the tuple set, the journal there, the lock gone. Returns the first tuple."""
    restoration = MariadbRestoration(server, folder)
    first = restoration.begin("climb", lambda _sentence: None)
    server.apply(other_than(first))
    restoration.close()
    return first


def tune(restoration: MariadbRestoration, server: MariadbServer, console: Console, then: Callable[[], object]) -> None:
    """Sets another tuple, and does something."""
    with restoring(restoration, "climb", console) as first:
        server.apply(other_than(first))
        then()


def fail_with(error: BaseException) -> None:
    raise error


def lose_the_connection(server: MariadbServer, lab: Lab) -> None:
    with Session(lab.root) as human:
        human.execute(f"KILL {server.session.connection_id}")
    server.tuple_in_force()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ServerError("no"), LostServerError("gone"), OSError(5, "tty")])
def test_first_tuple_returns_after_every_error(
    server: MariadbServer, tmp_path: Path, console: Console, error: BaseException
) -> None:
    first = server.tuple_in_force()
    with pytest.raises(type(error)):
        tune(MariadbRestoration(server, tmp_path), server, console, lambda: fail_with(error))
    assert server.tuple_in_force() == first
    assert said(console) == f"In force now: {first}.\n"
    assert not list(tmp_path.glob("*.jsonl"))


@pytest.mark.parametrize("keep", [False, True])
def test_good_end_restores_or_keeps(server: MariadbServer, tmp_path: Path, console: Console, keep: bool) -> None:
    with restoring(MariadbRestoration(server, tmp_path), "climb", console, keep=keep) as first:
        server.apply(other_than(first))
    assert server.tuple_in_force() == (other_than(first) if keep else first)
    assert f"In force now: {server.tuple_in_force()}." in said(console)
    assert not list(tmp_path.glob("*.jsonl"))


def test_tuple_is_in_the_journal_before_it_is_in_force(server: MariadbServer, tmp_path: Path, console: Console) -> None:
    identity = read_identity(server.session)
    seen: list[tuple[Journal | None, PoolTuple]] = []

    class Watching:
        def set(self, session: Session, before: PoolTuple, after: PoolTuple) -> None:
            seen.append((Journal.find(tmp_path, identity, server.knobs), after))
            actuator.set(session, before, after)

    actuator, server.actuator = server.actuator, Watching()
    with restoring(MariadbRestoration(server, tmp_path), "climb", console) as first:
        server.apply(other_than(first))
    (before, first_again), (journal, after), _back = seen
    assert (before, first_again) == (None, first), "what is in force is set once, to see that it can be"
    assert journal is not None
    assert (journal.first, journal.announced) == (first, (after,))


def test_second_tuner_is_refused_and_told_who_holds_the_server(
    server: MariadbServer, lab: Lab, tmp_path: Path, console: Console
) -> None:
    with restoring(MariadbRestoration(server, tmp_path / "a"), "climb", console), opened(lab) as second:
        other = MariadbRestoration(second, tmp_path / "b")
        holder = f"connection {server.session.connection_id} of poolpilot from"
        assert holder in " ".join(other.warnings())
        with pytest.raises(ServerError, match=f"another tuner is at work on .*{holder}"):
            other.begin("sweep", lambda _sentence: None)
        other.close()
        assert not (tmp_path / "b").exists()
    with opened(lab) as third, restoring(MariadbRestoration(third, tmp_path / "b"), "climb", console):
        pass


def test_lost_connection_is_opened_again_and_its_lock_taken_over(
    server: MariadbServer, lab: Lab, tmp_path: Path, console: Console
) -> None:
    first = server.tuple_in_force()
    with pytest.raises(LostServerError):
        tune(MariadbRestoration(server, tmp_path), server, console, lambda: lose_the_connection(server, lab))
    assert server.tuple_in_force() == first
    assert "is lost; it is being opened again" in said(console)
    with opened(lab) as next_one:
        MariadbRestoration(next_one, tmp_path).begin("climb", lambda _sentence: None)


def test_who_has_lost_the_server_to_another_tuner_sets_nothing_back(
    server: MariadbServer, lab: Lab, tmp_path: Path
) -> None:
    """Before, the tuple of the other one was overwritten, over a connection without the lock."""
    restoration = MariadbRestoration(server, tmp_path / "a", reopen_within_s=0.5)
    first = restoration.begin("tune", lambda _sentence: None)
    theirs = other_than(first)
    server.apply(theirs)
    with pytest.raises(LostServerError):
        lose_the_connection(server, lab)
    with opened(lab) as second:
        other = MariadbRestoration(second, tmp_path / "b")
        other.begin("tune", lambda _sentence: None)
        with pytest.raises(ServerError, match="another tuner is at work"):
            restoration.reach_again()
        with pytest.raises(TakenServerError, match="in force is its own by now: another tuner is at work") as told:
            restoration.bring_back(lambda _sentence: None)
        assert "SET GLOBAL" not in str(told.value), "nobody is to set back by hand what is the other one's"
        assert second.tuple_in_force() == theirs
        other.close()
    assert restoration.bring_back(lambda _sentence: None).endswith(f"In force now: {first}.")


def test_who_has_not_begun_reaches_a_lost_server_again_without_a_lock_or_a_journal(
    server: MariadbServer, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restoration, first = MariadbRestoration(server, tmp_path), server.tuple_in_force()
    restoration.commit(other_than(first))
    execute, sent = Session.execute, list[str]()

    def noted(session: Session, statement: str, values: Sequence[object] = ()) -> None:
        sent.append(statement)
        execute(session, statement, values)

    for _ in range(2):
        with pytest.raises(LostServerError):
            lose_the_connection(server, lab)
        with monkeypatch.context() as watched:
            watched.setattr(Session, "execute", noted)
            watched.setattr(mariadb_restoration, "lock", lambda *_: pytest.fail("a lock is taken"))
            assert restoration.reach_again() is False
        assert server.tuple_in_force() == first
    assert sent
    assert not [statement for statement in sent if statement.startswith("KILL")]
    assert restoration.bring_back(lambda _sentence: None) == ""
    assert not list(tmp_path.glob("*.jsonl"))


def test_who_has_not_begun_is_told_of_a_restart(
    server: MariadbServer, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restoration, now = MariadbRestoration(server, tmp_path), server.identity
    with pytest.raises(LostServerError):
        lose_the_connection(server, lab)
    later = replace(now, started_unix_s=now.started_unix_s + 60)
    monkeypatch.setattr(ServerIdentity, "from_row", lambda _row: later)
    assert restoration.reach_again() is True
    assert restoration.reach_again() is False


def test_restart_is_told_though_the_connection_is_lost_once_more(
    server: MariadbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restoration, now = MariadbRestoration(server, tmp_path), server.identity
    restoration.begin("tune", lambda _sentence: None)
    later = replace(now, started_unix_s=now.started_unix_s + 60)
    monkeypatch.setattr(ServerIdentity, "from_row", lambda _row: later)
    with monkeypatch.context() as once:
        once.setattr(server, "tuple_in_force", lambda: raised(LostServerError("gone again")))
        with pytest.raises(LostServerError):
            restoration.reach_again()
    assert restoration.reach_again() is True
    assert restoration.reach_again() is False


def test_another_server_that_answers_is_tuned_from_its_own_beginning(
    server: MariadbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, a switch-over was taken for a restart, the first one's journal was lost, and what was tried stayed."""
    restoration, here = MariadbRestoration(server, tmp_path), server.identity
    first = restoration.begin("tune", lambda _sentence: None)
    server.apply(other_than(first))
    other = replace(here, data_folder="/srv/other", started_unix_s=here.started_unix_s + 1)
    monkeypatch.setattr(ServerIdentity, "from_row", lambda _row: other)
    ended = list[int]()
    monkeypatch.setattr(Session, "execute", lambda _self, text, *_: ended.append(1) if "KILL" in text else None)
    assert restoration.reach_again() is True
    assert not ended, "the number of a connection is another's on another server"
    assert restoration.reach_again() is False
    monkeypatch.undo()
    kept = Journal.find(tmp_path, here, server.knobs)
    assert kept is not None
    assert (kept.first, kept.announced) == (first, (other_than(first),))
    theirs = Journal.find(tmp_path, other, server.knobs)
    assert theirs is not None
    assert theirs.first == other_than(first)
    theirs.end()
    server.put_back(first)


def test_way_back_of_a_server_is_not_gone_on_another_one(
    server: MariadbServer, lab: Lab, tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other = server.tuple_in_force(), replace(server.identity, data_folder="/srv/other")

    def switched_over() -> None:
        monkeypatch.setattr(ServerIdentity, "from_row", lambda _row: other)

    with pytest.raises(ServerError, match=r"in /srv/other on .* answers by now, and not MariaDB") as ended:
        tune(MariadbRestoration(server, tmp_path, 0.0), server, console, switched_over)
    assert f"SET GLOBAL thread_pool_size = {first.pool_size};" in str(ended.value).splitlines()
    monkeypatch.undo()
    with opened(lab) as again:
        assert "has ended without a restore" in MariadbRestoration(again, tmp_path).resume()
        assert again.tuple_in_force() == first


def raised(error: Exception) -> NoReturn:
    raise error


def test_message_names_what_is_in_force_where_the_server_is_gone(
    server: MariadbServer, lab: Lab, tmp_path: Path, console: Console
) -> None:
    first = server.tuple_in_force()

    def lose_the_server() -> None:
        server.account = replace(server.account, port=1, extra_port=1)
        server.control.extra_port = None
        lose_the_connection(server, lab)

    with pytest.raises(ServerError) as ended:
        tune(MariadbRestoration(server, tmp_path, 0.0), server, console, lose_the_server)
    text = str(ended.value)
    assert "cannot reach a server" in text
    assert f"Last set, and in force unless the server was restarted: {other_than(first)}." in text
    assert f"SET GLOBAL thread_pool_size = {first.pool_size};" in text.splitlines()
    assert f"SET GLOBAL thread_pool_stall_limit = {first.timer_interval_ms};" in text.splitlines()
    with opened(lab) as again:
        sentence = MariadbRestoration(again, tmp_path).resume()
        assert "has ended without a restore" in sentence
        assert again.tuple_in_force() == first


def test_nothing_set_is_told_as_such(tmp_path: Path, server: MariadbServer) -> None:
    journal = Journal.begin(tmp_path, read_identity(server.session), server.tuple_in_force(), server.knobs, "climb")
    assert by_hand(journal, ServerError("gone")).startswith(f"gone; nothing was set: {journal.first} is in force")


def test_what_somebody_else_sets_stays_and_the_rest_goes_back(
    server: MariadbServer, lab: Lab, tmp_path: Path, console: Console
) -> None:
    first = server.tuple_in_force()

    def meddle() -> None:
        with Session(lab.root) as human:
            human.execute("SET GLOBAL thread_pool_oversubscribe = 11")
        server.apply(first)

    with pytest.raises(TupleChangedError, match="somebody else has set"):
        tune(MariadbRestoration(server, tmp_path), server, console, meddle)
    size, _, timer_interval_ms = first.core
    assert server.tuple_in_force().core == (size, 11, timer_interval_ms)
    assert said(console) == (
        "Somebody else has set thread_pool_oversubscribe = 11 meanwhile, which is left alone. "
        f"In force now: {server.tuple_in_force()}.\n"
    )


def test_next_start_goes_back_first(server: MariadbServer, lab: Lab, tmp_path: Path, console: Console) -> None:
    first = leave_behind(server, tmp_path)
    with opened(lab) as next_one:
        restoration = MariadbRestoration(next_one, tmp_path)
        (warning,) = restoration.warnings()
        assert f"{other_than(first)} is in force, {first} was at the beginning" in warning
        assert next_one.tuple_in_force() == other_than(first)
        with restoring(restoration, "sweep", console) as beginning:
            assert beginning == first
            assert next_one.tuple_in_force() == first
    assert "The climb of" in said(console)
    assert "has ended without a restore. In force now:" in said(console)


def test_left_over_tuple_that_somebody_has_changed_since_is_theirs(
    server: MariadbServer, lab: Lab, tmp_path: Path
) -> None:
    first = leave_behind(server, tmp_path)
    with Session(lab.root) as human:
        human.execute("SET GLOBAL thread_pool_size = 7")
    with opened(lab) as next_one:
        beginning = MariadbRestoration(next_one, tmp_path).begin("climb", lambda _sentence: None)
    assert beginning == first.with_core((7, *first.core[1:]))


def test_server_that_was_restarted_since_is_left_alone(
    server: MariadbServer, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = leave_behind(server, tmp_path)
    now = read_identity(server.session)
    later = replace(now, started_unix_s=now.started_unix_s + 60)
    monkeypatch.setattr(ServerIdentity, "from_row", lambda _row: later)
    with opened(lab) as next_one:
        sentence = MariadbRestoration(next_one, tmp_path).resume()
        assert f"restarted since, and its my.cnf holds. In force now: {other_than(first)}" in sentence
        assert next_one.tuple_in_force() == other_than(first)
    assert not list(tmp_path.glob("*.jsonl"))


def test_journal_that_does_not_fit_stops_everything(server: MariadbServer, lab: Lab, tmp_path: Path) -> None:
    leave_behind(server, tmp_path)
    path = path_of(tmp_path, read_identity(server.session))
    path.write_text("nonsense\n")
    left = server.tuple_in_force()
    with opened(lab) as next_one:
        restoration = MariadbRestoration(next_one, tmp_path)
        assert str(path) in restoration.warnings()[0]
        with pytest.raises(JournalError, match="nothing is set"):
            restoration.begin("climb", lambda _sentence: None)
        assert next_one.tuple_in_force() == left
        assert f"{left}" in restoration.forget()
        assert next_one.tuple_in_force() == left
        assert restoration.forget() == ""
        assert restoration.resume() == ""


def test_identity_outlives_connections(server: MariadbServer, lab: Lab) -> None:
    with Session(lab.root) as other:
        assert read_identity(other).key == read_identity(server.session).key
        assert not read_identity(other).restarted_since(read_identity(server.session))


def test_what_is_promised_is_what_would_be_done(
    server: MariadbServer, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, a restore was promised that nobody would do: after a restart, or where a person has set all since."""
    first = leave_behind(server, tmp_path)
    removes = "`poolpilot restore` with this DSN and --execute only removes the journal"
    with opened(lab) as next_one:
        restoration = MariadbRestoration(next_one, tmp_path)
        assert restoration.warnings()[0].endswith("with this DSN and --execute brings it back")
        with Session(lab.root) as human:
            human.execute("SET GLOBAL thread_pool_size = 7")
        mixed = first.with_core((7, *first.core[1:]))
        (said_then,) = restoration.warnings()
        assert "somebody else has set thread_pool_size = 7 meanwhile, which is left alone" in said_then
        assert said_then.endswith(f"brings {mixed} back")
        next_one.put_back(mixed)
        assert restoration.warnings()[0].endswith(removes)
        later = replace(next_one.identity, started_unix_s=next_one.identity.started_unix_s + 60)
        monkeypatch.setattr(ServerIdentity, "from_row", lambda _row: later)
        assert restoration.warnings()[0].endswith(f"the server was restarted since, so its my.cnf holds: {removes}")


def test_a_dsn_that_leads_to_another_server_is_refused_before_anything_is_set(
    server: MariadbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, a climb went on there, and nobody said so."""
    first = server.tuple_in_force()
    KnownServer(tmp_path, server.account.asked).note(replace(server.identity, hostname="db9"), "climb")
    restoration = MariadbRestoration(server, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(server, "apply", lambda _: pytest.fail("set"))
        with pytest.raises(JournalError, match=r"led to MariaDB .* on db9 for the climb .* leads to .*--forget"):
            restoration.begin("climb", lambda _: None)
    assert restoration.begin("tune", lambda _: None) == first  # which nobody watches, and a switch-over must not end
    restoration.bring_back(lambda _: None)
    assert restoration.another_server() == ""


def test_who_forgets_takes_the_server_for_the_known_one(server: MariadbServer, tmp_path: Path) -> None:
    KnownServer(tmp_path, server.account.asked).note(replace(server.identity, hostname="db9"), "climb")
    restoration = MariadbRestoration(server, tmp_path)
    assert restoration.another_server()
    restoration.forget()
    assert restoration.another_server() == ""
    restoration.close()
