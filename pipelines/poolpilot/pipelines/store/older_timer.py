"""The setting by which records of the pool's older timer are learned from all the same."""

from typing import Annotated

from pydantic import Field

OlderTimer = Annotated[
    bool,
    Field(
        description="Whether to learn also from records that are all of the pool's older timer; what they say of timer "
        "intervals is not what today's pool does."
    ),
]
"""What a program is told that learns from records; those of two timers together are refused whatever it says."""
