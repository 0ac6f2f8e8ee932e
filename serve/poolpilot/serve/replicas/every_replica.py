"""What one replica, or who has started them, asks of every replica that lives."""

from typing import Any

from starlette.concurrency import run_in_threadpool

from poolpilot.errors import PoolPilotError
from poolpilot.serve.replicas.gathered_metrics import GatheredMetrics

APPLICATION = "poolpilot"
"""Its name under Ray Serve."""

PATIENCE_S = 60.0
"""How long replicas are waited for; loading models takes seconds, of a busy processor more."""


class EveryReplica:
    """The replicas of the application in this Ray; see `Peers`."""

    def __init__(self) -> None:
        self._handle: Any = None

    async def renew(self) -> None:
        """Has each load again what it was started with; see `Peers.renew`."""
        failures = {_failure(answer) for answer in await self._answers("renew") if answer is not None}
        if failures:
            raise PoolPilotError("; ".join(sorted(failures)))

    async def metrics(self) -> bytes:
        """The metrics of those that answer; see `Peers.metrics`."""
        answers = await self._answers("collected")
        return GatheredMetrics(dict(answer for answer in answers if isinstance(answer, tuple))).text()

    async def _answers(self, method: str) -> list[Any]:
        """What each answers, or the error of one that does not."""
        from ray import serve
        from ray.exceptions import RayError
        from ray.serve.exceptions import RayServeException

        try:
            if self._handle is None:  # it asks the controller and waits for it, so once and in a thread
                self._handle = await run_in_threadpool(serve.get_app_handle, APPLICATION)
            asked = self._handle.broadcast(method)
            answers: list[Any] = await asked.results_async(timeout_s=PATIENCE_S, return_exceptions=True)
        except (RayError, RayServeException, TimeoutError) as error:
            raise PoolPilotError(f"not every replica has answered within {PATIENCE_S:g} s") from error
        return answers


def _failure(answer: object) -> str:
    """Why a replica is as it was; of one that has died Ray tells more than fits a sentence."""
    return f"a replica did not answer ({type(answer).__name__})" if isinstance(answer, Exception) else str(answer)
