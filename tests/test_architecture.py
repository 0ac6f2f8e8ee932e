"""The shape of the house: floors, one namespace, and files short enough to read."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

FLOORS = {
    "featurizer": 1,
    "native_pool": 1,
    "env": 2,
    "models": 3,
    "agent": 4,
    "pipelines": 5,
    "serve": 5,
}

LONGEST_FILE = 600
LONGEST_FUNCTION = 60
NAMELESS = {"common", "helper", "helpers", "manager", "misc", "util", "utils"}


def package_of(folder: str) -> Path:
    source_root = ROOT / folder / "python" if folder == "native_pool" else ROOT / folder
    return source_root / "poolpilot" / folder


def modules_of(folder: str) -> list[Path]:
    return sorted(package_of(folder).rglob("*.py"))


def sources() -> list[Path]:
    python = [path for folder in FLOORS for path in modules_of(folder)]
    beside = [path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    native = [path for kind in ("*.cpp", "*.hpp") for path in (ROOT / "native_pool").rglob(kind)]
    return sorted(python + beside + native)


def imported_folders(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("poolpilot."))


@pytest.mark.parametrize("folder", FLOORS)
def test_folder_imports_only_from_itself_and_lower_floors(folder: str) -> None:
    assert modules_of(folder)
    upward = [
        f"{module.relative_to(ROOT)} imports poolpilot.{imported}"
        for module in modules_of(folder)
        for imported in imported_folders(module)
        if imported != folder and FLOORS[imported] >= FLOORS[folder]
    ]
    assert upward == []


@pytest.mark.parametrize("folder", FLOORS)
def test_folder_is_a_source_root_of_one_typed_package(folder: str) -> None:
    package = package_of(folder)
    packages = [path.name for path in package.parent.iterdir() if path.name != "__pycache__"]
    assert packages == [folder]
    assert (package / "__init__.py").is_file()
    assert (package / "py.typed").is_file()
    assert not (package.parent / "__init__.py").exists(), "poolpilot is a namespace: this file would break it"


def test_wheel_holds_every_folder() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["scikit-build"]["wheel"]["packages"]
    assert packages == {f"poolpilot/{folder}": package_of(folder).relative_to(ROOT).as_posix() for folder in FLOORS}


def test_no_file_is_too_long() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert [str(path) for path, lines in lengths.items() if lines > LONGEST_FILE] == []


def test_no_python_function_is_too_long() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sources()
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= LONGEST_FUNCTION
    ]
    assert long == []


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [str(path) for path in sources() if path.stem in NAMELESS] == []
