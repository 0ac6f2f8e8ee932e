"""One's own server is found, checked and climbed, and what is wrong with it is a sentence."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from poolpilot.env.environments import PoolEnv
from poolpilot.env.tuning.factory import open_server, own_target
from poolpilot.errors import SettingError

MODULE = """
from dataclasses import replace
from poolpilot.env.knobs import Knob, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer

number = 3

class Closed(CurveServer):
    closed = False
    def close(self):
        type(self).closed = True

class Sized(Closed):
    objective = Objective(price_of_thread=0.5)
    def __init__(self):
        super().__init__(((1, 100.0), (16, 900.0), (64, 300.0)))
        self._knobs = KnobSpace.of(4, Knob("pool_size", 1, 64, 4, "workers"))

class Uncounted(Closed):
    def snapshot(self):
        taken = super().snapshot()
        return replace(taken, gauges={"cpus": 4.0})

class Idle(Closed):
    def snapshot(self):
        return replace(super().snapshot(), counters={}, histograms={})

def open_server():
    return Sized()

def open_uncounted():
    return Uncounted(((1, 100.0), (16, 900.0)))

def open_idle():
    return Idle(((1, 100.0), (16, 900.0)))

def open_number():
    return number

def open_with(host):
    return Sized()

def open_refused():
    raise ConnectionRefusedError(111, "Connection refused")

def open_without_driver():
    import a_driver_nobody_has

class Silent(Closed):
    def snapshot(self):
        raise TimeoutError("no answer\\nwithin 2 s")

def open_silent():
    return Silent(((1, 100.0), (16, 900.0)))
"""


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_pool.py").write_text(MODULE)
    (tmp_path / "broken_pool.py").write_text("def open_server(:")
    (tmp_path / "failing_pool.py").write_text("\nport = int('none')")
    (tmp_path / "needy_pool.py").write_text("import a_module_nobody_has")
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("own_pool", None)


def test_server_is_opened_with_its_objective_and_its_knobs() -> None:
    target = own_target("own_pool:open_server")
    with target.server:
        assert target.objective.price_of_thread == 0.5
        assert list(target.server.knobs.knobs) == ["pool_size"]
        assert target.server.tuple_in_force().pool_size == 4


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ("own_pool", "named as module:factory"),
        ("nowhere_pool:open_server", "there is no module 'nowhere_pool', neither in"),
        ("needy_pool:open_server", "'needy_pool' of --server needs 'a_module_nobody_has'"),
        ("own_pool:open_other", "has no 'open_other'"),
        ("own_pool:number", "is of type int and cannot be called"),
        ("own_pool:open_number", r"of type int that lacks tuple_in_force\(\), apply\(\)"),
        ("own_pool:open_uncounted", "lack the gauge 'connections'"),
        ("own_pool:open_idle", "lack the counter 'completed'"),
        (".own_pool:open_server", "named as module:factory"),
        ("own_pool..here:open_server", "named as module:factory"),
        ("sys:open_server", r"the module 'sys' \(built in\) has no 'open_server'"),
        ("broken_pool:open_server", "'broken_pool' of --server cannot be imported: SyntaxError: "),
        ("failing_pool:open_server", r"cannot be imported: ValueError: .*'none' \(.*failing_pool\.py, line 2\)"),
        ("json:loads", r"json:loads, called without arguments, opens no server: TypeError: loads\(\) missing"),
        ("own_pool:open_with", r"opens no server: TypeError: open_with\(\) missing 1 .*: 'host'$"),
        (
            "own_pool:open_refused",
            r"server: ConnectionRefusedError: .*Connection refused \(.*own_pool\.py, line",
        ),
        ("own_pool:open_without_driver", "opens no server: ModuleNotFoundError: No module named 'a_driver_nobody_has'"),
        ("own_pool:open_silent", "gives no snapshot: TimeoutError: no answer within 2 s"),
    ],
)
def test_what_is_wrong_is_said(named: str, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        open_server(named)


@pytest.mark.parametrize("kind", ["Uncounted", "Silent"])
def test_refused_server_is_closed(kind: str) -> None:
    with pytest.raises(SettingError):
        open_server(f"own_pool:open_{kind.lower()}")
    assert getattr(sys.modules["own_pool"], kind).closed


def test_folder_is_no_longer_searched_afterwards(tmp_path: Path) -> None:
    before = list(sys.path)
    open_server("own_pool:open_server").close()
    assert sys.path == before
    assert str(tmp_path) not in sys.path


def test_environment_serves_it() -> None:
    env = PoolEnv(server="own_pool:open_server", horizon=1)
    _, info = env.reset(seed=0)
    assert (info["workload"], info["pool_tuple"]["pool_size"]) == ("own_pool:open_server", 4)
    env.close()


@pytest.mark.parametrize(
    "arguments",
    [("--seconds", "60"), ("--search", "--knob", "pool_size", "--set", "method=random", "--rounds", "6")],
)
def test_commands_tune_it(arguments: tuple[str, ...], invoke: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = invoke("climb", *arguments, "--server", "own_pool:open_server")
    assert (code, err) == (0, "")
    assert "own_pool:open_server" in out


def test_two_servers_are_refused(invoke: Callable[..., tuple[int, str, str]]) -> None:
    code, _, err = invoke("climb", "--server", "own_pool:open_server", "--backend", "curve")
    assert code == 1
    assert "leave out the DSN and --backend" in err


@pytest.mark.parametrize("named", [".foo:bar", "json:loads"])
def test_server_that_cannot_be_opened_is_a_sentence(named: str, invoke: Callable[..., tuple[int, str, str]]) -> None:
    code, _, err = invoke("tune", "--server", named)
    assert code == 1
    assert err.startswith("poolpilot: ")
    assert "Traceback" not in err
