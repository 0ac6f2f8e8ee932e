"""What commands write with --json, `advise` and POST /v1/predict take, or they refuse it in one sentence."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from poolpilot.lab.instance import Lab
from poolpilot.lab.sysbench_families import named_workload
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.body import REQUEST
from poolpilot.models.champion import CHAMPIONS, load_any_machine, load_champion
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.observations.wait_rules import DIGEST
from poolpilot.serve.commands.act import sweep_command
from poolpilot.serve.service.application import create_app

QUICK_SEARCH = ("--rounds", 2, "--set", "random_rounds=2", "--set", "method=random")
EMBEDDED = {
    "climb of the pool": ("climb", "--backend", "native", "--seconds", 1, "--period", 0.1),
    "climb of the simulated pool": ("climb", "--backend", "simulated", "--seconds", 5),
    "warm climb": ("climb", "--backend", "simulated", "--warm", "--seconds", 5),
    "search of the simulated pool": ("climb", "--search", "--backend", "simulated", *QUICK_SEARCH),
}
MARIADB = {
    "advise": ("--seconds", 1),
    "climb": ("--execute", "--seconds", 1, "--period", 0.2),
    "climb --search": ("--execute", *QUICK_SEARCH, "--period", 0.2),
    "climb --sweep": ("--execute", "--period", 0.2, "--set", "repeats=1"),
}
CURVES = {
    "climb": ("climb", "--backend", "curve", "--seconds", 5),
    "search": ("climb", "--search", "--backend", "curve", *QUICK_SEARCH),
}


@dataclass(frozen=True)
class Readers:
    """Everything that reads a file of a command."""

    invoke: Callable[..., Any]
    client: TestClient
    folder: Path

    def written_by(self, *arguments: object) -> Path:
        path = self.folder / "written.json"
        result = self.invoke(*arguments, "--json", path)
        assert (result.code, result.err) == (0, "")
        return path

    def predicted(self, path: Path) -> dict[str, Any]:
        """What the command says of a file and the service of the request in it, which must be the same."""
        answer = self.folder / "answer.json"
        result = self.invoke("advise", "--windows", path, "--json", answer)
        assert (result.code, result.err) == (0, "")
        told: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        posted = self.posted(path)
        assert posted.status_code == 200
        assert told == {name: value for name, value in posted.json().items() if name != "schema_version"}
        networks = (load_any_machine(), *(load_champion(kind=kind) for kind in CHAMPIONS))
        digests = {load_curves().digest, DIGEST, *(network.digest for network in networks)}
        assert told["model_digest"] in digests
        return told

    def posted(self, path: Path) -> Any:
        headers = {"content-type": "application/json"}
        whole = self.client.post("/v1/predict", content=path.read_bytes(), headers=headers)
        if whole.status_code != 413:  # a long climb tells more than a service takes
            return whole
        return self.client.post("/v1/predict", json=json.loads(path.read_text(encoding="utf-8"))[REQUEST])

    def simulated(self, path: Path) -> Any:
        return self.invoke("advise", "--simulate", path, "--set", "requests=2000")

    def is_not_simulated(self, path: Path, says: str) -> None:
        """A file is refused in one sentence, which says this."""
        result = self.simulated(path)
        assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
        assert says in result.err


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    patch = pytest.MonkeyPatch()
    for _, variable in CHAMPIONS.values():
        patch.delenv(variable, raising=False)
    with TestClient(create_app(Advisor.load())) as client:
        yield client
    patch.undo()


@pytest.fixture
def readers(invoke: Callable[..., Any], client: TestClient, tmp_path: Path) -> Readers:
    return Readers(invoke, client, tmp_path)


@pytest.mark.parametrize("writer", EMBEDDED.values(), ids=EMBEDDED)
def test_what_is_written_of_the_embedded_pool_is_taken_everywhere(readers: Readers, writer: tuple[object, ...]) -> None:
    path = readers.written_by(*writer)
    told = readers.predicted(path)
    reached = json.loads(path.read_text(encoding="utf-8"))[REQUEST]["windows"][-1]["pool_tuple"]
    assert told["in_force"] == reached
    simulated = readers.simulated(path)
    assert (simulated.code, simulated.err) == (0, "")
    assert "goodput, simulated" in simulated.out


@pytest.mark.parametrize("writer", CURVES.values(), ids=CURVES)
def test_what_is_written_of_a_curve_is_refused_by_name(readers: Readers, writer: tuple[object, ...]) -> None:
    path, says = readers.written_by(*writer), "server_kind is 'curve', and no model has learned from such servers"
    predicted = readers.invoke("advise", "--windows", path)
    assert (predicted.code, predicted.out, predicted.err.count("\n")) == (1, "", 1)
    assert says in predicted.err
    posted = readers.posted(path)
    assert posted.status_code == 422
    assert says in posted.json()["detail"]
    readers.is_not_simulated(path, "the profile lacks process_cpu_us_per_request")


@pytest.fixture(scope="module")
def busy(loaded_lab: Lab) -> Iterator[str]:
    """DSN of a server under short requests beside long ones."""
    with SqlLoad(named_workload("joins_beside-8-0"), loaded_lab.load_file, loaded_lab.dataset):
        yield f"F={loaded_lab.defaults_file}"


@pytest.mark.parametrize(("command", "options"), MARIADB.items(), ids=MARIADB)
def test_what_is_written_of_a_mariadb_is_predicted_and_not_simulated(
    readers: Readers, busy: str, command: str, options: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the latencies of its clients nobody can tell how long its requests wait."""
    monkeypatch.setattr(sweep_command, "grid_tuples", lambda _, first: [first, first.with_core((8, 3, 10))])
    path = readers.written_by(*command.split(), busy, *options)
    readers.is_not_simulated(path, "the window of a mariadb server tells neither the latency of requests (classes)")
    readers.predicted(path)


def test_what_a_load_writes_is_taken_everywhere(readers: Readers, loaded_lab: Lab) -> None:
    load = ("lab", "load", "--folder", loaded_lab.folder, "--workload", "joins_beside-8-0", "--seconds", 2)
    path = readers.written_by(*load)
    told = readers.predicted(path)
    assert told["in_force"]["pool_size"] == 2
    simulated = readers.simulated(path)
    assert (simulated.code, simulated.err) == (0, "")
    assert "a request of class" in simulated.out
