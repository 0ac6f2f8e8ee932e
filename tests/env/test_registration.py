"""Every environment is registered, live ones as not deterministic."""

import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest

from poolpilot.env import registration


@pytest.mark.parametrize("name", [*registration.DETERMINISTIC, *registration.LIVE, *registration.EITHER])
def test_id_is_registered_and_says_whether_it_repeats(name: str) -> None:
    assert gymnasium.spec(name).nondeterministic == (name not in registration.DETERMINISTIC)


def test_registering_twice_does_nothing() -> None:
    before = dict(gymnasium.registry)
    registration.register()
    assert dict(gymnasium.registry) == before


def test_only_the_environments_and_their_registration_need_gymnasium() -> None:
    package = Path(registration.__file__).parent
    users = [path.relative_to(package) for path in package.rglob("*.py") if "import gymnasium" in path.read_text()]
    assert Path("registration.py") in users
    assert {path.parts[0] for path in users} == {"registration.py", "environments"}


def test_importing_the_environments_registers_every_id() -> None:
    names = {*registration.DETERMINISTIC, *registration.LIVE, *registration.EITHER}
    listed = "import gymnasium, poolpilot.env.environments; print(*gymnasium.registry)"
    printed = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    assert names <= set(printed.stdout.split())
