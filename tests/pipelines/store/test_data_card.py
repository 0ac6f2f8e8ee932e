"""The data card tells what a store holds, from the store alone."""

from pathlib import Path

import pytest

from poolpilot.errors import StoreError
from poolpilot.pipelines.store.data_card import write_data_card


def test_card_counts_families_and_windows(recorded_store: Path) -> None:
    text = write_data_card(recorded_store, {"mariadbd": "10.11"}).read_text()
    assert "* mariadbd: 10.11." in text
    assert "15 workloads of 5 families" in text
    assert "sweep" in text


def test_card_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        write_data_card(tmp_path, {})
