"""SQL views of the features, rendered from the same declarations that the numpy path evaluates."""

from poolpilot.featurizer.record import CONTEXT_FIELDS, OUTCOME_FIELDS, TUPLE_FIELDS
from poolpilot.featurizer.schema import FEATURES, SCHEMA_VERSION

SCALED_PREFIX = "scaled_"
"""A view's column `scaled_<feature>` is the feature as the network sees it, NULL where missing."""

KEPT_COLUMNS = tuple(field.name for field in CONTEXT_FIELDS + TUPLE_FIELDS + OUTCOME_FIELDS)
"""Columns of a record that the view passes on beside the features."""


def features_view_sql(records: str = "records", view: str = "features") -> str:
    """Renders the statement that creates the view of features over records.

    Args:
        records: Name of the table or view of records.
        view: Name of the view to create or replace.

    Returns:
        A DuckDB statement; the view has `KEPT_COLUMNS`, every feature in natural units by its name, and
        every feature scaled to 0..1 as `scaled_<name>`. Rows of another schema version are left out.
    """
    kept = ", ".join(f'"{name}"' for name in KEPT_COLUMNS)
    raw = ",\n".join(f'{feature.sql()} AS "{feature.name}"' for feature in FEATURES)
    clipped = ",\n".join(f'{feature.clip_sql()} AS "{feature.name}"' for feature in FEATURES)
    scaled = ",\n".join(f'{feature.scaled_sql()} AS "{SCALED_PREFIX}{feature.name}"' for feature in FEATURES)
    return (
        f'CREATE OR REPLACE VIEW "{view}" AS\n'
        f'WITH raw AS (SELECT {kept},\n{raw}\nFROM "{records}" WHERE "schema_version" = {SCHEMA_VERSION}),\n'
        f"clipped AS (SELECT {kept},\n{clipped}\nFROM raw)\n"
        f"SELECT *,\n{scaled}\nFROM clipped"
    )
