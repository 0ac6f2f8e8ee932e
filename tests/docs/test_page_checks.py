"""A figure without a command, a decision without a line, a link to a page that went: the build fails and names it."""

import shutil
import subprocess
import sys
from pathlib import Path

import page_checks
import pytest

ROOT = Path(__file__).parents[2]
MEASURED = "| a | b |\n|---|---|\n| 12 % | x1.4 |\n| 3 % | x2 |\n"


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("# A\n\n![what it shows](images/x.png)\n", ["the picture images/x.png"]),
        ("# A\n\n![what it shows](images/x.png)\n\nCommand: `make bench`\n", []),
        ("# A\n\nCommand: `make bench`\n\n# B\n\n![one](x.png) ![other](y.png)\n", ["picture x.png", "picture y.png"]),
        (f"# A\n\n{MEASURED}", ["the table '| a | b |'"]),
        (f"# A\n\n{MEASURED}\nCommands: `make bench` and `make`\n", []),
        (f"# A\n\n```\n{MEASURED}```\n", []),
        ("# A\n\n| setting | default |\n|---|---|\n| a | 1 % |\n| b | 2 % |\n| c | 3 % |\n", []),
        (f"# A\n\n<!-- suite: begin -->\n{MEASURED}<!-- suite: end -->\n", []),
        (f"# A\n\n<!-- nobody: begin -->\n{MEASURED}<!-- nobody: end -->\n", ["markers of 'nobody'"]),
    ],
)
def test_figures_need_a_command(page: str, names: list[str]) -> None:
    refused = list(page_checks.refused_in("page.md", page))
    assert len(refused) == len(names)
    assert all(name in sentence for name, sentence in zip(names, refused, strict=True))


def test_pages_of_today_are_refused_nothing() -> None:
    assert page_checks.main([]) == 0


@pytest.mark.parametrize(
    ("added", "named"),
    [
        ({"plan.md": "\n![a picture](images/pool.png)\n"}, "the picture images/pool.png"),
        ({"plan.md": "\n[gone](gone.md)\n"}, "gone.md"),
        ({"decisions/9999-new.md": "# New\n"}, "decisions/9999-new.md"),
    ],
)
def test_build_fails_and_names_it(tmp_path: Path, added: dict[str, str], named: str) -> None:
    for name in ("docs", "benchmarks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("reports"))
    hook = "site_name: Copy\nuse_directory_urls: false\nhooks: [docs/page_checks.py]\nexclude_docs: '*.py'\n"
    (tmp_path / "mkdocs.yml").write_text(f"{hook}validation: {{unrecognized_links: warn}}\n", encoding="utf-8")
    for page, text in added.items():
        with (tmp_path / "docs" / page).open("a", encoding="utf-8") as file:
            file.write(text)
    build = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    built = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode != 0
    assert any(named in line for line in built.stderr.splitlines() if not line.startswith("INFO"))
