"""Processors are kept awake by what Linux offers for it, and only where it does."""

from pathlib import Path

from poolpilot.pipelines.bench.serving.awake import processors_awake


def test_no_latency_is_asked_for_as_long_as_the_block_lasts(tmp_path: Path) -> None:
    request = tmp_path / "cpu_dma_latency"
    with processors_awake(request) as awake:
        assert awake
        assert request.read_bytes() == bytes(4)


def test_where_the_system_does_not_let_us_it_is_told(tmp_path: Path) -> None:
    with processors_awake(tmp_path / "missing" / "cpu_dma_latency") as awake:
        assert not awake
