"""Recorded sweeps that come with the package: one of each family, so that everything can be tried as installed."""

import json
import lzma
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.window import Window

FOLDER = "samples"
"""Folder beside this module; in it a folder for each split, in that a file for each family."""

ENDING = ".json.xz"


def sample_families() -> dict[str, str]:
    """Families of which a sweep comes with the package, with the split of each.

    Examples:
        >>> sample_families()["page_faults"]
        'test'
    """
    return {name: split for name, (split, _) in _files().items()}


def sample_sweeps(family: str | None = None) -> list[WorkloadSweep]:
    """The sweep of one family, or those of all training families.

    They were measured on the embedded live pool with two processors. Features are rounded to four digits, everything
    else is as recorded.

    Args:
        family: A name of `sample_families`; all of the split "train" if None.

    Raises:
        SettingError: There is no such family.

    Examples:
        >>> sweep = sample_sweeps("page_faults")[0]
        >>> print(sweep.workload_id, len(sweep.entries), sweep.limits.cpus)
        page_faults-1-1 28 2
    """
    known = _files()
    if family is None:
        return [_read(name) for name, (split, _) in known.items() if split == "train"]
    if family not in known:
        raise SettingError(f"no sweep of a family {family!r} comes with the package; there are {', '.join(known)}")
    return [_read(family)]


@cache
def _files() -> dict[str, tuple[str, Traversable]]:
    """Split and file of every family, in alphabetical order."""
    listed = [
        (file.name.removesuffix(ENDING), split.name, file)
        for split in (files("poolpilot.env.measurement") / FOLDER).iterdir()
        for file in split.iterdir()
    ]
    return {family: (split, file) for family, split, file in sorted(listed, key=lambda sample: sample[0])}


@cache
def _read(family: str) -> WorkloadSweep:
    return sweep_of_json(json.loads(lzma.decompress(_files()[family][1].read_bytes())))


def sweep_as_json(sweep: WorkloadSweep) -> dict[str, Any]:
    """A sweep fit for JSON, features rounded; what re-measured its oracle is left out."""
    rounds = [(entry.last_round, window) for entry in sweep.entries.values() for window in entry.windows]
    return {
        "workload_id": sweep.workload_id,
        "family": sweep.family,
        "split": sweep.split,
        "limits": sweep.limits.as_dict(),
        "objective": sweep.objective.model_dump(mode="json"),
        "windows": [[last_round, _rounded(window.as_dict())] for last_round, window in rounds],
    }


def sweep_of_json(values: Mapping[str, Any]) -> WorkloadSweep:
    """Rebuilds a sweep from `sweep_as_json`."""
    return WorkloadSweep.build(
        [(int(last_round), Window.from_dict(window)) for last_round, window in values["windows"]],
        workload_id=values["workload_id"],
        family=values["family"],
        split=values["split"],
        limits=KnobSpace.from_dict(values["limits"]),
        objective=Objective.model_validate(values["objective"]),
    )


def _rounded(window: dict[str, Any]) -> dict[str, Any]:
    features = {name: None if value is None else float(f"{value:.4g}") for name, value in window["features"].items()}
    return {**window, "features": features}
