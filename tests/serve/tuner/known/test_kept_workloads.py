"""The file of known workloads: it survives, and what is wrong with it is one sentence."""

import os
from pathlib import Path
from typing import NoReturn

import pytest

from poolpilot.errors import StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.known.kept_workloads import KeptWorkloads
from poolpilot.serve.tuner.known.known_workloads import KnownWorkloads, WorkloadRatios


@pytest.fixture
def known() -> KnownWorkloads:
    seen = WorkloadRatios(pool_tuple=PoolTuple(2, 3, 500), ratios=(0.1, None, 3.0, 0.3333, 1.0))
    return KnownWorkloads().filed(None, [seen], PoolTuple(16, 3, 10), 0.0213, 17)[0]


def test_what_was_written_is_read(known: KnownWorkloads, tmp_path: Path) -> None:
    kept = KeptWorkloads(tmp_path)
    assert kept.read() == KnownWorkloads()
    kept.write(known)
    assert KeptWorkloads(tmp_path).read() == known
    assert kept.path.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == [kept.path.name]


def test_full_disk_leaves_what_was_kept(known: KnownWorkloads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptWorkloads(tmp_path)
    kept.write(known)

    def fail(*_: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    kept.write(KnownWorkloads())
    assert kept.read() == known


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"entries": [{}]}', '{"entries": [], "more": 1}'])
def test_what_is_no_such_file_is_named(tmp_path: Path, text: str) -> None:
    kept = KeptWorkloads(tmp_path)
    kept.path.write_text(text)
    with pytest.raises(StoreError, match=r"is no file of known workloads .* remove it"):
        kept.read()


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    kept = KeptWorkloads(tmp_path)
    kept.path.mkdir()
    with pytest.raises(StoreError, match="Is a directory"):
        kept.read()
