"""Counts what the house is made of: lines by folder, commands, flags, settings, classes, deciders, programs, tests.

Usage: python docs/house_counts.py [--against REVISION]

A row for each count. `--against` counts an earlier commit beside this one. Nothing of the code is run: commands and
flags are those of the manual page, the rest is read from the syntax. Outside a clone it ends with 1.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath

from word_count import ROOT, git, told

PRODUCT = ("agent", "env", "featurizer", "models", "native_pool", "pipelines", "serve")
MANUAL = "docs/man/poolpilot.1"
PREDICT = ["self", "windows", "limits", "objective"]
TESTS = {"tests", "fuzz"}
SETTINGS_BASES = ("Settings", "Options", "BaseModel")


class Tree:
    """The files of one commit, or of the work tree.

    Args:
        texts: Text by path; of files that are no text, as many spaces as they have bytes.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    @classmethod
    def now(cls) -> "Tree":
        """The work tree: all that git knows or would add."""
        listed = git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
        return cls({name: _text((ROOT / name).read_bytes()) for name in listed if (ROOT / name).is_file()})

    @classmethod
    def at(cls, revision: str) -> "Tree":
        """An earlier commit."""
        blobs = [line.split(maxsplit=4) for line in git("ls-tree", "-r", "-l", revision).splitlines()]
        wanted = {path: blob for _, kind, blob, _, path in blobs if kind == "blob"}
        process = ["git", "cat-file", "--batch"]
        asked = "\n".join(wanted.values()).encode()
        answer = subprocess.run(process, cwd=ROOT, check=True, capture_output=True, input=asked).stdout
        return cls(dict(zip(wanted, _blobs(answer), strict=True)))

    def files(self, folder: str, *suffixes: str) -> dict[str, str]:
        """Texts of a folder's files with one of the suffixes."""
        found = self._texts.items()
        return {name: text for name, text in found if name.startswith(folder) and name.endswith(suffixes)}

    def lines(self, folder: str, *suffixes: str, tests: bool = False) -> int:
        """Lines of code of a folder; tests within it only where they are asked for."""
        found = self.files(folder, *suffixes).items()
        return sum(text.count("\n") for name, text in found if tests or TESTS.isdisjoint(PurePosixPath(name).parts))

    @cached_property
    def modules(self) -> dict[str, ast.Module]:
        """The syntax of the product's modules, by their dotted name."""
        found = {name: text for folder in PRODUCT for name, text in self.files(f"{folder}/", ".py").items()}
        return {
            "poolpilot." + name.partition("poolpilot/")[2].removesuffix(".py").replace("/", "."): ast.parse(text)
            for name, text in found.items()
            if "/poolpilot/" in name
        }

    @cached_property
    def classes(self) -> list[ast.ClassDef]:
        """All classes of the product."""
        return [node for tree in self.modules.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]

    def commands_and_flags(self) -> tuple[int, int]:
        """Commands, and distinct flags, of the manual page; a command with sub-commands is each of these."""
        page = self._texts.get(MANUAL, "").replace("\\-", "-")
        flags = re.findall(r"^\.BR? .*?(--[a-z][\w.-]*)", page, re.MULTILINE)
        return len(re.findall(r"^\.SS .*poolpilot ", page, re.MULTILINE)), len({*flags})

    def counts(self) -> Iterator[tuple[str, int]]:
        """Every count with what it counts."""
        for folder in PRODUCT:
            yield f"Python lines of {folder}", self.lines(f"{folder}/", ".py", ".pyi")
        yield "Python lines of the product", sum(self.lines(f"{each}/", ".py", ".pyi") for each in PRODUCT)
        yield "C++ lines of the product", self.lines("native_pool/", ".cpp", ".hpp")
        yield "C++ lines of tests", self.lines("native_pool/tests/", ".cpp", ".hpp", tests=True)
        yield "Python lines of tests", self.lines("tests/", ".py", tests=True)
        yield (
            "test functions in Python",
            sum(text.count("\ndef test_") for text in self.files("tests/", ".py").values()),
        )
        yield from zip(("commands", "distinct flags"), self.commands_and_flags(), strict=True)
        settings = [node for node in self.classes if _is_settings(node)]
        yield "classes of settings", len(settings)
        yield "settings", sum(isinstance(line, ast.AnnAssign) for node in settings for line in node.body)
        yield "classes", len(self.classes)
        yield "implementations of predict", sum(_predicts(node) for node in self.classes)
        yield "modules", len(self.modules)
        yield "modules imported by one other", list(self._importers().values()).count(1)
        yield "programs in benchmarks", len(self.files("benchmarks/", ".py"))
        yield "Python lines of benchmarks", self.lines("benchmarks/", ".py", tests=True)
        yield "bytes of reports", sum(len(text) for text in self.files("benchmarks/reports/", "").values())

    def _importers(self) -> Counter[str]:
        """How many modules import each module; packages' own lists of names do not count."""
        importers: Counter[str] = Counter()
        for name, tree in self.modules.items():
            if not name.endswith("__init__"):
                importers.update({imported for imported in _imported(tree) if imported in self.modules})
        return importers


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_settings(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith(SETTINGS_BASES) for base in node.bases)


def _predicts(node: ast.ClassDef) -> bool:
    """Whether a class answers windows with a prediction; a protocol only says how."""
    if any("Protocol" in ast.unparse(base) for base in node.bases):
        return False
    functions = [line for line in node.body if isinstance(line, ast.FunctionDef) and line.name == "predict"]
    return any([argument.arg for argument in function.args.args] == PREDICT for function in functions)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return " " * len(data)


def _blobs(answer: bytes) -> Iterator[str]:
    """The contents that `git cat-file --batch` answers with."""
    place = 0
    while place < len(answer):
        head, _, _ = answer[place:].partition(b"\n")
        size = int(head.split()[2])
        place += len(head) + 1
        yield _text(answer[place : place + size])
        place += size + 1


def report(now: Mapping[str, int], before: Mapping[str, int] | None) -> Iterator[str]:
    """The table, a line a count."""
    yield f"{'' if before is None else 'before':>10} {'now':>10}   count"
    for name in now:
        yield f"{'' if before is None else f'{before[name]:,}':>10} {now[name]:>10,}   {name}"


def lines_of(revision: str | None) -> Iterator[str]:
    """The table, beside the counts of an earlier commit."""
    before = None if revision is None else dict(Tree.at(revision).counts())
    return report(dict(Tree.now().counts()), before)


if __name__ == "__main__":
    sys.exit(told(__doc__, "files", lines_of))
