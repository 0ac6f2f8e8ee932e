"""What Ray Serve says of itself is waited for, not its own minute; Ray itself is not started here."""

import warnings
from collections.abc import Iterator

import pytest

from poolpilot.errors import ServerError
from poolpilot.serve.replicas.every_replica import APPLICATION
from poolpilot.serve.service.service_settings import ServeSettings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Ray Serve uses of pydantic what will be gone
    from ray import serve
    from ray.serve._private.common import DeploymentStatus, DeploymentStatusTrigger
    from ray.serve.schema import (
        ApplicationStatus,
        ApplicationStatusOverview,
        DeploymentStatusOverview,
        ProxyStatus,
        ServeStatus,
    )

    from poolpilot.serve.replicas import deployment
    from poolpilot.serve.replicas.deployment import REPLICA, await_all_up, deploy

SETTINGS = ServeSettings(ray=True, replicas=1)
FAILURE = "Traceback (most recent call last):\npoolpilot.errors.SettingError: the file of tokens is empty\n"


def said(application: ApplicationStatus | None, *proxies: ProxyStatus) -> ServeStatus:
    replica = DeploymentStatusOverview(
        DeploymentStatus.UPDATING, DeploymentStatusTrigger.UNSPECIFIED, {}, message=FAILURE
    )
    overview = ApplicationStatusOverview(application, "", 0.0, {REPLICA: replica}) if application else None
    return ServeStatus(
        proxies={f"node-{number}": proxy for number, proxy in enumerate(proxies)},
        applications={APPLICATION: overview} if overview else {},
    )


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[ServeStatus]:
    """What Ray Serve says at each observation; the last for ever."""
    given: list[ServeStatus] = []

    def in_turn() -> Iterator[ServeStatus]:
        yield from given
        while True:
            yield given[-1]

    answers = in_turn()
    monkeypatch.setattr(serve, "status", lambda: next(answers))
    monkeypatch.setattr(deployment, "LOOK_EVERY_S", 0.0)
    return given


def test_it_is_up_when_the_application_runs_and_every_proxy_is_healthy(looks: list[ServeStatus]) -> None:
    looks += [
        said(None),
        said(ApplicationStatus.DEPLOYING, ProxyStatus.HEALTHY),
        said(ApplicationStatus.RUNNING, ProxyStatus.HEALTHY, ProxyStatus.STARTING),
        said(ApplicationStatus.RUNNING, ProxyStatus.HEALTHY, ProxyStatus.HEALTHY),
        said(ApplicationStatus.DEPLOY_FAILED),
    ]
    await_all_up(SETTINGS)
    assert serve.status().applications[APPLICATION].status == ApplicationStatus.DEPLOY_FAILED, "each was waited for"


def test_a_replica_that_fails_is_told_by_its_own_words(looks: list[ServeStatus]) -> None:
    looks += [said(ApplicationStatus.DEPLOYING), said(ApplicationStatus.DEPLOY_FAILED)]
    with pytest.raises(ServerError, match=r"^a replica does not start: the file of tokens is empty$"):
        await_all_up(SETTINGS)


def test_a_proxy_that_never_comes_up_is_not_waited_for_for_ever(
    looks: list[ServeStatus], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deployment, "UP_WITHIN_S", 0.01)
    looks.append(said(ApplicationStatus.RUNNING, ProxyStatus.UNHEALTHY))
    with pytest.raises(ServerError, match=r"does not start on 127\.0\.0\.1 port \d+ \(not up after 0\.01 s\)"):
        await_all_up(SETTINGS)


def test_the_minute_of_ray_serve_is_no_failure(looks: list[ServeStatus], monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(*_: object, **__: object) -> None:
        raise TimeoutError("HTTP proxies not available after 60s.")

    monkeypatch.setattr(serve, "start", too_late)
    monkeypatch.setattr(serve, "run", too_late)
    looks += [
        said(ApplicationStatus.RUNNING, ProxyStatus.STARTING),
        said(ApplicationStatus.RUNNING, ProxyStatus.HEALTHY),
    ]
    deploy(SETTINGS)


def test_a_proxy_that_dies_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def port_is_taken(*_: object, **__: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(serve, "start", port_is_taken)
    with pytest.raises(ServerError, match=r"proxy does not start on .* \(RuntimeError\)"):
        deploy(SETTINGS)
