"""The record schema: one row per measured window, flat enough for Parquet and SQL."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from poolpilot.errors import StoreError
from poolpilot.featurizer.measures import HISTOGRAMS, MEASURE_NAMES, STATUS_COUNTERS, Measures
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.profile import WorkloadProfile
from poolpilot.featurizer.schema import SCHEMA_VERSION, indicators_of
from poolpilot.featurizer.snapshot import server_kind_of
from poolpilot.featurizer.window import Window, checked_classes

RecordValue = int | float | str | bool | None
RecordKind = Literal["int", "float", "text", "bool"]
Occasion = Literal["sweep", "climb", "random", "probe"]

TIMER = "free"
"""How the pool's timer behaves today: only a new interval arms it anew, as MariaDB's."""

OLDER_TIMER = "restarted"
"""How it behaved before records said so: every change of the tuple armed it anew."""


@dataclass(frozen=True, slots=True)
class RecordField:
    """One column of a record.

    Attributes:
        name: Column name.
        kind: Type of its values; any may be null where `nullable`.
        unit: Unit of its values; empty for texts, names and flags.
        description: What it holds, in words.
        nullable: Whether a row may lack it.
    """

    name: str
    kind: RecordKind
    unit: str
    description: str
    nullable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordContext:
    """What is known about a window beside what was measured.

    Attributes:
        workload_id: Workload, unique within a store.
        family: Family the workload was drawn from.
        split: `train`, `validation` or `test`.
        machine: Label of the machine.
        server: Label of the server backend.
        workload_seed: Seed the workload was drawn with.
        run_id: Collection run.
        kind: Why the window was measured.
        round: Number of the window within its sweep or climb.
        propensity: Probability with which the tuple was chosen; 1 where nothing was drawn.
        time_unix_s: Wall clock at the window's end.
        steal_share: Share of CPU time the hypervisor took; None where it cannot be read.
        settle_s: Time the server had to settle under the tuple before the window.
    """

    workload_id: str
    family: str
    split: str
    machine: str
    server: str
    workload_seed: int
    run_id: str
    kind: Occasion
    round: int
    propensity: float
    time_unix_s: float
    steal_share: float | None
    settle_s: float


CONTEXT_FIELDS = (
    RecordField("schema_version", "int", "", "version of the feature schema the measures were taken under"),
    RecordField("workload_id", "text", "", "workload, unique within a store"),
    RecordField("family", "text", "", "family the workload was drawn from"),
    RecordField("split", "text", "", "train, validation or test"),
    RecordField("machine", "text", "", "label of the machine"),
    RecordField("server", "text", "", "label of the server backend"),
    RecordField("workload_seed", "int", "", "seed the workload was drawn with"),
    RecordField("run_id", "text", "", "collection run"),
    RecordField("kind", "text", "", "why the window was measured: sweep, climb, random or probe"),
    RecordField("round", "int", "", "number of the window within its sweep or climb"),
    RecordField("propensity", "float", "1", "probability with which the configuration was chosen"),
    RecordField("time_unix_s", "float", "s", "wall clock at the window's end"),
    RecordField("steal_share", "float", "1", "share of CPU time the hypervisor took", nullable=True),
    RecordField("settle_s", "float", "s", "time to settle under the configuration before the window"),
    RecordField("timer", "text", "", "free, or restarted: by every change of the configuration, as in older records"),
)
TUPLE_FIELDS = (
    RecordField("pool_size", "int", "groups", "number of thread groups"),
    RecordField("oversubscribe", "int", "threads", "extra active threads a group tolerates"),
    RecordField("timer_interval_ms", "int", "ms", "tick of the timer that detects stalls"),
    RecordField("create_thread_on_wait", "bool", "", "whether a reported wait may wake or create a thread"),
    RecordField("idle_timeout_s", "float", "s", "time after which a sleeping worker exits"),
)
OUTCOME_FIELDS = (
    RecordField("goodput_per_s", "float", "1/s", "weighted requests within their target"),
    RecordField("throughput_per_s", "float", "1/s", "requests completed"),
    RecordField("p99_ms", "float", "ms", "99th percentile of latency over all classes", nullable=True),
    RecordField("objective", "float", "ln(1/s)", "the objective J of the window"),
    RecordField("classes", "text", "", "JSON of each class: throughput and sparse latency histogram"),
)


def _measure_field(name: str) -> RecordField:
    unit = "s" if name == "duration_s" else "us" if name.endswith(("_us", "_us_mean", "_us_p50", "_us_p95")) else "1"
    histogram = next((known for known in HISTOGRAMS if name.startswith(f"{known}_")), None)
    words = f"{name.rpartition('_')[2]} of the histogram {histogram}" if histogram else f"measure {name}"
    return RecordField(name, "float", unit, f"{words} over the window", nullable=name != "duration_s")


MEASURE_FIELDS = tuple(_measure_field(name) for name in MEASURE_NAMES)

RECORD_FIELDS: tuple[RecordField, ...] = CONTEXT_FIELDS + TUPLE_FIELDS + OUTCOME_FIELDS + MEASURE_FIELDS
"""All columns of a record, in order."""


def record_row(
    window: Window, measures: Measures, context: RecordContext, *, goodput_per_s: float, objective: float
) -> dict[str, RecordValue]:
    """Builds the record of a measured window.

    Args:
        window: The window.
        measures: The measures it was computed from.
        context: Where, when and why it was measured.
        goodput_per_s: Its goodput.
        objective: Its objective J.

    Returns:
        A value for every field of `RECORD_FIELDS`, in that order.
    """
    classes = {name: each.as_dict() for name, each in window.classes.items()}
    return {
        "schema_version": window.schema_version,
        **asdict(context),
        "timer": TIMER,
        **window.pool_tuple.as_dict(),
        "goodput_per_s": goodput_per_s,
        "throughput_per_s": window.throughput_per_s,
        "p99_ms": window.p99_ms,
        "objective": objective,
        "classes": json.dumps(classes, separators=(",", ":")),
        **{name: measures[name] for name in MEASURE_NAMES},
    }


def measures_of(row: Mapping[str, Any]) -> dict[str, float | None]:
    """Takes the measures out of a record.

    NaN, which data frames hold for NULL, is missing, as are columns that came later than the record.
    """
    values = ((name, row.get(name) if name in STATUS_COUNTERS else row[name]) for name in MEASURE_NAMES)
    return {name: None if value is None or value != value else float(value) for name, value in values}


def window_of(row: Mapping[str, Any]) -> Window:
    """Rebuilds the window that a record was made from; features are computed anew from its measures.

    Raises:
        StoreError: The record was made under another schema version.
        FeatureError: The class histograms are malformed.
    """
    if row["schema_version"] != SCHEMA_VERSION:
        version = row["schema_version"]
        raise StoreError(f"a record has schema version {version}; this release reads {SCHEMA_VERSION}: collect anew")
    measures = measures_of(row)
    pool_tuple = PoolTuple.from_dict({field.name: row[field.name] for field in fields(PoolTuple)})
    profile = WorkloadProfile.from_measures(pool_tuple, measures)
    classes = checked_classes(json.loads(row["classes"]))
    kind = server_kind_of(row["server"])
    duration_s, indicators = float(row["duration_s"]), indicators_of(measures)
    return Window(SCHEMA_VERSION, pool_tuple, duration_s, profile, classes, server_kind=kind, indicators=indicators)
