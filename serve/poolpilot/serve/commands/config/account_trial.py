"""The account tried: what it sees and may set, what brings a tuple back when the tuner dies, and what it may cost."""

import stat
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self

from poolpilot.env.knobs import UNKNOWN_CPUS
from poolpilot.errors import JournalError, LostServerError, PoolPilotError, ServerError
from poolpilot.mariadb.actuator import PROCEDURE
from poolpilot.mariadb.control import NO_EXTRA_PORT
from poolpilot.mariadb.identity_query import read_identity
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.restoration.event_lease import check_scheduler
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE, Journal, journal_folder
from poolpilot.mariadb.restoration.mariadb_restoration import MariadbRestoration
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session
from poolpilot.mariadb.tuner_lock import holder_of
from poolpilot.mariadb.variables import MAX_THREADS
from poolpilot.mariadb.wait_events import WAIT_EVENTS_TABLE
from poolpilot.serve.commands.config.held_rights import HeldRights
from poolpilot.serve.commands.config.writable_folder import can_be_written
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.commands.tune.tuner_parts import check_proposed, rules_for
from poolpilot.serve.tuner.machine.decision import Mode

GRANTS = "`poolpilot grants` prints the statements"
ANOTHER_TUNER = "another tuner"

EXTRA_CONNECTIONS = 3


@dataclass(frozen=True, slots=True)
class AccountTrial:
    """Something that was tried.

    Attributes:
        name: What it is.
        found: What was found, in words.
        good: Whether it is as it should be.
        needed: Whether the settings ask for it, so that the tuner would not start, or not do its work, without it.
        remedy: What to do about it; nothing where nothing is to be done.
    """

    name: str
    found: str
    good: bool = True
    needed: bool = False
    remedy: str = ""

    @classmethod
    def of(cls, name: str, found: str, attempt: Callable[[], object], *, needed: bool = True) -> Self:
        """What came of an attempt.

        Args:
            name: What is tried.
            found: What is found where it does well.
            attempt: Tries it; what it raises says why it is not as it should be.
            needed: See the attribute.
        """
        try:
            attempt()
        except PoolPilotError as error:
            return cls(name, str(error), False, needed)
        return cls(name, found)

    @property
    def refuses(self) -> bool:
        """Whether the settings cannot be followed."""
        return self.needed and not self.good

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return asdict(self)


def trials(settings: TuneSettings, server: MariadbServer) -> Iterator[AccountTrial]:
    """Tries everything that a tuner with these settings needs; nothing is set.

    Args:
        settings: The settings of the tuner.
        server: The server, reached by them.

    Raises:
        ServerError: The server is gone.
        SettingError: Settings and server have no value of a knob in common.
    """
    rights = HeldRights.of(server.session)
    yield from _reached(server)
    yield from _kept_secret(settings)
    yield _sets(settings, rights, server)
    yield from _proposed(settings, server)
    yield from _sees(server, rights)
    yield from _alone(settings, server)
    yield from _way_backs(settings, server, rights)
    yield _worst(settings, server)


def _reached(server: MariadbServer) -> Iterator[AccountTrial]:
    (account,) = server.session.row("SELECT CURRENT_USER()")
    yield AccountTrial("server", f"{server.reached}, as {account}; {server.tuple_in_force()} is in force")
    yield _encrypted(server.session)
    yield _extra_port(server)
    cpus = server.cpus
    found = "not known" if cpus is None else f"{cpus:g}"
    yield AccountTrial("processors", found, cpus is not None, remedy="" if cpus else UNKNOWN_CPUS)


def _kept_secret(settings: TuneSettings) -> Iterator[AccountTrial]:
    """Who may read the file that holds the password."""
    file = settings.defaults_file or Dsn.parse(settings.dsn or "").file
    if file is None or not file.is_file():
        return
    mode = stat.S_IMODE(file.stat().st_mode)
    is_open = bool(mode & stat.S_IRWXO)
    remedy = f"everybody on this host may read a password in it: chmod 600 {file}" if is_open else ""
    yield AccountTrial("defaults file", f"{file}, of mode {mode:04o}", not is_open, remedy=remedy)


def _encrypted(session: Session) -> AccountTrial:
    version, remedy = session.tls_version, session.open_to_others()
    found = f"encrypted by {version}" if version else "not encrypted"
    return AccountTrial("connection", found, not remedy, remedy=remedy)


def _extra_port(server: MariadbServer) -> AccountTrial:
    port, slots = server.control.extra_port, int(server.variables["extra_max_connections"].value)
    if port is None:
        why = server.control.warnings[0]
        found = "none" if why == NO_EXTRA_PORT else "there is one, and the tuner is not on it"
        return AccountTrial("extra port", found, False, remedy=why)
    enough = slots >= EXTRA_CONNECTIONS
    remedy = (
        f"set extra_max_connections = {EXTRA_CONNECTIONS} or more: tuner, keeper and a DBA need one connection each"
    )
    found = f"{port}, and the tuner is on it; extra_max_connections = {slots}"
    return AccountTrial("extra port", found, enough, remedy="" if enough else remedy)


def _sets(settings: TuneSettings, rights: HeldRights, server: MariadbServer) -> AccountTrial:
    applies = settings.mode is Mode.APPLY
    if settings.procedure is not None:
        if not rights.hold("EXECUTE", settings.procedure):
            remedy = f"grant EXECUTE on it: {GRANTS}"
            return AccountTrial("setting", f"may not call {settings.procedure}", False, applies, remedy)
        try:
            MariadbRestoration(server).prove(server.tuple_in_force())
        except LostServerError:
            raise
        except ServerError as error:
            return AccountTrial("setting", f"may call {settings.procedure}", False, applies, str(error))
        return AccountTrial("setting", f"may call {settings.procedure}, which takes what is in force")
    may = rights.hold("CONNECTION ADMIN")
    found = f"SET GLOBAL: {'has' if may else 'lacks'} CONNECTION ADMIN"
    by_procedure = "; it may call it: name it with --procedure" if rights.hold("EXECUTE", PROCEDURE) else ""
    remedy = f"least privilege is the procedure {PROCEDURE}{by_procedure or f': {GRANTS}'}"
    return AccountTrial("setting", found, may, applies, "" if may else remedy)


def _proposed(settings: TuneSettings, server: MariadbServer) -> Iterator[AccountTrial]:
    if settings.proposed is None or settings.keeper:
        return
    found = f"the server takes {settings.proposed}"
    yield AccountTrial.of("proposal", found, lambda: check_proposed(settings, server))


def _sees(server: MariadbServer, rights: HeldRights) -> Iterator[AccountTrial]:
    for name, privileges, what in (
        ("other sessions", ("PROCESS",), "backups, changes of tables, holders of locks"),
        ("replication lag", ("SLAVE MONITOR", "REPLICA MONITOR"), "how far a replica is behind"),
    ):
        may = any(rights.hold(privilege) for privilege in privileges)
        found = f"{'seen' if may else 'not seen'}: {what}"
        yield AccountTrial(name, found, may, remedy="" if may else f"grant {privileges[-1]}: {GRANTS}")
    (is_on,) = server.session.row("SELECT @@GLOBAL.performance_schema")
    may = bool(int(is_on)) and rights.hold("SELECT", WAIT_EVENTS_TABLE)
    found = f"performance_schema is {'ON' if int(is_on) else 'OFF'}, wait events are {'seen' if may else 'not seen'}"
    yield AccountTrial("wait events", f"{found}; no decision needs them")


def _alone(settings: TuneSettings, server: MariadbServer) -> Iterator[AccountTrial]:
    holder = holder_of(server.session)
    found = "none" if holder is None else f"at work already: {holder}; a second one would be refused"
    yield AccountTrial(ANOTHER_TUNER, found, holder is None)
    try:
        Journal.find(journal_folder(), read_identity(server.session), server.knobs)
    except JournalError as error:
        yield AccountTrial("left over", str(error), False, settings.mode is Mode.APPLY)
        return
    left = MariadbRestoration(server).warnings() if holder is None else ()
    yield AccountTrial("left over", "; ".join(left) or "nothing", not left)


def _way_backs(settings: TuneSettings, server: MariadbServer, rights: HeldRights) -> Iterator[AccountTrial]:
    """What brings the incumbent back when the tuner dies."""
    applies, folder = settings.mode is Mode.APPLY, journal_folder()
    writes = can_be_written(folder)
    remedy = "" if writes else f"name another folder with {FOLDER_VARIABLE}, the same one for the keeper"
    found = f"chosen, by the journal in {folder}" if writes else f"not possible: no journal can be kept in {folder}"
    yield AccountTrial("after its restart", found, writes, applies, remedy)
    log = settings.folder(server.identity.name)
    logs = can_be_written(log)
    found = f"{'are' if logs else 'cannot be'} kept in {log}"
    yield AccountTrial("decisions", found, logs, True, "" if logs else "name another folder with --log")
    found = "this one is the keeper" if settings.keeper else "a second process on this host; not seen from here"
    yield AccountTrial(
        "by a keeper", found, remedy="" if settings.keeper else "poolpilot tune --keeper with the same DSN"
    )
    yield _event(settings, server, rights)


def _event(settings: TuneSettings, server: MariadbServer, rights: HeldRights) -> AccountTrial:
    """The event is what is left when the host of the tuner and the keeper is gone."""
    chosen = settings.lease == "event"
    said = f"chosen, within {settings.lease_s} s" if chosen else "not chosen"
    schema = (settings.procedure or PROCEDURE).partition(".")[0]
    try:
        check_scheduler(str(server.session.row("SELECT @@GLOBAL.event_scheduler")[0]), server.session.where)
    except ServerError as error:
        return AccountTrial("by an event", f"{said}; the scheduler is not on", False, chosen, str(error))
    if not rights.hold("EVENT", f"{schema}.*"):
        remedy = "`poolpilot grants --lease` prints the statements"
        return AccountTrial("by an event", f"{said}; the account lacks EVENT on {schema}.*", False, chosen, remedy)
    return AccountTrial("by an event", f"{said}, and possible", remedy="" if chosen else "--lease event")


def _worst(settings: TuneSettings, server: MariadbServer) -> AccountTrial:
    envelope = rules_for(settings, server).envelope
    (_, most_size), (_, most_oversubscribe), _ = envelope.ranges
    asked = server.tuple_in_force().with_core((most_size, most_oversubscribe, 1)).active_threads
    threads = asked if envelope.most_threads is None else min(asked, envelope.most_threads)
    memory_mb = threads * int(server.variables["thread_stack"].value) / 2**20
    spans = ", ".join(f"{low}..{high}" for low, high in envelope.ranges)
    most = server.variables[MAX_THREADS].value
    return AccountTrial(
        "at worst",
        f"{threads} threads at work and {memory_mb:.0f} MB of their stacks, and one for each request that waits, up to "
        f"{MAX_THREADS} = {most} in all; size, oversubscribe, limit: {spans}",
    )
