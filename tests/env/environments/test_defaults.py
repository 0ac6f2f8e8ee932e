"""Every id runs as installed, says the same in its info, and tells which actions are allowed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import VectorEnv

from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.environments import CurvePoolEnv, PoolEnv, RecordedPoolEnv, WarmStartClimbEnv
from poolpilot.env.environments.grid_env import GridEnv
from poolpilot.env.environments.live_pool import LivePoolEnv
from poolpilot.env.environments.simulated_pool import SimulatedPoolEnv
from poolpilot.env.registration import DETERMINISTIC, EITHER
from poolpilot.errors import ServerError, SettingError
from poolpilot.lab.lab_server import LabPlace
from poolpilot.lab.mariadb_pool import MariadbPoolEnv

INFO = ["workload", "pool_tuple", "objective", "goodput_per_s", "regret", "oracle", "action_mask"]

IN_VIRTUAL_TIME = (*DETERMINISTIC, *EITHER)


@pytest.fixture(params=IN_VIRTUAL_TIME)
def env(request: pytest.FixtureRequest) -> GridEnv:
    made = gymnasium.make(request.param).unwrapped
    assert isinstance(made, GridEnv)
    return made


def test_id_alone_passes_gymnasiums_checker(env: GridEnv) -> None:
    check_env(env, skip_render_check=True)


def test_info_has_one_shape(env: GridEnv) -> None:
    _, first = env.reset(seed=0)
    *_, later = env.step(np.int64(14))
    assert list(first) == list(later) == INFO
    assert later["workload"] == first["workload"] != ""
    assert later["pool_tuple"]["pool_size"] == DEFAULT_GRID.tuples[14].pool_size
    assert first["goodput_per_s"] > 0.0
    assert (first["regret"] is None) == (first["oracle"] is None)


def test_masks_are_those_of_the_info(env: GridEnv) -> None:
    _, info = env.reset(seed=0)
    masks = env.action_masks()
    assert masks.dtype == np.bool_
    assert masks.shape == (len(DEFAULT_GRID),)
    assert masks.tolist() == info["action_mask"].astype(bool).tolist()
    masks[:] = False
    assert env.action_masks().any()


def test_regret_is_the_share_lost_against_the_oracle() -> None:
    env = CurvePoolEnv()
    env.reset(seed=0)
    _, reward, *_, info = env.step(np.int64(0))
    assert info["regret"] == pytest.approx(-reward)
    assert info["regret"] == pytest.approx(1.0 - np.exp(info["objective"] - info["oracle"]))


def test_live_pool_draws_its_workload_from_a_family() -> None:
    env = LivePoolEnv(family="page_faults", seed=3, horizon=1)
    try:
        _, info = env.reset(seed=0)
        assert (info["workload"], list(info)) == ("page_faults-3-0", INFO)
    finally:
        env.close()


def test_mariadb_that_cannot_be_started_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("poolpilot.lab.host.programs.shutil.which", lambda *_, **__: None)
    env = MariadbPoolEnv(place=LabPlace(folder=tmp_path / "lab"))
    with pytest.raises(ServerError, match="is not installed"):
        env.reset(seed=0)


@pytest.mark.parametrize("family", ["page_faults", "latch_single"])
def test_family_is_named(family: str) -> None:
    environments: list[GridEnv] = [
        RecordedPoolEnv(family=family),
        SimulatedPoolEnv(family=family),
        WarmStartClimbEnv(family=family),
    ]
    for env in environments:
        _, info = env.reset(seed=0)
        assert info["workload"].startswith(f"{family}-")


def test_single_and_vector_environments_say_the_same_in_the_same_shape() -> None:
    options: dict[str, Any] = {"family": "page_faults", "horizon": 1}
    synchronous = gymnasium.make_vec("poolpilot/SimulatedPool-v0", 2, "sync", **options)
    together = gymnasium.make_vec("poolpilot/SimulatedPool-v0", 2, "vector_entry_point", **options)
    infos = []
    for vector in (synchronous, together):
        assert isinstance(vector, VectorEnv)
        infos.append(vector.reset(seed=5)[1])
        vector.close()
    assert infos[0].keys() == infos[1].keys()
    assert infos[0]["pool_tuple"].keys() == infos[1]["pool_tuple"].keys()
    assert infos[0]["pool_tuple"]["pool_size"].tolist() == infos[1]["pool_tuple"]["pool_size"].tolist()
    assert infos[0]["objective"].tolist() == infos[1]["objective"].tolist()
    assert infos[1]["action_mask"].shape == (2, len(DEFAULT_GRID))


def test_unknown_family_and_two_sources_are_refused() -> None:
    with pytest.raises(SettingError, match="there is no family 'nonsense'"):
        SimulatedPoolEnv(family="nonsense")
    with pytest.raises(SettingError, match="no sweep of a family 'nonsense'"):
        RecordedPoolEnv(family="nonsense")
    with pytest.raises(SettingError, match="either open_target or server"):
        PoolEnv(CurvePoolEnv()._open_target, server="a:b")


def test_id_with_its_module_needs_no_import() -> None:
    make = "import gymnasium; print(gymnasium.make('poolpilot.env.environments:poolpilot/CurvePool-v0').spec.id)"
    made = subprocess.run([sys.executable, "-c", make], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "poolpilot/CurvePool-v0"
