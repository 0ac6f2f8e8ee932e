"""A server of this project in a process of its own, so that its processor time and memory are nobody else's."""

import multiprocessing
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from poolpilot.env.servers.native import reserve_descriptors
from poolpilot.errors import ServerError
from poolpilot.native_pool import LivePool
from poolpilot.native_pool._core import EchoLoop, QueueRule, QueueSpec

ANSWER_TIMEOUT_S = 30.0
END_TIMEOUT_S = 30.0
REFUSALS = (OSError, RuntimeError, ServerError, ValueError)
"""What a server that cannot be opened or called raises; the text of each is fit to print."""


class Server(Protocol):
    """What listens at an address until it is closed."""

    @property
    def address(self) -> str:
        """Where clients connect."""

    def close(self) -> None:
        """Ends it."""


@dataclass(frozen=True)
class Served:
    """Which server to open, and how.

    Attributes:
        kind: The live pool, or the bare epoll loop that answers without doing anything.
        cpus: Processors it is pinned to, the interpreter around it too.
        descriptors: Descriptors it needs.
        options: Start-up options of `native_pool.LivePool`; its `queues` and `rules` by field.
    """

    kind: Literal["pool", "echo"]
    cpus: tuple[int, ...]
    descriptors: int = 1024
    options: Mapping[str, Any] = field(default_factory=dict)

    def opened(self) -> Server:
        """Starts it in this process, on a free port of loopback."""
        os.sched_setaffinity(0, self.cpus)
        reserve_descriptors(self.descriptors)
        if self.kind == "echo":
            return EchoLoop("tcp:127.0.0.1:0", cpu=self.cpus[0])
        pool = LivePool(cpus=list(self.cpus), **native_options(self.options))
        pool.start()
        return pool


def native_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with queues and rules in the extension's form, which does not pass from process to process."""
    made = {"queues": QueueSpec, "rules": QueueRule}
    return {name: [made[name](**one) for one in value] if name in made else value for name, value in options.items()}


class PoolProcess:
    """A process that serves until this is closed; also a context manager.

    Args:
        served: What to open in it.

    Raises:
        ServerError: It could not be opened.
    """

    def __init__(self, served: Served) -> None:
        context = multiprocessing.get_context("spawn")
        self._told, told = context.Pipe()
        self._process = context.Process(target=serve, args=(served, told), daemon=True)
        self._process.start()
        told.close()
        try:
            self.address: str = self._answer()
        except ServerError:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    def call(self, method: str, **values: Any) -> Any:
        """Calls a method of the server in it, such as `snapshot` of a pool, and returns what it answers.

        Raises:
            ServerError: It refused, or the process has ended.
        """
        try:
            self._told.send((method, values))
        except ConnectionError as error:
            raise ServerError("the process of the server has ended; is there enough memory?") from error
        return self._answer()

    def close(self) -> None:
        """Closes the server and waits for the end of the process, by force if need be."""
        self._told.close()
        self._process.join(END_TIMEOUT_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self) -> Any:
        try:
            if not self._told.poll(ANSWER_TIMEOUT_S):
                raise ServerError(f"the server did not answer within {ANSWER_TIMEOUT_S:g} s; is the host overloaded?")
            refusal, answer = self._told.recv()
        except (EOFError, ConnectionError) as error:
            raise ServerError("the process of the server has ended; is there enough memory?") from error
        if refusal is not None:
            raise ServerError(refusal)
        return answer


def serve(served: Served, told: Connection) -> None:
    """The process: opens the server, tells its address, then calls what it is asked until the other end hangs up."""
    try:
        server = served.opened()
    except REFUSALS as error:
        told.send((f"{error}", None))
        return
    told.send((None, server.address))
    try:
        while True:
            method, values = told.recv()
            try:
                told.send((None, getattr(server, method)(**values)))
            except REFUSALS as error:
                told.send((f"{error}", None))
    except (EOFError, ConnectionError, KeyboardInterrupt):
        server.close()
