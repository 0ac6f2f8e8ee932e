"""One row of a native table of settings as a field of a pydantic model."""

import math
from typing import TYPE_CHECKING, Any

from pydantic import Field

if TYPE_CHECKING:
    from poolpilot.native_pool._core import ChoiceRow, SettingRow


def setting_field(row: "SettingRow | ChoiceRow", **changes: Any) -> Any:
    """The default, range and meaning of a setting; the type of the values is for the model to say.

    Args:
        row: Row of `fields()` of a native class.
        **changes: Arguments of pydantic's `Field` that the row does not give, or gives otherwise, such as `default`.
    """
    low = high = None
    if "low" in row and not isinstance(row["default"], bool):
        low, high = row["low"], row["high"] if math.isfinite(row["high"]) else None
    described = {"default": row["default"], "ge": low, "le": high, "description": f"{row['effect']} ({row['unit']})"}
    return Field(**{**described, **changes})
