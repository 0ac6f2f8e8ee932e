"""Knobs for tests of what is kept of them."""

import pytest

from poolpilot.env.knobs import KnobSpace


@pytest.fixture
def stock() -> KnobSpace:
    """The knobs of a stock server on four processors."""
    return KnobSpace.stock(4)
