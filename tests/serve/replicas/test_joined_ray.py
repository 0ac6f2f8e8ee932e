"""A Ray in which the service cannot run as it says is refused; Ray itself is not started here."""

from typing import Any

import pytest
import ray

from poolpilot.errors import ServerError, SettingError
from poolpilot.serve.replicas.joined_ray import check_room, check_unused
from poolpilot.serve.service.service_settings import ServeSettings


def node(cpus: float, *, alive: bool = True) -> dict[str, Any]:
    return {"Alive": alive, "Resources": {"CPU": cpus} if cpus else {}}


@pytest.mark.parametrize(
    ("replicas", "per_node", "room"),
    [(6, None, 6), (7, None, 6), (2, 1, 2), (3, 1, 2), (5, 3, 5), (6, 3, 5)],
)
def test_replicas_must_find_a_processor_each(
    monkeypatch: pytest.MonkeyPatch, replicas: int, per_node: int | None, room: int
) -> None:
    monkeypatch.setattr(ray, "nodes", lambda: [node(4.0), node(2.5), node(0.0), node(8.0, alive=False)])
    settings = ServeSettings(ray=True, replicas=replicas, replicas_per_node=per_node)
    if replicas <= room:
        check_room(settings)
        return
    with pytest.raises(SettingError, match=rf"replicas is {replicas}, .*\(3 nodes\) has room for {room}:"):
        check_room(settings)


def test_a_ray_serve_that_runs_already_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "get_actor", lambda name, namespace: (name, namespace))
    with pytest.raises(ServerError, match="runs Ray Serve already"):
        check_unused()


def test_a_ray_without_ray_serve_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, namespace: str) -> None:
        raise ValueError(f"no actor {name} in {namespace}")

    monkeypatch.setattr(ray, "get_actor", missing)
    check_unused()
