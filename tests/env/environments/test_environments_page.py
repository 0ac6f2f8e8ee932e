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

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/environments.md").read_text(encoding="utf-8")

PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_runs(program: str) -> None:
    ended = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


IDS = registration.DETERMINISTIC | registration.LIVE | registration.EITHER


@pytest.mark.parametrize("name", IDS)
def test_page_has_every_id_with_what_it_takes_and_its_reward(name: str) -> None:
    short = name.removeprefix("poolpilot/").removesuffix("-v0")
    rows = re.findall(rf"^\| (?:\w+, )*{short}(?:,| \|).*", PAGE, re.MULTILINE)
    assert f"| `{name}` |" in PAGE, "the table of ids has no row of it"
    assert len(rows) == 2, f"the tables of families and of rewards have a row of each id: {rows}"


@pytest.mark.parametrize("entry_point", IDS.values())
def test_reference_has_the_class_of_every_id(entry_point: str) -> None:
    reference = (ROOT / "docs/reference/environments.md").read_text(encoding="utf-8")
    row = f"::: {entry_point.replace(':', '.')}"
    assert f"\n{row}\n" in reference, f"the reference lacks {row}"


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
