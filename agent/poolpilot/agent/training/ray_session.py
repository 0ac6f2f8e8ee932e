"""Ray for a training run: a local one, started and always shut down, or one that runs already at some address."""

import functools
import gc
import logging
import os
import secrets
import signal
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import ray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.errors import SettingError

KILLED_TIMEOUT_S = 60.0
"""How long the end of a killed process is waited for."""


ADDRESS = "RAY_ADDRESS"
"""Ray's own variable for the address of one that already runs."""

LOCAL = "local"
"""The address by which Ray starts one of its own, whatever RAY_ADDRESS says."""

FOUND = "auto"
"""The address by which Ray looks for one on this host itself."""

REACHED_WITHIN_S = 5.0
"""How long a Ray may take to accept a connection; Ray itself would try for more than ten minutes."""


class RaySettings(BaseModel):
    """Which Ray is used, and how large a local one may grow; one that is joined has its own size."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    address: str | None = Field(
        default=None,
        description="Address of a Ray to join, such as 10.0.0.5:6379, or auto for one on this host, or local to start "
        "one; if not given RAY_ADDRESS, else a local one.",
    )
    cpus: int = Field(default=2, ge=1, description="CPUs Ray may plan with; logical, it pins nothing.")
    object_store_bytes: int = Field(default=1_000_000_000, ge=100_000_000, description="Memory of the object store.")


@functools.cache
def _token() -> str:
    """Returns this process's token: Ray reads it once and keeps it, so a second session must show the same one."""
    return secrets.token_hex(32)


@contextmanager
def _environment(*, joined: bool) -> Iterator[None]:
    """Sets the variables of a session and afterwards restores them and those that Ray itself sets.

    RAY_AUTH_MODE stays unset: then Ray turns token authentication on and tells its native part so; set here, after
    Ray was imported, the native part would never learn of it. A token in the environment keeps Ray from writing one
    into the home; a Ray that is joined has its own, if any, which the user sets.
    """
    session = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DATA_DISABLE_PROGRESS_BARS": "1"}
    session |= {} if joined else {"RAY_AUTH_TOKEN": _token()}
    before = {name: os.environ.get(name) for name in (*session, "RAY_AUTH_MODE", "PYTHONBREAKPOINT")}
    os.environ.update({name: value for name, value in session.items() if before[name] is None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps Ray's hints, progress, deprecated settings and registering anew off the terminal; errors get through."""
    loggers = [logging.getLogger(name) for name in ("ray", "ray.data", "ray.rllib")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"ray\.")
            warnings.filterwarnings("ignore", message=r".*Overriding environment rllib-", category=UserWarning)
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def _sigterm_as_before() -> Iterator[None]:
    """Takes away the handler that Ray puts on SIGTERM and leaves there; only the main thread may, and Ray likewise."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _shut_down() -> None:
    """Stops Ray and waits until its processes are gone; on a busy machine Ray itself kills them and leaves zombies.

    What still refers to Ray goes first: its iterators complain where they are collected after the end.
    """
    gc.collect()
    node: Any = ray._private.worker._global_node
    processes = [] if node is None else [started.process for kind in node.all_processes.values() for started in kind]
    ray.shutdown()
    for process in processes:
        process.wait(KILLED_TIMEOUT_S)


def _joined(settings: RaySettings) -> str | None:
    """Address of the Ray to join; None to start one."""
    address = settings.address or os.environ.get(ADDRESS)
    return address if address and address != LOCAL else None


def _start(settings: RaySettings, joined: str | None) -> None:
    quiet: dict[str, Any] = {"configure_logging": False, "log_to_driver": False, "logging_level": logging.ERROR}
    if joined is None:
        ray.init(
            address=LOCAL,
            num_cpus=settings.cpus,
            include_dashboard=False,
            object_store_memory=settings.object_store_bytes,
            _node_ip_address="127.0.0.1",
            **quiet,
        )
        return
    try:
        _reach(joined)
        ray.init(address=joined, **quiet)
    except (OSError, ValueError) as error:
        named, remedy = ("the address of Ray", "give local") if settings.address else (ADDRESS, "unset the variable")
        raise SettingError(
            f"{named} is {joined}, but no Ray can be joined there ({error}); start it, or {remedy} to start a local one"
        ) from error


def _reach(address: str) -> None:
    """Fails with an OSError or a ValueError where nobody accepts a connection."""
    if address == FOUND:
        return
    parts = urlsplit(address if "://" in address else f"//{address}")
    if parts.hostname is None or parts.port is None:
        raise ValueError("it is no host:port")
    socket.create_connection((parts.hostname, parts.port), REACHED_WITHIN_S).close()


@contextmanager
def ray_session(settings: RaySettings | None = None) -> Iterator[None]:
    """Runs Ray for the duration of the block; joins a Ray that already runs in this process.

    It is a local one without dashboard, unless the settings or RAY_ADDRESS name another.

    Args:
        settings: Address of the Ray to join, or size of the local one; the defaults fit two cores.

    Raises:
        SettingError: No Ray answers at the address.
    """
    if ray.is_initialized():
        yield
        return
    settings = settings or RaySettings()
    joined = _joined(settings)
    with _environment(joined=joined is not None), _quiet(), _sigterm_as_before():
        try:
            _start(settings, joined)
            yield
        finally:
            _shut_down()
