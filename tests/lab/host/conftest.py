"""Servers whose installation is what is tested."""

from collections.abc import Iterator

import pytest
from tests.lab_data import LabData


@pytest.fixture(scope="module", autouse=True)
def _all_installed_anew(lab_data: LabData) -> Iterator[None]:
    """Who owns the data that an installation makes, and who may log in to them."""
    with lab_data.left_out():
        yield
