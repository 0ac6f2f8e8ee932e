"""How the minutes are dealt: rounds of a quarter of an hour, and in each a share for every server."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poolpilot.errors import SettingError
from poolpilot.lab.host.programs import missing
from poolpilot.pipelines.learn.learn_settings import Drawn, LearnSettings, Staged

ROUND_MINUTES = 15.0
"""Minutes after which what was learned is judged."""

COLLECTING = 0.8
"""Share of the minutes that is collected in; calibrating, curves and judging take the rest."""

CALIBRATING = 0.08
"""Share of the minutes that calibration may take, where there are live records."""

SHARES: Mapping[Staged, float] = {"native": 3.0, "simulated": 1.0, "mariadb": 3.0, "own": 3.0}
"""How the time of collecting is dealt: a live workload takes a minute, a simulated one less than a second."""

LEAST_MINUTES: Mapping[Drawn, float] = {"simulated": 0.0, "native": 10.0, "mariadb": 20.0}
"""Minutes from which on a server is collected from unless told otherwise."""

ORDER: Sequence[Staged] = ("native", "simulated", "mariadb", "own")
"""Live records come first: the simulator is calibrated to them."""


@dataclass(frozen=True)
class LearningPlan:
    """What is done when.

    Attributes:
        rounds: Number of rounds.
        seconds: Seconds of collecting in every round, by server, in the order of collecting.
        calibrating_s: Seconds of calibrating in every round.
        left_out: Servers that are not collected from, with the reason.
    """

    rounds: int
    seconds: Mapping[Staged, float]
    calibrating_s: float
    left_out: Mapping[Staged, str]

    @classmethod
    def of(cls, settings: LearnSettings) -> "LearningPlan":
        """Deals the minutes.

        Raises:
            SettingError: A server is named that cannot be had.
        """
        known = [server for server in ORDER if server != "own" or settings.dsn is not None]
        reasons = {server: _reason_against(server, settings) for server in known}
        wanted = [server for server in known if not reasons[server]]
        rounds = max(math.ceil(settings.minutes / ROUND_MINUTES), 1)
        round_s = settings.minutes * 60.0 / rounds
        total = sum(SHARES[server] for server in wanted)
        seconds = {server: COLLECTING * round_s * SHARES[server] / total for server in wanted}
        return cls(rounds, seconds, CALIBRATING * round_s, {server: why for server, why in reasons.items() if why})

    def minutes_after(self, number: int, settings: LearnSettings) -> float:
        """Minutes that are over after a round, from 1 on."""
        return settings.minutes * number / self.rounds

    def in_words(self) -> str:
        """The plan as a sentence, and what is left out."""
        dealt = ", ".join(f"{called(server)} {seconds / 60.0:.1f} min" for server, seconds in self.seconds.items())
        rounds = "one round" if self.rounds == 1 else f"{self.rounds} rounds"
        said = [f"{rounds}, each collecting {dealt}"]
        said += [f"not from {called(server)}: {why}" for server, why in self.left_out.items()]
        return "; ".join(said)


def called(server: Staged) -> str:
    """What a server is called in sentences."""
    return "your own server" if server == "own" else server


def _reason_against(server: Staged, settings: LearnSettings) -> str:
    """Why a server is not collected from; empty where it is."""
    if server == "own":
        return "" if settings.execute else "nothing is set there without --execute"
    absent = missing() if server == "mariadb" else []
    if server in settings.servers:
        if absent:
            raise SettingError(
                f"the server mariadb needs programs that are not installed; as root: apt-get install {' '.join(absent)}"
            )
        return ""
    if settings.servers:
        return "it is not among the servers asked for"
    if settings.minutes < LEAST_MINUTES[server]:
        return f"it takes {LEAST_MINUTES[server]:g} minutes at least"
    return f"not installed: {', '.join(absent)}" if absent else ""
