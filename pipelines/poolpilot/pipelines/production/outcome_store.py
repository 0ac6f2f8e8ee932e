"""The store of outcomes: Parquet segments beside those of the windows, and DuckDB's view of them."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import duckdb
import pyarrow as pa

from poolpilot.errors import PoolPilotError
from poolpilot.models.body import as_body, from_body
from poolpilot.pipelines.production.production_outcome import OF_BEFORE, ProductionOutcome
from poolpilot.pipelines.store.record_store import RecordStore

FOLDER = "outcomes"
"""Name of the folder within a store."""

OUTCOME_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("server_id", pa.string(), nullable=False),
        pa.field("server_kind", pa.string(), nullable=False),
        pa.field("cpus", pa.int64(), nullable=True),
        pa.field("propensity", pa.float64(), nullable=False),
        pa.field("model_digest", pa.string(), nullable=False),
        pa.field("verdict", pa.string(), nullable=False),
        pa.field("tuple_before", pa.string(), nullable=False),
        pa.field("tuple_after", pa.string(), nullable=False),
        pa.field("throughput_before_per_s", pa.float64(), nullable=False),
        pa.field("throughput_after_per_s", pa.float64(), nullable=False),
        pa.field("gain", pa.float64(), nullable=False),
        pa.field("request", pa.string(), nullable=False),
    ]
)
"""One row for each outcome; `request` is the JSON of its windows, limits and objective."""

REALISED_SQL = """
CREATE OR REPLACE VIEW realised AS
SELECT model_digest, server_id, id,
       CASE verdict WHEN 'kept' THEN gain ELSE least(gain, 0.0) END AS gain
FROM outcomes
WHERE verdict <> 'not tried'
"""
"""What each decision has gained: what was rolled back has gained nothing, and has cost what its window lost."""


class OutcomeStore:
    """The outcomes of a store.

    Args:
        directory: Folder of the store; outcomes have one of their own in it.
    """

    def __init__(self, directory: Path) -> None:
        self.records = RecordStore(directory / FOLDER, OUTCOME_SCHEMA)

    def take_in(self, outcomes: Iterable[ProductionOutcome], run_id: str = "outcomes") -> int:
        """Keeps the outcomes whose name is new, as one segment; returns how many.

        Raises:
            StoreError: The folder cannot be written.
        """
        known = set(self.records.scan()["id"].to_pylist())
        rows = []
        for outcome in outcomes:
            if outcome.id not in known:
                known.add(outcome.id)
                body = as_body((outcome.before, outcome.after), outcome.limits, outcome.objective)
                rows.append(outcome.as_row(json.dumps(body)))
        if rows:
            self.records.append(rows, run_id)
        return len(rows)

    def read(self, on_left_out: Callable[[str], None] = lambda _reason: None) -> Iterator[ProductionOutcome]:
        """Every outcome that this version can read, by its name.

        Args:
            on_left_out: Is told why, once for each that cannot be read, as one of another version's schema.

        Raises:
            StoreError: A segment was written with other columns.
        """
        for row in sorted(self.records.scan().to_pylist(), key=lambda one: str(one["id"])):
            try:
                request = from_body(json.loads(row["request"]))
            except PoolPilotError as error:
                on_left_out(f"outcome {row['id']} cannot be read: {error}")
                continue
            yield ProductionOutcome(
                id=row["id"],
                server_id=row["server_id"],
                propensity=row["propensity"],
                model_digest=row["model_digest"],
                verdict=OF_BEFORE.get(row["verdict"], row["verdict"]),
                before=request.windows[0],
                after=request.windows[1],
                limits=request.limits,
                objective=request.objective,
            )

    def connect(self) -> duckdb.DuckDBPyConnection:
        """DuckDB with the views `outcomes` and `realised` over the sound segments of this moment."""
        connection = duckdb.connect()
        connection.register("outcome_rows", self.records.scan())
        connection.execute("CREATE OR REPLACE VIEW outcomes AS SELECT * FROM outcome_rows")
        connection.execute(REALISED_SQL)
        return connection

    def gains(self, digests: Iterable[str]) -> dict[str, list[float]]:
        """What the decisions of a model have gained, by server.

        Args:
            digests: Digests of what decided.
        """
        with self.connect() as connection:
            found = connection.execute(
                "SELECT server_id, gain FROM realised WHERE list_contains(?, model_digest) ORDER BY server_id, id",
                [list(digests)],
            ).fetchall()
        gains: dict[str, list[float]] = {}
        for server_id, gain in found:
            gains.setdefault(server_id, []).append(gain)
        return gains
