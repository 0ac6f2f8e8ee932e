"""`poolpilot serve --set ray=true`: on two nodes of which one is killed, and with a Ray of its own."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from poolpilot.env.measurement.sample_sweeps import sample_sweeps
from poolpilot.models.body import as_body
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.outcomes.outcome_segments import read_outcomes
from poolpilot.serve.service.predictor_by_kind import PredictorByKind

POOLPILOT = [sys.executable, "-c", "from poolpilot.serve.commands.main import main; main()"]
TWO_NODES = [sys.executable, str(Path(__file__).with_name("two_nodes.py"))]
PATIENCE_S = 120.0
MARK = "POOLPILOT_TEST_OF_RAY"
"""Variable that everything started here inherits."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def eventually(holds: Callable[[], bool]) -> None:
    """Waits until something holds."""
    end_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end_s, "it does not come to hold"
        time.sleep(0.2)


@pytest.fixture
def environment() -> dict[str, str]:
    """What nodes and command are started with; a token of their own guards this Ray."""
    return {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_SERVE_WORKER_PROXY_HTTP_PORT": str(free_port()),
        "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60",  # on a busy machine the proxies import for longer than Ray's 5 s
        "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "60",
        MARK: secrets.token_hex(8),
    }


@contextmanager
def started(command: list[str], environment: dict[str, str], folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """A program that ends with the block; what it says of errors goes to a file in the folder."""
    with (folder / "errors").open("a") as errors:
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=errors, text=True)
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    process.wait(PATIENCE_S)


def line_with(process: "subprocess.Popen[str]", wanted: str) -> str:
    """The first line of a program that has a text in it; what it says of errors is in `errors` of the test's folder."""
    assert process.stdout is not None
    for line in process.stdout:
        if wanted in line:
            return line.strip()
    raise AssertionError(f"it ended without a line with {wanted!r}")


def told(process: "subprocess.Popen[str]", line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


@pytest.fixture
def tokens(tmp_path: Path) -> dict[str, dict[str, str]]:
    """Headers by scope; the file is `tokens` in the test's folder."""
    words = {scope: secrets.token_urlsafe(32) for scope in ("predict", "outcomes", "admin")}
    (tmp_path / "tokens").touch(mode=0o600)
    (tmp_path / "tokens").write_text("".join(f"{scope} {word}\n" for scope, word in words.items()), encoding="ascii")
    return {scope: {"authorization": f"Bearer {word}"} for scope, word in words.items()}


@pytest.fixture
def recorded_values() -> dict[str, Any]:
    """A body whose window was recorded under the default, where another configuration is far better."""
    sweep = sample_sweeps("page_faults")[0]
    window = sweep.entries[sweep.limits.default_tuple().core].windows[0]
    return as_body([window], sweep.limits, sweep.objective)


def expected(body: dict[str, Any]) -> Any:
    """What the service answers in one process."""
    with TestClient(create_app(PredictorByKind.load())) as client:
        return client.post("/v1/predict", json=body).json()


@dataclass
class OnTwoNodes:
    """The service on two nodes, each with a replica and a proxy that prefers it; and who may ask what."""

    urls: tuple[str, str]
    tokens: dict[str, dict[str, str]]

    def post(self, node: int, path: str, scope: str, body: Any = None) -> httpx2.Response:
        return httpx2.post(f"{self.urls[node]}{path}", json=body, headers=self.tokens[scope], timeout=60.0)

    def counted(self, name: str, **labels: str) -> dict[str, float]:
        """What each replica has counted."""
        answer = httpx2.get(f"{self.urls[0]}/metrics", headers=self.tokens["admin"], timeout=60.0).raise_for_status()
        samples = [sample for family in text_string_to_metric_families(answer.text) for sample in family.samples]
        fitting = [sample for sample in samples if sample.name == name and labels.items() <= sample.labels.items()]
        return {sample.labels["replica"]: sample.value for sample in fitting}

    def reloads(self) -> list[float]:
        return list(self.counted("poolpilot_model_reloads_total", result="done").values())

    def check_predictions(self, body: dict[str, Any]) -> None:
        """Both replicas answer what one process does, and whoever may not ask is told so by both."""
        answer = expected(body)
        assert answer["verdict"] == "change"

        def both_have_answered() -> bool:
            for node in (0, 1):
                asked = self.post(node, "/v1/predict", "predict", body)
                assert (asked.status_code, asked.json()) == (200, answer)
                refused = httpx2.post(f"{self.urls[node]}/v1/predict", json=body, timeout=60.0)
                assert refused.json()["reason"] == "no_token"
                assert self.post(node, "/v1/predict", "outcomes", body).json()["reason"] == "wrong_scope"
            return len(self.counted("poolpilot_predictions_total", verdict="change")) == 2

        eventually(both_have_answered)

    def check_outcomes(self, outcome: dict[str, Any], folder: Path) -> None:
        """Both replicas keep outcomes, each in its folder; what both were told is read once."""
        reported: list[str] = []

        def both_have_written() -> bool:
            reported.append(f"of-{len(reported)}")
            for node in (0, 1):
                kept = self.post(node, "/v1/outcomes", "outcomes", {**outcome, "id": reported[-1]})
                assert kept.status_code in (200, 201)
            return len(list(folder.glob("replica-*/*.jsonl"))) == 2

        eventually(both_have_written)
        assert sorted(one.id for one in read_outcomes(folder)) == sorted(reported)

    def check_goes_on(self, body: dict[str, Any]) -> None:
        """With the second node gone the first answers on, alone."""
        answer = expected(body)
        for _ in range(20):
            asked = self.post(0, "/v1/predict", "predict", body)
            assert (asked.status_code, asked.json()) == (200, answer)
        eventually(lambda: len(self.reloads()) == 1)


@pytest.mark.long
@pytest.mark.ray
@pytest.mark.timeout(600)
def test_two_nodes_answer_as_one_process_does_and_one_goes_on_alone(
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tokens: dict[str, dict[str, str]],
    tmp_path: Path,
    recorded_values: dict[str, Any],
    outcome_values: dict[str, Any],
) -> None:
    ports = str(free_port()), environment["RAY_SERVE_WORKER_PROXY_HTTP_PORT"]
    both = OnTwoNodes((f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}"), tokens)
    serve_under_ray = [*POOLPILOT, "serve", "--set=ray=true", "--set=replicas=2", "--set=replicas_per_node=1"]
    with started(TWO_NODES, environment, tmp_path) as nodes:
        serve_under_ray += ["--set", f"ray_address={line_with(nodes, ':')}"]
        options = ["--port", ports[0], "--token-file", "tokens", "--outcomes", "outcomes"]
        monkeypatch.chdir(tmp_path)  # the paths are of the folder of the command, which is not that of the replicas
        with started([*serve_under_ray, *options], environment, tmp_path) as service:
            line_with(service, "/v1/predict")
            both.check_predictions(recorded_values)
            both.check_outcomes(outcome_values, tmp_path / "outcomes")

            assert both.post(1, "/v1/model", "admin").status_code == 200
            assert both.reloads() == [1, 1]
            service.send_signal(signal.SIGHUP)
            eventually(lambda: both.reloads() == [2, 2])

            again = [*serve_under_ray, "--port", str(free_port())]
            refused = subprocess.run(again, env=environment, capture_output=True, text=True, check=False)
            assert refused.returncode == 1
            assert "poolpilot: this Ray runs Ray Serve already" in refused.stderr

            told(nodes, "kill")
            line_with(nodes, "killed")
            both.check_goes_on(recorded_values)
            service.send_signal(signal.SIGINT)
            assert service.wait(PATIENCE_S) == 130
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"{both.urls[0]}/healthz")
        assert nodes.poll() is None, "a Ray that was joined is not ended"


@pytest.mark.long
@pytest.mark.ray
@pytest.mark.timeout(600)
def test_no_replica_starts_where_ray_asks_nobody_for_a_token(environment: dict[str, str], tmp_path: Path) -> None:
    environment = {**environment, "RAY_AUTH_MODE": "disabled"}
    with started([*TWO_NODES, "one"], environment, tmp_path) as nodes:
        command = [*POOLPILOT, "serve", "--set=ray=true", "--set=replicas=1", "--port", str(free_port())]
        command += ["--set", f"ray_address={line_with(nodes, ':')}"]
        refused = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert refused.returncode == 1
        assert "poolpilot: a replica does not start: this node's Ray asks nobody for a token" in refused.stderr
        assert "Traceback" not in refused.stderr
        assert "/v1/predict" not in refused.stdout


def inheriting(mark: str) -> list[int]:
    """The processes that were started with a mark."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


@pytest.mark.ray
@pytest.mark.timeout(600)
def test_a_ray_of_its_own_ends_with_it(
    environment: dict[str, str], tmp_path: Path, request_values: dict[str, Any]
) -> None:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_ADDRESS"):
        environment.pop(name, None)
    port = free_port()
    command = [*POOLPILOT, "serve", "--set=ray=true", "--set=replicas=1", "--port", str(port)]
    with started(command, environment, tmp_path) as service:
        line_with(service, "/v1/predict")
        url = f"http://127.0.0.1:{port}"
        assert httpx2.post(f"{url}/v1/predict", json=request_values, timeout=60.0).json() == expected(request_values)
        from_page = httpx2.post(f"{url}/v1/predict", json=request_values, headers={"origin": "http://a"}, timeout=60.0)
        assert from_page.json()["reason"] == "from_a_page"
        assert len(inheriting(environment[MARK])) > 3
        service.send_signal(signal.SIGTERM)
        assert service.wait(PATIENCE_S) == 130
    eventually(lambda: inheriting(environment[MARK]) == [])
