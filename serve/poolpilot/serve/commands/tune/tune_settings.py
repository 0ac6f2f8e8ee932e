"""Settings of `poolpilot tune`."""

import re
from contextlib import AbstractContextManager
from operator import attrgetter
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict
from typing_extensions import override

from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.env.tuning.backends import Backend
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.restoration.event_lease import LEAST_S, MOST_S, silence_s
from poolpilot.mariadb.restoration.journal import journal_folder
from poolpilot.mariadb.server.watch_settings import WatchSettings
from poolpilot.serve.commands.options.remote_options import RemoteOptions
from poolpilot.serve.commands.options.target_options import option
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.guard.hours import Hours
from poolpilot.serve.tuner.guard.written_core import written_core
from poolpilot.serve.tuner.machine.decision import Mode

WINDOW_S, MARIADB_WINDOW_S = 1.0, 5.0
LEAST_WINDOW_S, MOST_WAIT_S = 0.1, 3600.0
SETTLE_S, MARIADB_SETTLE_S = 0.2, 1.0
DISTURBANCES_EVERY_S = 1.0

WITHOUT_A_DSN = ("backend", "server", "family", "seed", "workload")
"""Settings that name what is tuned in the place of a DSN."""

LEAST_PAIRS, MOST_PAIRS = "pace.least_pairs", "pace.most_pairs"
IN_ORDER = (
    ("guard.least_size", "guard.most_size"),
    ("guard.least_stall_limit_ms", "guard.most_stall_limit_ms"),
    (LEAST_PAIRS, MOST_PAIRS),
)
"""Settings of which the first may not be above the second."""


class TuneSettings(RemoteOptions):
    """What the tuner may do, and to which server."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_TUNE_", allow_inf_nan=False)

    backend: Backend | None = option(None, "native, simulated or curve: a pool to see a tuner at work.")
    mode: Mode = option(Mode.ADVISE, "observe, advise (sets nothing) or apply.")
    seconds: float | None = option(None, "How long it tunes; until it is ended if not given.", low=1.0)
    window: float | None = option(None, "Seconds of a window: 1, MariaDB 5.", low=LEAST_WINDOW_S, high=MOST_WAIT_S)
    settle: float | None = option(None, "Seconds dropped after a change: 0.2, MariaDB 1.", low=0.0, high=MOST_WAIT_S)
    hours: tuple[str, ...] = option(
        (), "When it may change anything: nights, 'weekdays 01:00-05:00'; repeat it for more."
    )
    approve: bool = option(False, "Wait for a person's approval of every step.")
    model: Path | None = option(None, "What was learned, or a network (`network`: the shipped one).")
    follow_every_s: float = Field(
        default=10.0,
        ge=0.0,
        le=86_400.0,
        description="Seconds between two checks whether another model lies there, which then proposes; 0 never checks.",
    )
    challenger: Path | None = option(
        None, "Also ask this model and log what it would do; it never acts. See `why --shadow`."
    )
    propose: str | None = option(None, "Try this configuration instead of asking: size,oversubscribe,stall limit.")
    log: Path | None = option(None, "Where decisions are kept; beside the journals if not given.")
    outcomes: Path | None = option(None, "Also keep what became of trials, for `poolpilot learn --outcomes FOLDER`.")
    page: int | None = Field(
        default=None,
        ge=0,
        le=65_535,
        description="Show its decisions in a browser, on this port of loopback; 0 is any that is free.",
    )
    watch: bool = option(False, "Show state, throughput and decisions on a screen.")
    at_end: Literal["incumbent", "initial"] = option(
        "incumbent", "What is in force at its end: the incumbent, or the initial configuration (what it found)."
    )
    most_replica_lag_s: float = Field(
        default=10.0, ge=0.0, description="Replication lag in seconds beyond which nothing is changed."
    )
    keeper: bool = option(
        False,
        "Only watch that what a tuner on this host leaves behind, should it die, is rolled back.",
    )
    lease: Literal["none", "event"] = option(
        "none", "Also keep a lease in the database, should this host vanish: none, or event (its scheduler)."
    )
    lease_s: int = Field(
        default=20, ge=LEAST_S, le=MOST_S, description="Seconds of silence after which the lease rolls a trial back."
    )
    guard: GuardSettings = GuardSettings()
    pace: PaceSettings = PaceSettings()

    @field_validator("hours")
    @classmethod
    def _are_hours(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        try:
            for text in texts:
                Hours.parse(text)
        except SettingError as error:
            raise ValueError(str(error)) from error
        return texts

    @field_validator("propose")
    @classmethod
    def _is_a_tuple(cls, text: str | None) -> str | None:
        if text is not None and written_core(text) is None:
            raise ValueError("write three whole numbers, such as 16,3,10: size, oversubscribe, stall limit in ms")
        return text

    @property
    def proposed(self) -> PoolTuple | None:
        """The configuration that is tried instead of asking."""
        core = None if self.propose is None else written_core(self.propose)
        return None if core is None else PoolTuple(*core)

    @property
    def measurement(self) -> MeasurementSettings:
        """How a window is measured."""
        mariadb = self.dsn is not None
        window_s = self.window or (MARIADB_WINDOW_S if mariadb else WINDOW_S)
        default_s = MARIADB_SETTLE_S if mariadb else SETTLE_S
        settle_s = default_s if self.settle is None else self.settle
        return MeasurementSettings(settle_s=settle_s, max_settle_s=max(settle_s, 2.0), window_s=window_s)

    def check(self) -> None:
        """Refuses settings that contradict one another.

        Raises:
            SettingError: They do; the text says which.
        """
        super().check()
        for least, most in IN_ORDER:
            check_in_order(self, least, most)
        if self.keeper and self.dsn is None:
            raise SettingError("--keeper watches over a MariaDB server, which outlives the tuner: name it by its DSN")
        if self.remote is not None and (self.model is not None or self.propose is not None):
            raise SettingError("--remote asks a service: leave out --model and --propose")
        if self.remote is not None and self.outcomes is not None:
            raise SettingError("--remote reports to the service, which may keep outcomes: leave out --outcomes")
        if self.keeper and self.page is not None:
            raise SettingError("--keeper decides nothing that a page could show: leave out --page")
        if self.lease == "event" and (self.dsn is None or self.mode is not Mode.APPLY):
            raise SettingError(
                "--lease event is for --mode apply on a MariaDB server that a DSN names: else leave it out"
            )
        if self.lease == "event" and self.remote is not None and self.remote_deadline_s >= silence_s(self.lease_s):
            raise SettingError(
                f"remote_deadline_s is {self.remote_deadline_s:g}, and the server ends the connection of a tuner "
                f"that is silent for {silence_s(self.lease_s)} s under lease_s {self.lease_s}: shorten the one, or "
                "lengthen the other"
            )

    def check_named(self) -> None:
        """Refuses to tune where nobody has said what: a server, or what a pool of its own is to be loaded with.

        Other commands run a pool and a load of their own then. A tuner whose DSN is missing would do so on a host of
        production for as long as it runs.

        Raises:
            SettingError: Nothing is named.
        """
        if self.dsn is None and self.model_fields_set.isdisjoint(WITHOUT_A_DSN):
            raise SettingError(
                "no server is named: give the DSN of a MariaDB server, such as S=/run/mysqld/mysqld.sock (dsn in the "
                "file), --server for a pool of your own, or --backend simulated to see a tuner at work"
            )

    @override
    def opened(self) -> AbstractContextManager[Target]:
        """The server for the duration of a block, with the lease that is asked for; see `TargetOptions.opened`.

        Windows look for disturbances too: what has begun and ended within one is not there any more when it is over.
        """
        watch = WatchSettings(disturbances_every_s=DISTURBANCES_EVERY_S, most_replica_lag_s=self.most_replica_lag_s)
        return self._opened(None if self.lease == "none" else self.lease_s, watch)

    def folder(self, server: str) -> Path:
        """Where the decisions about a server are kept, by its own name (`Target.own_name`)."""
        return self.log or journal_folder() / "decisions" / re.sub(r"[^\w.-]+", "-", server).strip("-")


def check_in_order(settings: ProgramSettings, least: str, most: str) -> None:
    """Refuses a least value above the greatest one; both are named with dots.

    Raises:
        SettingError: It is.
    """
    low, high = attrgetter(least, most)(settings)
    if low > high:
        raise SettingError(f"{least} is {low}, above {most}, which is {high}: lower the one, or raise the other")
