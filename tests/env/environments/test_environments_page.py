"""docs/environments.md says what is so."""

import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from poolpilot.env import registration
from poolpilot.env.environments import CurvePoolEnv
from poolpilot.env.observation import observation_shapes

PAGE = (Path(__file__).parents[3] / "docs/environments.md").read_text(encoding="utf-8")

PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_runs(program: str) -> None:
    ended = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_page_has_every_id_with_its_reward() -> None:
    for name in (*registration.DETERMINISTIC, *registration.LIVE, *registration.EITHER):
        assert f"| `{name}` |" in PAGE
        assert re.search(
            rf"^\| (\w+, )*{name.removeprefix('poolpilot/').removesuffix('-v0')}(,| \|)", PAGE, re.MULTILINE
        )


def test_page_has_every_array_and_every_key_of_the_info() -> None:
    env = CurvePoolEnv()
    _, info = env.reset(seed=0)
    for name in (*observation_shapes(env.grid), *info):
        assert f"\n| `{name}` | " in PAGE


def test_page_has_an_episode_as_it_is_rendered() -> None:
    env = gymnasium.make("poolpilot/CurvePool-v0", render_mode="ansi")
    env.reset(seed=1)
    env.step(np.int64(17))
    assert f"```\n{env.render()}\n```" in PAGE


def test_id_alone_is_unknown_until_the_environments_are_imported() -> None:
    program = "import gymnasium; gymnasium.make('poolpilot/CurvePool-v0')"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "NamespaceNotFound" in ended.stderr
