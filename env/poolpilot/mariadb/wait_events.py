"""Wait events of performance_schema, where it is on and the account may see them: files, table locks, mutexes."""

from poolpilot.errors import LostServerError, ServerError
from poolpilot.featurizer.measures import WAIT_EVENTS
from poolpilot.mariadb.session import Session

WAIT_EVENTS_TABLE = "performance_schema.events_waits_summary_global_by_event_name"

INSTRUMENTS = {"file": "wait/io/file/%", "lock": "wait/lock/%", "synch": "wait/synch/%"}
"""Kind of wait event to the names of its instruments."""

PICOSECONDS_PER_US = 1e6

WAIT_EVENTS_QUERY = (
    "SELECT "
    + ", ".join(
        f"SUM(IF(EVENT_NAME LIKE '{INSTRUMENTS[kind]}', {column}, 0))"
        for kind in WAIT_EVENTS
        for column in ("COUNT_STAR", "SUM_TIMER_WAIT")
    )
    + f" FROM {WAIT_EVENTS_TABLE}"
)


def sees_wait_events(session: Session) -> bool:
    """Whether the server counts wait events and shows them to the account.

    Raises:
        LostServerError: It is gone.
    """
    if not session.row("SELECT @@performance_schema")[0]:
        return False
    try:
        session.row(f"SELECT 1 FROM {WAIT_EVENTS_TABLE} LIMIT 1")
    except LostServerError:
        raise
    except ServerError:
        return False
    return True


def read_wait_events(session: Session) -> dict[str, float]:
    """Reads counts and times of the kinds of which there was any; of the others the instruments may be off."""
    row = session.row(WAIT_EVENTS_QUERY)
    counters: dict[str, float] = {}
    for place, kind in enumerate(WAIT_EVENTS):
        count, picoseconds = row[2 * place : 2 * place + 2]
        if count:
            counters[f"events_{kind}"] = float(count)
            counters[f"events_{kind}_us"] = float(picoseconds) / PICOSECONDS_PER_US
    return counters
