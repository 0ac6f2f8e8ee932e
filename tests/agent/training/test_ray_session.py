"""A local Ray of its own, or the one that RAY_ADDRESS names; Ray itself is not started here."""

import os
import signal
import socket
from collections.abc import Iterator
from typing import Any

import pytest
import ray

from poolpilot.agent.training import ray_session as module
from poolpilot.agent.training.ray_session import RaySettings, ray_session
from poolpilot.errors import SettingError

OF_ITS_OWN = {"num_cpus", "object_store_memory", "include_dashboard", "_node_ip_address"}
"""What Ray refuses where it joins another."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What Ray was started with, and the token that it then saw."""
    seen: dict[str, Any] = {}

    def start(**arguments: Any) -> None:
        signal.signal(signal.SIGTERM, lambda *_: None)  # as Ray does
        seen.update(arguments, token=os.environ.get("RAY_AUTH_TOKEN"))

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", start)
    monkeypatch.setattr(module, "_shut_down", lambda: seen.update(ended=True))
    for name in ("RAY_ADDRESS", "RAY_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return seen


@pytest.mark.parametrize("address", [None, "", "local"])
def test_without_an_address_a_local_ray_is_started_in_its_size(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch, address: str | None
) -> None:
    if address is not None:
        monkeypatch.setenv("RAY_ADDRESS", address)
    with ray_session(RaySettings(cpus=3)):
        assert asked["num_cpus"] == 3
        assert asked.keys() >= OF_ITS_OWN
        assert asked["token"]
    assert asked["ended"]


@pytest.fixture
def listening() -> Iterator[str]:
    """The address of somebody who accepts a connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_an_address_in_the_environment_is_joined_as_it_is(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch, listening: str
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", listening)
    with ray_session(RaySettings(cpus=3)):
        assert "logging_level" in asked
        assert not asked.keys() & OF_ITS_OWN
        assert asked["token"] is None
        assert os.environ["RAY_ADDRESS"] == listening
    assert asked["ended"]


def test_a_ray_that_is_to_be_found_is_left_to_ray(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    with ray_session():
        assert not asked.keys() & OF_ITS_OWN


def test_an_address_that_ray_refuses_is_one_sentence(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch, listening: str
) -> None:
    def refuse(**_: Any) -> None:
        raise ConnectionError("Failed to connect to Ray cluster")

    monkeypatch.setattr(ray, "init", refuse)
    monkeypatch.setenv("RAY_ADDRESS", listening)
    with pytest.raises(SettingError, match=f"RAY_ADDRESS is {listening}, but .*unset"), ray_session():
        pytest.fail("there is no Ray")
    assert asked["ended"]


@pytest.mark.parametrize("address", ["127.0.0.1:{free}", "nonsense", "localhost:port"])
def test_an_address_where_nobody_listens_is_one_sentence_at_once(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    monkeypatch.setenv("RAY_ADDRESS", address.format(free=free))
    with pytest.raises(SettingError, match=r"no Ray can be joined there .*; start it, or unset"), ray_session():
        pytest.fail("there is no Ray")
    assert "logging_level" not in asked


@pytest.mark.usefixtures("asked")
def test_afterwards_sigterm_is_as_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with ray_session():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
