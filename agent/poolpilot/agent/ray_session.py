"""One local Ray, started for a training run and always shut down."""

import functools
import logging
import os
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from pydantic import BaseModel, ConfigDict, Field

KILLED_TIMEOUT_S = 60.0
"""How long the end of a killed process is waited for."""


class RaySettings(BaseModel):
    """How large the local Ray may grow."""

    model_config = ConfigDict(frozen=True)

    cpus: int = Field(default=2, ge=1, description="CPUs Ray may plan with; logical, it pins nothing.")
    object_store_bytes: int = Field(default=1_000_000_000, ge=100_000_000, description="Memory of the object store.")


@functools.cache
def _token() -> str:
    """Returns this process's token: Ray reads it once and keeps it, so a second session must show the same one."""
    return secrets.token_hex(32)


@contextmanager
def _environment() -> Iterator[None]:
    """Sets the variables of a session and afterwards restores them and those that Ray itself sets.

    RAY_AUTH_MODE stays unset: then Ray turns token authentication on and tells its native part so; set here, after
    Ray was imported, the native part would never learn of it. A token in the environment keeps Ray from writing one
    into the home.
    """
    session = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DATA_DISABLE_PROGRESS_BARS": "1", "RAY_AUTH_TOKEN": _token()}
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


def _shut_down() -> None:
    """Stops Ray and waits until its processes are gone; on a busy machine Ray itself kills them and leaves zombies."""
    node: Any = ray._private.worker._global_node
    processes = [] if node is None else [one.process for kind in node.all_processes.values() for one in kind]
    ray.shutdown()
    for process in processes:
        process.wait(KILLED_TIMEOUT_S)


@contextmanager
def ray_session(settings: RaySettings | None = None) -> Iterator[None]:
    """Runs a local Ray without dashboard for the duration of the block; joins a Ray that already runs.

    Args:
        settings: Size of the local Ray; the defaults fit two cores.
    """
    if ray.is_initialized():
        yield
        return
    chosen = settings or RaySettings()
    with _environment(), _quiet():
        try:
            ray.init(
                num_cpus=chosen.cpus,
                include_dashboard=False,
                object_store_memory=chosen.object_store_bytes,
                _node_ip_address="127.0.0.1",
                configure_logging=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
            yield
        finally:
            _shut_down()
