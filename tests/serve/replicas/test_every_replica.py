"""Every replica is asked, and one that does not answer is said."""

import asyncio
import warnings
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter
from ray.exceptions import ActorUnavailableError

from poolpilot.errors import PoolPilotError
from poolpilot.serve.replicas.every_replica import APPLICATION, EveryReplica

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Ray Serve uses of pydantic what will be gone
    from ray import serve
    from ray.serve.exceptions import RayServeException


class Replicas:
    """Stands for Ray's handle of the application; its replicas give what they are told to."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def broadcast(self, method: str) -> "Replicas":
        self.asked.append(method)
        return self

    async def results_async(self, *, timeout_s: float, return_exceptions: bool) -> list[Any]:
        assert timeout_s > 0.0
        assert return_exceptions
        return self.answers


def found(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> Replicas:
    replicas = Replicas(*answers)
    monkeypatch.setattr(serve, "get_app_handle", {APPLICATION: replicas}.__getitem__)
    return replicas


def collected(count: int) -> Any:
    registry = CollectorRegistry()
    Counter("asked", "Questions.", registry=registry).inc(count)
    return list(registry.collect())


def test_all_have_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    replicas = found(monkeypatch, None, None)
    asyncio.run(EveryReplica().renew())
    assert replicas.asked == ["renew"]


def test_what_one_could_not_load_is_said_once_and_that_another_did_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "there is no model in /srv"
    found(monkeypatch, None, missing, ActorUnavailableError("two\nlines", None), missing)
    with pytest.raises(PoolPilotError) as refused:
        asyncio.run(EveryReplica().renew())
    assert str(refused.value) == f"a replica did not answer (ActorUnavailableError); {missing}"


def test_metrics_are_of_those_that_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, ("a", collected(1)), TimeoutError(), ("b", collected(2)))
    lines = asyncio.run(EveryReplica().metrics()).decode().splitlines()
    totals = [line for line in lines if line.startswith("asked_total{")]
    assert totals == ['asked_total{replica="a"} 1.0', 'asked_total{replica="b"} 2.0']


def test_an_application_that_is_gone_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_: str) -> None:
        raise RayServeException("does not exist")

    monkeypatch.setattr(serve, "get_app_handle", gone)
    with pytest.raises(PoolPilotError, match="not every replica has answered"):
        asyncio.run(EveryReplica().metrics())
