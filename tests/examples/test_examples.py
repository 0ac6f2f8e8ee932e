"""Every example runs and prints what its first lines promise; without what it needs it says so in a sentence."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

BLOCKED = """
import runpy, sys
sys.modules[sys.argv[1]] = None
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs an example as if a module were not installed."""

LEARNING = """
import runpy, sys
path, *learning = sys.argv[1:]
for algorithm, steps in zip(learning[::2], learning[1::2]):
    sys.argv = [path, "--algorithm", algorithm, "--steps", steps]
    runpy.run_path(path, run_name="__main__")
"""
"""Runs the example of Stable-Baselines3 several times in one process: it imports for longer than it learns."""

STEPS = {"ppo": 2048, "dqn": 2048, "maskable_ppo": 1024}


def run(*arguments: object, python: object = sys.executable) -> str:
    command = [str(python), *map(str, arguments)]
    ended = subprocess.run(command, cwd=EXAMPLES, capture_output=True, text=True, check=False, timeout=200)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def poolpilot(*arguments: object) -> str:
    return run(Path(sys.executable).with_name("poolpilot"), *arguments)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example_is_short_and_listed(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 100
    assert f"| `{path.name}` |" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def learned() -> dict[str, str]:
    """What the example of Stable-Baselines3 prints, by algorithm."""
    learning = [word for algorithm, steps in STEPS.items() for word in (algorithm, steps)]
    printed = run("-c", LEARNING, "train_stable_baselines3.py", *learning).splitlines(keepends=True)
    return dict(zip(STEPS, printed, strict=True))


@pytest.mark.parametrize("algorithm", STEPS)
def test_stable_baselines3_learns(learned: dict[str, str], algorithm: str) -> None:
    steps, printed = STEPS[algorithm], learned[algorithm]
    shown = re.fullmatch(rf"{algorithm} after {steps} steps: reward of an episode (\S+) -> (\S+)\n", printed)
    assert shown is not None, printed
    assert float(shown[1]) + 0.2 < float(shown[2]) < 0.0


@pytest.mark.ray
def test_rllib_learns() -> None:
    lines = run("train_rllib.py", "--iterations", 2).splitlines()
    rewards = [float(line.removeprefix(f"iteration {i}: reward of an episode ")) for i, line in enumerate(lines, 1)]
    assert len(rewards) == 2
    assert rewards[0] + 0.1 < rewards[-1] < 0.0


def test_service_answers_over_http() -> None:
    check_advice(run("predict_over_http.py"))


def test_what_if_prints_every_size() -> None:
    check_sizes(run("what_if.py", "--family", "page_faults"))


def test_base_installation_is_enough(base_python: Path) -> None:
    check_advice(run("predict_over_http.py", python=base_python))
    check_sizes(run("what_if.py", python=base_python))


def check_advice(printed: str) -> None:
    health, answer, advice, *reasons = printed.splitlines()
    assert (health[:23], answer) == ("GET  /healthz    -> 200", "POST /v1/predict -> 200")
    assert re.fullmatch(r"change: \(2, 3, 500\) -> \((16|32|64), \d+, \d+\), expected gain [12]\.\d\d", advice)
    assert 1 <= len(reasons) <= 3


def check_sizes(printed: str) -> None:
    first, heading, *rows = printed.splitlines()
    assert re.fullmatch(r"page_faults-1-1, measured under \(2, 3, 500\): 331 requests a second, simulated \d+", first)
    assert heading.split() == ["pool", "size", "simulated/s", "measured/s"]
    sizes, simulated, _ = zip(*(map(int, row.split()) for row in rows), strict=True)
    assert sizes == (1, 2, 4, 8, 16, 32, 64)
    assert 10 * simulated[0] < simulated[-1]


def test_own_server_is_climbed_and_searched() -> None:
    climb, search = run("your_own_server.py").splitlines()
    for line, name in ((climb, "climb "), (search, "search")):
        shown = re.fullmatch(rf"{name}: +(\d+) workers, +(\d+)/s -> +(\d+) workers, +(\d+)/s", line)
        assert shown is not None, line
        workers, _, most_workers, _ = map(int, shown.groups())
        assert workers == 2 < most_workers
    assert most_workers > 4


def test_own_server_is_taken_by_the_commands() -> None:
    server = ("--server", "your_own_server:ExecutorServer")
    climbed = poolpilot("climb", *server, "--seconds", 2)
    searched = poolpilot("climb", "--search", *server, "--knob", "pool_size", "--set", "method=random", "--rounds", 4)
    assert "Climb on your_own_server:ExecutorServer" in climbed
    assert "4 rounds" in searched
    assert [printed.splitlines()[-1] for printed in (climbed, searched)] == ["In force now: (2, 3, 10)."] * 2


def test_own_server_is_tuned(tmp_path: Path) -> None:
    """Ten times as many requests are in reach, so that a first step is verified whatever else runs here."""
    pace = [f"--set=pace.{one}" for one in ("observe_for_s=1", "baseline_windows=2", "least_pairs=2")]
    server = ("--server", "your_own_server:ExecutorServer", "--log", tmp_path)
    written = tmp_path / "tuned.json"
    said = poolpilot(
        "tune", *server, *pace, "--mode", "apply", "--propose", "8,3,10", "--seconds", 12, "--json", written
    )
    tuned = json.loads(written.read_text(encoding="utf-8"))
    assert tuned["initial"]["pool_size"] == 2 < tuned["incumbent"]["pool_size"]
    assert said.splitlines()[-1] == f"In force now: ({tuned['incumbent']['pool_size']}, 3, 10)."


@pytest.mark.parametrize(
    ("example", "module"),
    [
        ("train_stable_baselines3.py", "stable_baselines3"),
        ("train_stable_baselines3.py", "sb3_contrib"),
        ("train_rllib.py", "ray"),
    ],
)
def test_without_what_it_needs_an_example_says_so(example: str, module: str) -> None:
    command = [sys.executable, "-c", BLOCKED, module, example]
    ended = subprocess.run(command, cwd=EXAMPLES, capture_output=True, text=True, check=False, timeout=100)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"this example needs '{module}")
    assert ended.stderr.count("\n") == 1
    assert "pip install '.[train]'" in ended.stderr
