"""What a user imports: every package's public names, lazily, also where the extra is not installed."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

ROOT = Path(__file__).parent.parent

PACKAGES = (
    "poolpilot.agent",
    "poolpilot.env",
    "poolpilot.env.environments",
    "poolpilot.errors",
    "poolpilot.featurizer",
    "poolpilot.lab",
    "poolpilot.mariadb",
    "poolpilot.models",
    "poolpilot.native_pool",
    "poolpilot.pipelines",
    "poolpilot.serve",
)

LAZY = [name for name in PACKAGES if hasattr(import_module(name), "__getattr__")]

HEAVY = ("botorch", "duckdb", "gymnasium", "matplotlib", "mlflow", "pandas", "pyarrow", "pymysql", "ray", "torch")

LOADED = f"""
import sys, {", ".join(name for name in LAZY if name != "poolpilot.env.environments")}
print(*(name for name in {HEAVY} if name in sys.modules))
"""

WITHOUT_SKLEARN = """
import sys
sys.modules["sklearn"] = None
try:
    from poolpilot.agent import BoostedTrees
except ImportError as error:
    print(error)
"""


def source_of(package: str) -> ast.Module:
    return ast.parse(Path(str(import_module(package).__file__)).read_text(encoding="utf-8"))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_resolves(package: str) -> None:
    module = import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("package", LAZY)
def test_type_checkers_and_programs_are_told_the_same(package: str) -> None:
    told = {
        alias.name: node.module
        for node in ast.walk(source_of(package))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{package}.")
        for alias in node.names
    }
    module = import_module(package)
    assert sorted(told) == sorted(module.__all__)
    assert [name for name in told if getattr(import_module(str(told[name])), name) is not getattr(module, name)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_public_name_hides_a_module(package: str) -> None:
    module = import_module(package)
    assert {inner.name for inner in iter_modules(module.__path__)} & set(module.__all__) == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_reference_lists_every_public_name(package: str) -> None:
    text = (ROOT / "docs/reference/index.md").read_text(encoding="utf-8")
    (listed,) = (line for line in text.splitlines() if line.startswith(f"| `{package}` "))
    assert {word for word in listed.split("`")[3::2]} == set(import_module(package).__all__)


def test_importing_a_package_brings_nothing_heavy() -> None:
    loaded = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


def test_name_that_needs_the_extra_says_so() -> None:
    told = subprocess.run([sys.executable, "-c", WITHOUT_SKLEARN], capture_output=True, text=True, check=True)
    assert told.stdout == (
        "poolpilot.agent.BoostedTrees needs 'sklearn', which the base installation lacks; in a clone of PoolPilot: "
        "pip install '.[train]'\n"
    )


@pytest.mark.parametrize("package", LAZY)
def test_unknown_name_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        _ = import_module(package).nonsense
