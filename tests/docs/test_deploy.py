"""The container file, the systemd units and the example of settings fit the repository, and let nothing do too much."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from poolpilot.pipelines.learn.learn_settings import LearnSettings
from poolpilot.pipelines.production.model_shelf import CURRENT, MODELS
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.tuner.machine.decision import Mode

ROOT = Path(__file__).parents[2]

CONTAINER = (ROOT / "Containerfile").read_text(encoding="utf-8")

DEPLOY = ROOT / "docs/deploy"
PAGE = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
PROGRAM = "/opt/poolpilot/bin/poolpilot"
UNITS = {
    "poolpilot": "serve",
    "poolpilot-tuner": "tune --config /etc/poolpilot/tuner.toml",
    "poolpilot-keeper": "tune --keeper --config /etc/poolpilot/tuner.toml",
    "poolpilot-learn": "learn",
}
"""What each unit runs."""

MOST_EXPOSURE = 1.5
"""Greatest rating of `systemd-analyze security` that is taken; 10 is exposed."""


def copied() -> list[str]:
    lines = [line.split()[1:-1] for line in CONTAINER.splitlines() if line.startswith("COPY ") and "--from" not in line]
    return [path for paths in lines for path in paths]


def test_container_copies_what_there_is() -> None:
    assert [path for path in copied() if not (ROOT / path).exists()] == []


def test_container_copies_every_source_of_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    sources = project["tool"]["scikit-build"]["wheel"]["packages"].values()
    built = re.findall(r"(?:add_subdirectory|install)\((?:FILES )?([\w/.]+)", (ROOT / "CMakeLists.txt").read_text())
    needed = [*sources, *built, "pyproject.toml", "constraints.txt", "CMakeLists.txt"]
    assert [
        path for path in needed if not any(path == given or path.startswith(f"{given}/") for given in copied())
    ] == []


def test_container_installs_as_the_readme_says() -> None:
    assert "pip install .  " in (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"/bin/pip install --no-cache-dir -c constraints\.txt \.$", CONTAINER, re.MULTILINE)


def test_container_names_no_registry_and_no_rights() -> None:
    images = re.findall(r"^FROM (\S+)", CONTAINER, re.MULTILINE)
    assert set(images) == {"python:3.11-slim"}
    assert CONTAINER.index("\nUSER poolpilot\n") < CONTAINER.index('\nENTRYPOINT ["poolpilot"]\nCMD ["serve"]\n')


@pytest.fixture(params=UNITS)
def unit(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A unit with a program that there is here."""
    return placed(request.param, tmp_path)


def placed(name: str, folder: Path) -> Path:
    """Puts a unit into a folder, with a program that there is here."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze, which checks the units, is not installed")
    text = (DEPLOY / f"{name}.service").read_text(encoding="utf-8")
    assert f"\nExecStart={PROGRAM} {UNITS[name]}\n" in text
    path = folder / f"{name}.service"
    path.write_text(text.replace(PROGRAM, str(Path(sys.executable).with_name("poolpilot"))))
    return path


def test_every_unit_is_tested() -> None:
    assert {path.stem for path in DEPLOY.glob("*.service")} == UNITS.keys()


def test_tuner_and_keeper_share_their_user_and_journals() -> None:
    def of(name: str) -> list[str]:
        text = (DEPLOY / f"{name}.service").read_text(encoding="utf-8")
        kept = ("User=", "StateDirectory", "LoadCredential=", "Environment=")
        return [line for line in text.splitlines() if line.startswith(kept)]

    assert of("poolpilot-tuner") == of("poolpilot-keeper")


def test_example_of_settings_is_taken() -> None:
    settings = TuneSettings.load(DEPLOY / "tuner.toml", {})
    settings.check()
    assert (settings.mode, settings.guard.most_size) == (Mode.ADVISE, 64)


def test_example_leads_to_a_lease_and_a_keeper_when_it_says_so(tmp_path: Path) -> None:
    text = (DEPLOY / "tuner.toml").read_text(encoding="utf-8")
    path = tmp_path / "tuner.toml"
    path.write_text(text.replace('mode = "advise"', 'mode = "apply"').replace("# lease", "lease"))
    TuneSettings.load(path, {}).check()
    keeper = TuneSettings.load(path, {"keeper": True})
    keeper.check()
    assert (keeper.lease, keeper.lease_s, keeper.keeper) == ("event", 20, True)


def test_unit_is_valid(unit: Path) -> None:
    assert verified(unit) == (0, "")


def verified(path: Path) -> tuple[int, str]:
    """What systemd makes of a unit: its verdict and what it says."""
    command = ["systemd-analyze", "verify", "--man=no", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stderr


def test_every_timer_is_valid_and_has_a_unit_of_its_name(tmp_path: Path) -> None:
    timers = list(DEPLOY.glob("*.timer"))
    assert timers
    for timer in timers:
        placed(timer.stem, tmp_path)
        assert verified(Path(shutil.copy(timer, tmp_path))) == (0, "")


def test_unit_of_learning_says_where_things_are_by_settings_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (DEPLOY / "poolpilot-learn.service").read_text(encoding="utf-8")
    given = dict(re.findall(r"^Environment=POOLPILOT_LEARN_(\w+)=(\S+)$", text, re.MULTILINE))
    assert {name.lower() for name in given} <= LearnSettings.model_fields.keys()
    for name, value in given.items():
        monkeypatch.setenv(f"POOLPILOT_LEARN_{name}", value)
    settings = LearnSettings.load(None, {})
    (out, outcomes) = map(str, (settings.out, settings.outcomes))
    assert "WorkingDirectory=%S/poolpilot-learn\n" in text
    assert f"StateDirectory=poolpilot-learn poolpilot-learn/{outcomes}\n" in text
    for folder in (f"{outcomes}/", f"{out}/{MODELS}/", f"{out}/{CURRENT}"):
        assert f" staging:/var/lib/poolpilot-learn/{folder}" in PAGE


def test_example_keeps_outcomes_and_follows_models_where_the_page_says_so(tmp_path: Path) -> None:
    text = (DEPLOY / "tuner.toml").read_text(encoding="utf-8")
    path = tmp_path / "tuner.toml"
    path.write_text(text.replace("# outcomes", "outcomes").replace("# model", "model"))
    settings = TuneSettings.load(path, {})
    settings.check()
    assert settings.outcomes is not None
    assert settings.model is not None
    assert f"rsync -a --chmod=D755,F644 {settings.outcomes}/ staging:" in PAGE
    assert f"/{CURRENT} {settings.model.parent}/\n" in PAGE
    for name in ("poolpilot-tuner", "poolpilot-keeper"):
        unit = (DEPLOY / f"{name}.service").read_text(encoding="utf-8")
        assert f"StateDirectory={settings.outcomes.parent.name}\n" in unit


def test_unit_gives_the_service_few_rights(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--no-pager", "--offline=yes", str(unit)]
    rated = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", rated.stdout)
    assert found is not None
    assert float(found[1]) <= MOST_EXPOSURE
