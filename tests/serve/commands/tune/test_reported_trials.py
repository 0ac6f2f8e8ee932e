"""Outcomes are of a server, whatever way leads to it: it is by its own name that those of many hosts are told apart."""

from pathlib import Path
from typing import Any

import pytest

from poolpilot.env.objective import Objective
from poolpilot.env.output import terminal
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.target import Target
from poolpilot.models.body import from_body
from poolpilot.serve.commands.learn.learn_command import reported_outcomes
from poolpilot.serve.commands.tune.reported_trials import reported_trials
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.tuner.tried import Tried


def test_servers_that_are_reached_alike_are_told_apart(outcome_values: dict[str, Any], tmp_path: Path) -> None:
    """Before, all were called as they were reached, so that a fleet was one server to whoever averages over servers."""
    before, after = from_body(outcome_values["request"]).windows
    for own_name in ("db1-0123", "db2-4567"):
        target = Target(CurveServer([(1, 100)]), Objective(), "127.0.0.1:3306", own_name=own_name)
        with reported_trials(TuneSettings(outcomes=tmp_path), target, terminal(quiet=True)) as on_tried:
            on_tried(Tried(before, after, kept=True, model_digest="ab" * 32))
    kept = list(reported_outcomes(tmp_path, pytest.fail))
    assert [one.server_id for one in kept] == ["db1-0123", "db2-4567"]
