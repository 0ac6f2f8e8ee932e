"""`poolpilot records --check` says what is in records and what is wrong with them, and exits accordingly."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from poolpilot.env.measurement.sweep import AGAIN_ROUND
from poolpilot.errors import StoreError
from poolpilot.featurizer.record import OLDER_TIMER
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.serve.commands.learn.records_command import SHOWN_OF_A_KIND
from poolpilot.serve.commands.main import build
from poolpilot.serve.commands.presentation.exit_codes import REFUSED

SHIPPED = Path(__file__).parents[4] / "pipelines" / "records"


def run(*arguments: object) -> Result:
    given = ["records", "--check", *map(str, arguments)]
    return CliRunner().invoke(build(), given, env={"COLUMNS": "200"}, catch_exceptions=False)


def without_windows_of_small_sizes(store: Path) -> list[dict[str, Any]]:
    """Rows of the shipped records without what their sweeps measured under the default."""
    return [
        dict(row)
        for row in StagingStore(store).window_rows()
        if row["pool_size"] > 2 or row["round"] == AGAIN_ROUND or row["kind"] != "sweep"
    ]


def test_shipped_records_are_refused_for_their_timer_alone_and_what_is_to_know_is_shown(tmp_path: Path) -> None:
    result = run(SHIPPED, "--json", tmp_path / "check.json")
    assert result.exit_code == REFUSED
    assert "1 faults for which training refuses, 1 things to know." in result.output
    summary = json.loads((tmp_path / "check.json").read_text(encoding="utf-8"))
    (store,) = summary["stores"]
    assert (store["workloads"], store["windows"], store["timers"]) == (215, 10316, [OLDER_TIMER])
    assert summary["refused"] == 1
    assert [(fault["kind"], fault["refused"]) for fault in summary["faults"]] == [("leak", False), ("timer", True)]


def test_records_that_pass_end_with_0() -> None:
    result = run(SHIPPED.parent / "native")
    assert result.exit_code == 0
    assert "0 faults for which training refuses, 1 things to know." in result.output


def test_faults_end_with_the_exit_code_of_a_refusal_and_the_file_has_all_of_them(tmp_path: Path) -> None:
    store = StagingStore(tmp_path / "store")
    store.workloads.append(list(StagingStore(SHIPPED).workload_rows().values()), "run")
    store.windows.append(without_windows_of_small_sizes(SHIPPED), "run")
    result = run(store.directory, "--json", tmp_path / "check.json")
    assert result.exit_code == REFUSED
    faults = json.loads((tmp_path / "check.json").read_text(encoding="utf-8"))["faults"]
    missing = [fault["subject"] for fault in faults if fault["kind"] == "no_default"]
    assert len(missing) == 215
    assert f"and {215 - SHOWN_OF_A_KIND} more; --json has them all" in result.output


def test_a_folder_that_holds_nothing_is_a_sentence_and_no_folder_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no workloads"):
        run(tmp_path)
    assert run().exit_code == 2
