"""What a service that is one of several asks of all of them."""

from typing import Protocol


class Peers(Protocol):
    """All processes of a service, the one that asks among them."""

    async def renew(self) -> None:
        """Has each load again what it was started with.

        Raises:
            PoolPilotError: One could not, or did not answer, and is as it was; the text says why.
        """

    async def metrics(self) -> bytes:
        """The metrics of all, in the text format of Prometheus.

        Raises:
            PoolPilotError: They could not be asked.
        """
        ...
