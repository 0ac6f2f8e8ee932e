"""The shape of the house: floors, one namespace, and files short enough to read."""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

FLOORS = {
    "errors": 0,
    "durability": 1,
    "featurizer": 1,
    "native_pool": 1,
    "env": 2,
    "mariadb": 3,
    "lab": 4,
    "models": 5,
    "agent": 6,
    "pipelines": 7,
    "serve": 8,
}

LONGEST_FILE = 600
LONGEST_FUNCTION = 60
LARGEST_FOLDER = 14
NAMELESS = {"common", "helper", "helpers", "manager", "misc", "util", "utils"}


SOURCE_ROOTS = {
    "native_pool": "native_pool/python",
    "errors": "featurizer",
    "durability": "env",
    "mariadb": "env",
    "lab": "env",
}
"""Where a package is not in the folder of its name."""


def package_of(folder: str) -> Path:
    return ROOT / SOURCE_ROOTS.get(folder, folder) / "poolpilot" / folder


def modules_of(folder: str) -> list[Path]:
    return sorted(package_of(folder).rglob("*.py"))


def sources() -> list[Path]:
    python = [path for folder in FLOORS for path in modules_of(folder)]
    beside = [path for folder in ("tests", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")]
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
    packages = sorted(path.name for path in package.parent.iterdir() if path.name != "__pycache__")
    assert packages == sorted(name for name in FLOORS if package_of(name).parent == package.parent)
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


def name_of(module: Path) -> str:
    """What a module of ours is imported as."""
    *_, inside = module.relative_to(ROOT).with_suffix("").as_posix().partition("poolpilot/")
    return f"poolpilot.{inside.replace('/', '.').removesuffix('.__init__')}"


MODULES = {name_of(module): module for folder in FLOORS for module in modules_of(folder)}


def imports_of(module: Path) -> set[str]:
    """The modules of ours that a module names in its imports."""
    imported = [
        (f"{node.module}.{alias.name}", node.module)
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    ]
    return {inner if inner in MODULES else outer for inner, outer in imported if outer.startswith("poolpilot.")}


def package_name(module: str) -> str:
    """The package that a module stands in; of a package, itself."""
    is_package = module in MODULES and MODULES[module].name == "__init__.py"
    return module if is_package else module.rpartition(".")[0]


def in_circles(graph: Mapping[str, set[str]]) -> set[str]:
    """Nodes of a graph that lie on a circle: what is left when leaves and roots are taken away again and again."""
    left = {node: set(targets) for node, targets in graph.items()}
    while True:
        aimed_at = {target for targets in left.values() for target in targets}
        inner = {node: targets & left.keys() for node, targets in left.items() if targets & left.keys()}
        inner = {node: targets for node, targets in inner.items() if node in aimed_at}
        if inner == left:
            return set(left)
        left = inner


INCLUDED = re.compile(r'^#include "(.+)"', re.MULTILINE)

FRONT_DOORS = {
    name for name, path in MODULES.items() if path.name == "__init__.py" and "lazy_names(" in path.read_text()
}
"""Packages whose `__init__` gives users the names of modules below it, each imported when it is asked for."""


def test_nobody_inside_uses_a_front_door() -> None:
    users = {
        f"{path.relative_to(ROOT)} imports from {door}"
        for path in MODULES.values()
        for door in imports_of(path) & FRONT_DOORS
    }
    assert FRONT_DOORS
    assert users == set()


def graph_of(uses: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for user, used in uses:
        if user != used:
            graph.setdefault(user, set()).add(used)
    return graph


def parted(user: str, used: str, separator: str) -> tuple[str, str]:
    """The folders below which the ways to two folders part; the same name twice where one is inside the other."""
    own, other = user.split(separator), used.split(separator)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(own, other, strict=False)))
    ends = min(len(own), len(other), alike + 1)
    return separator.join(own[:ends]), separator.join(other[:ends])


def trees_in_circles(uses: Iterable[tuple[str, str]], separator: str) -> set[str]:
    """Folders, each with all that is below it, that use one another in a circle."""
    return in_circles(graph_of(parted(*use, separator) for use in uses))


def test_circles_are_found() -> None:
    assert in_circles({"a": {"b"}, "b": {"a"}, "c": {"a"}}) == {"a", "b"}
    assert trees_in_circles([("a", "b"), ("b", "a"), ("c", "a")], ".") == {"a", "b"}
    assert trees_in_circles([("a.deep", "b"), ("b", "a"), ("b", "c")], ".") == {"a", "b"}, "deep counts for a"
    assert trees_in_circles([("a/b", "a/c/d"), ("a/c", "a/b/e")], "/") == {"a/b", "a/c"}
    assert trees_in_circles([("a.b", "a"), ("a", "a.b"), ("a", "c"), ("c.d", "c.e")], ".") == set()


def test_no_circle_of_modules_or_packages() -> None:
    """A front door points down at modules that may import its package's neighbours: no circle, as nobody uses it."""
    modules = {name: imports_of(path) - {name} for name, path in MODULES.items()}
    uses = {
        (package_name(name), package_name(other)) for name in modules.keys() - FRONT_DOORS for other in modules[name]
    }
    assert (in_circles(modules), in_circles(graph_of(uses)), trees_in_circles(uses, ".")) == (set(), set(), set())


def test_no_circle_of_native_folders() -> None:
    """Within a folder a factory may make what is below it; what tests share lies with those that it was made for."""
    root = ROOT / "native_pool"
    files = [
        path for kind in ("*.cpp", "*.hpp") for path in root.rglob(kind) if "tests" not in path.relative_to(root).parts
    ]
    included = {(path.parent, root / name) for path in files for name in INCLUDED.findall(path.read_text())}
    assert [str(file) for _, file in included if not file.is_file()] == [], "includes are named from native_pool"
    uses = {(str(folder.relative_to(root)), str(file.parent.relative_to(root))) for folder, file in included}
    assert ("live", "pool") in uses
    assert trees_in_circles(uses, "/") == set()


def test_no_folder_is_too_large() -> None:
    sizes = Counter(module.parent for module in MODULES.values())
    assert [f"{folder}: {files}" for folder, files in sizes.items() if files > LARGEST_FOLDER] == []


def test_no_two_modules_of_one_name() -> None:
    stems = Counter(module.stem for module in MODULES.values() if module.name != "__init__.py")
    assert [stem for stem, modules in stems.items() if modules > 1] == []


def test_no_two_classes_of_one_name() -> None:
    classes = Counter(
        node.name
        for module in MODULES.values()
        for node in ast.parse(module.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, places in classes.items() if places > 1] == []
