"""The statements that give a tuner what it needs and no more; a DBA reads them and runs them."""

from poolpilot.errors import SettingError
from poolpilot.mariadb.actuator import LEAST_STALL_LIMIT_MS, PROCEDURE, checked_procedure

QUOTES = ("'", '"', "`")
"""What may stand around the name and around the host of an account, as MariaDB shows and takes them."""

OBSERVER = """\
-- To observe: nothing but a login. MariaDB shows its pool's counters to every account.
-- A new account is locked until it has a password. Choose one, and write it under [client], beside user and socket or
-- host, into a file of mode 0600:
--   ALTER USER {tuner} IDENTIFIED BY '...' ACCOUNT UNLOCK;
CREATE USER IF NOT EXISTS {tuner} WITH MAX_USER_CONNECTIONS 6 ACCOUNT LOCK;
GRANT USAGE ON *.* TO {tuner};
-- For wait events too, where performance_schema is on:
--   GRANT SELECT ON performance_schema.events_waits_summary_global_by_event_name TO {tuner};
-- To see who holds a lock that others wait for, backups and changes of tables (poolpilot check, and tune, which sets
-- nothing meanwhile), and on a replica how far it is behind:
--   GRANT PROCESS ON *.* TO {tuner};
--   GRANT REPLICA MONITOR ON *.* TO {tuner};   -- REPLICATION REPLICA ADMIN before 10.5.9
"""

LEAST = """\
-- To set, least privilege: the tuner may call one procedure, which checks the ranges inside the database.
-- The account that owns the privilege is locked: nobody can log in as it.
CREATE DATABASE IF NOT EXISTS {schema};
CREATE USER IF NOT EXISTS {owner} ACCOUNT LOCK;
GRANT CONNECTION ADMIN ON *.* TO {owner};
SET SESSION sql_mode = 'STRICT_ALL_TABLES';
DELIMITER //
CREATE OR REPLACE DEFINER = {owner} PROCEDURE {procedure}(
  IN wanted_size INT, IN wanted_oversubscribe INT, IN wanted_stall_limit INT)
  MODIFIES SQL DATA
  SQL SECURITY DEFINER
  COMMENT 'PoolPilot: sets the core of the thread pool within its ranges'
BEGIN
  -- A limit that was lowered meanwhile does not keep the pool from asking for fewer threads than it does.
  IF wanted_size IS NULL OR wanted_size NOT BETWEEN {least_size} AND {most_size}
    OR wanted_oversubscribe IS NULL OR wanted_oversubscribe NOT BETWEEN 1 AND {most_oversubscribe}
    OR wanted_stall_limit IS NULL OR wanted_stall_limit NOT BETWEEN {least_stall_limit} AND {most_stall_limit}
    OR wanted_size * (1 + wanted_oversubscribe) > GREATEST(@@GLOBAL.thread_pool_max_threads,
      @@GLOBAL.thread_pool_size * (1 + @@GLOBAL.thread_pool_oversubscribe)) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'pool setting outside the allowed range';
  END IF;
  -- What adds capacity first, what takes it away last. What does not differ is not set: a stall limit that is set
  -- anew, to the same value too, restarts the timer of the pool.
  IF wanted_size > @@GLOBAL.thread_pool_size THEN SET GLOBAL thread_pool_size = wanted_size; END IF;
  IF wanted_oversubscribe > @@GLOBAL.thread_pool_oversubscribe THEN
    SET GLOBAL thread_pool_oversubscribe = wanted_oversubscribe;
  END IF;
  IF wanted_stall_limit <> @@GLOBAL.thread_pool_stall_limit THEN
    SET GLOBAL thread_pool_stall_limit = wanted_stall_limit;
  END IF;
  IF wanted_oversubscribe < @@GLOBAL.thread_pool_oversubscribe THEN
    SET GLOBAL thread_pool_oversubscribe = wanted_oversubscribe;
  END IF;
  IF wanted_size < @@GLOBAL.thread_pool_size THEN SET GLOBAL thread_pool_size = wanted_size; END IF;
END//
DELIMITER ;
GRANT EXECUTE ON PROCEDURE {procedure} TO {owner};
GRANT EXECUTE ON PROCEDURE {procedure} TO {tuner};
-- In case it was granted before: with it the checks of the procedure would bind nobody.
REVOKE CONNECTION ADMIN ON *.* FROM {tuner};
"""

LEASE = """\
-- To keep a lease in the database (poolpilot tune --lease event): an event in this schema, which runs with the tuner's
-- own rights and brings back what was verified when the tuner is gone. The scheduler must be on, in my.cnf too:
--   SET GLOBAL event_scheduler = ON;
CREATE DATABASE IF NOT EXISTS {schema};
GRANT EVENT ON {schema}.* TO {tuner};
"""

TLS = """\
-- To be let in over TLS alone, on a socket of its host too:
ALTER USER {tuner} REQUIRE SSL;
"""

PLAIN = """\
-- To set, plainly: CONNECTION ADMIN. It also lets the account kill the connections of others, set max_connections
-- and pass its limit, so prefer the procedure.
GRANT CONNECTION ADMIN ON *.* TO {tuner};
"""


def grants(
    *,
    tuner: str = "poolpilot@localhost",
    owner: str = "poolpilot_owner@localhost",
    procedure: str = PROCEDURE,
    plain: bool = False,
    lease: bool = False,
    require_tls: bool = False,
    sizes: tuple[int, int] = (1, 128),
    most_oversubscribe: int = 64,
    stall_limits_ms: tuple[int, int] = (LEAST_STALL_LIMIT_MS, 6000),
) -> dict[str, str]:
    """The statements by purpose: `observe`, `procedure` (least privilege) or `set_global`, perhaps `lease` and `tls`.

    Args:
        tuner: Account that PoolPilot logs in as: name@host, or as MariaDB shows it, 'name'@'host'.
        owner: Locked account that owns the privilege.
        procedure: Schema and name of the procedure.
        plain: Give the tuner CONNECTION ADMIN instead of the procedure.
        lease: Let the tuner keep a lease in the database.
        require_tls: Let the tuner in over TLS alone.
        sizes: Least and greatest pool size that the procedure takes.
        most_oversubscribe: Greatest oversubscribe that it takes.
        stall_limits_ms: Least and greatest stall limit that it takes, in milliseconds.

    Raises:
        SettingError: A name is no account or procedure, or a range is empty.
    """
    _check_range("pool size", *sizes)
    _check_range("oversubscribe", 1, most_oversubscribe)
    _check_range("stall limit", *stall_limits_ms)
    values = {
        "tuner": _quoted_account(tuner),
        "owner": _quoted_account(owner),
        "procedure": checked_procedure(procedure),
        "schema": procedure.partition(".")[0],
        "least_size": sizes[0],
        "most_size": sizes[1],
        "most_oversubscribe": most_oversubscribe,
        "least_stall_limit": stall_limits_ms[0],
        "most_stall_limit": stall_limits_ms[1],
    }
    texts = {"observe": OBSERVER, **({"set_global": PLAIN} if plain else {"procedure": LEAST})}
    if lease:
        texts["lease"] = LEASE
    if require_tls:
        texts["tls"] = TLS
    return {purpose: text.format(**values) for purpose, text in texts.items()}


def _check_range(what: str, least: int, most: int) -> None:
    if least > most:
        raise SettingError(
            f"the procedure would take no {what}, since the least one, {least}, is above the greatest, {most}: "
            "name a least one that is no greater"
        )


def _quoted_account(account: str) -> str:
    """`name@host` as an account in backquotes; a backquote inside is doubled. A name may hold @, a host does not."""
    name, at, host = account.rpartition("@")
    parts = [_unquoted(part) for part in ((name, host) if at else (host, ""))]
    if not parts[0] or any(part[:1] in QUOTES or part[-1:] in QUOTES for part in parts if part):
        raise SettingError(f"{account!r} is no account: write name@host, such as poolpilot@10.%")
    return "@".join(f"`{part.replace('`', '``')}`" for part in (parts[0], parts[1] or "%"))


def _unquoted(part: str) -> str:
    quoted = len(part) > 1 and part[0] == part[-1] and part[0] in QUOTES
    return part[1:-1] if quoted else part
