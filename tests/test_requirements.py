"""What the project requires is used, what it imports is required, and the install lines that are printed work."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGES = ("agent", "env", "featurizer", "models", "native_pool/python", "pipelines", "serve")
BESIDE = ("tests", "benchmarks", "examples", "docs")
SETTINGS = ("pyproject.toml", "mkdocs.yml")

COME_ALONG = {
    "gpytorch": "botorch",
    "linear-operator": "botorch",
    "requests": "mlflow-skinny",
    "sqlalchemy": "mlflow",
    "typing-extensions": "pydantic",
}
"""Distributions that are imported and come with one that is required."""

NAMED = {
    "pytest-repeat": "fault: plants a fault",
    "pytest-timeout": "timeout = ",
    "pytest-xdist": "--numprocesses",
    "mkdocstrings": "mkdocstrings:",
}
"""Plugins, with what names them in the files that set programs up."""

FOUND_BY_THEMSELVES = {"pandas-stubs"}


def name_of(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-")


def sources(folders: Iterable[str]) -> list[Path]:
    return [path for folder in folders for path in (ROOT / folder).rglob("*.py")]


def imported(paths: Iterable[Path]) -> set[str]:
    """Top-level modules that some files import, wherever in them."""
    nodes = (node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names.add(node.module.partition(".")[0])
    return names


known_distributions = cache(packages_distributions)
"""By top-level module; reading the metadata of all that is installed takes half a second."""


def distributions_of(modules: Iterable[str]) -> set[str]:
    return {name_of(name) for module in modules for name in known_distributions().get(module, ())}


EXTRAS = PROJECT["optional-dependencies"]
RUNTIME = {name_of(one) for one in (*PROJECT["dependencies"], *EXTRAS["train"])}
DEVELOPMENT = {name_of(one) for one in EXTRAS["dev"]}


def test_packages_import_every_requirement() -> None:
    assert RUNTIME - distributions_of(imported(sources(PACKAGES))) == set()


def test_every_import_of_the_packages_is_required() -> None:
    third_party = imported(sources(PACKAGES)) - sys.stdlib_module_names - {"poolpilot"}
    undeclared = {module for module in third_party if not distributions_of([module]) & RUNTIME}
    assert distributions_of(undeclared) == set(COME_ALONG)
    for name, owner in COME_ALONG.items():
        assert name in {name_of(one) for one in requires(owner) or ()}


def test_developers_use_what_they_install() -> None:
    makefile, *others = ((ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", *SETTINGS))
    run = set(re.findall(r"bin/([\w-]+)", makefile)) | set(
        re.findall(r"^BUILD_TOOLS := (.*)$", makefile, re.M)[0].split()
    )
    plugins = {name for name, trace in NAMED.items() if any(trace in text for text in (makefile, *others))}
    assert DEVELOPMENT - distributions_of(imported(sources(BESIDE))) - run - plugins - FOUND_BY_THEMSELVES == set()


INSTALL = re.compile(r"pip install ([^`\n|]*)")
PRINTED = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *sources((*PACKAGES, "examples"))]


def test_lines_that_install_are_of_a_clone_and_name_extras_that_there_are() -> None:
    lines = [(path, line) for path in PRINTED for line in INSTALL.findall(path.read_text(encoding="utf-8"))]
    assert len(lines) > 8
    for path, line in lines:
        assert not re.match(r"['\"]?poolpilot", line), f"{path.name}: poolpilot is on no index: {line}"
        found = re.search(r"'\.\[(\w+)\]'", line)
        assert found or re.search(r"(^|\s)\.($|\s|[;,.\"'])", line), f"{path.name}: {line}"
        assert found is None or found[1] in EXTRAS


@pytest.mark.parametrize("group", ["dependencies", "train", "dev"])
def test_every_requirement_is_pinned(group: str) -> None:
    pinned = {name_of(line) for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()}
    wanted = PROJECT["dependencies"] if group == "dependencies" else EXTRAS[group]
    assert {name_of(one) for one in wanted} - pinned == set()
