"""Every setting of the spectral climber as one settings model, made from the table that the climber itself holds."""

from typing import TYPE_CHECKING, Any

from pydantic import FiniteFloat, create_model
from pydantic_settings import SettingsConfigDict

from poolpilot.env.climbing.spectral import native_settings
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.native_pool import SpectralSettings
from poolpilot.native_pool.setting_field import setting_field

if TYPE_CHECKING:
    from poolpilot.native_pool._core import SettingRow

ENVIRONMENT_PREFIX = "POOLPILOT_CLIMB_"


class SpectralModel(ProgramSettings):
    """What the models made by `spectral_model` have in common."""

    model_config = SettingsConfigDict(env_prefix=ENVIRONMENT_PREFIX)

    def native(self) -> SpectralSettings:
        """The climber's own settings.

        Raises:
            SettingError: Two values contradict each other; the text names both settings.
        """
        return native_settings(**self.model_dump())


def spectral_model(defaults: SpectralSettings) -> type[SpectralModel]:
    """Makes the settings model: one field for every setting of the climber, with its type, range, effect and unit.

    Args:
        defaults: Values of the settings that nobody names.
    """
    values = defaults.as_dict()
    fields: dict[str, Any] = {
        row["name"]: (_kind(row), setting_field(row, values[row["name"]])) for row in SpectralSettings.fields()
    }
    return create_model("SpectralModel", __base__=SpectralModel, __module__=__name__, **fields)


def _kind(row: "SettingRow") -> Any:
    kind = type(row["default"])
    return FiniteFloat if kind is float else kind
