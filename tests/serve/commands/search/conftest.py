"""The record store that searches learn from is the one of the pipelines' tests."""

from tests.pipelines.conftest import recorded_store

__all__ = ["recorded_store"]
