from collections.abc import Sequence
from typing import Any, ClassVar, TypedDict, final

@final
class SettingRow(TypedDict):
    name: str
    default: float
    unit: str
    low: float
    high: float
    effect: str

@final
class ChoiceRow(TypedDict):
    name: str
    default: str
    unit: str
    names: list[str]
    effect: str

class QueueSpec:
    def __init__(self, *, weight: float = ..., deadline_ms: float = ..., urgency_ms: float = ...) -> None: ...
    @staticmethod
    def fields() -> list[SettingRow | ChoiceRow]: ...
    def as_dict(self) -> dict[str, Any]: ...

class QueueRule:
    def __init__(self, *, class_id: int = ..., transaction: str = ..., queue: int = ...) -> None: ...
    @staticmethod
    def fields() -> list[SettingRow | ChoiceRow]: ...
    def as_dict(self) -> dict[str, Any]: ...

class RequestQueues:
    def __init__(
        self,
        *,
        discipline: str = ...,
        dequeue: str = ...,
        enqueue: str = ...,
        container: str = ...,
        next_queue: str = ...,
        share_of: str = ...,
        class_known: str = ...,
        default_queue: int = ...,
        round_ms: float = ...,
        queue_seed: int = ...,
        queues: Sequence[QueueSpec] = ...,
        rules: Sequence[QueueRule] = ...,
    ) -> None: ...
    def put(self, item: int, *, class_id: int, now_us: int, in_transaction: bool = ...) -> None: ...
    def take(self, *, now_us: int) -> int: ...
    def __len__(self) -> int: ...

class LivePool:
    def __init__(
        self,
        *,
        address: str = ...,
        cpus: Sequence[int] = ...,
        pool_size: int = ...,
        oversubscribe: int = ...,
        timer_interval_ms: int = ...,
        create_thread_on_wait: bool = ...,
        idle_timeout_s: float = ...,
        handler: str = ...,
        thread_cache_size: int = ...,
        hybrid_max_threads: int = ...,
        hybrid_min_waiting: int = ...,
        hybrid_keep_excess_ms: int = ...,
        hybrid_share_below_us: int = ...,
        queue_put_limit: int = ...,
        wake_top_limit: int = ...,
        above_wake_top: str = ...,
        listener_wake_limit: int = ...,
        listener_create_limit: int = ...,
        dedicated_listener: bool = ...,
        throttle: str = ...,
        admission_limit: int = ...,
        admission_escape_ms: int = ...,
        admission_queue_limit: int = ...,
        admission_exempt_class: int = ...,
        max_pool_size: int = ...,
        max_connections: int = ...,
        max_threads: int = ...,
        prio_kickup_ms: int = ...,
        weights: Sequence[float] = ...,
        discipline: str = ...,
        dequeue: str = ...,
        enqueue: str = ...,
        container: str = ...,
        next_queue: str = ...,
        share_of: str = ...,
        class_known: str = ...,
        default_queue: int = ...,
        round_ms: float = ...,
        queue_seed: int = ...,
        queues: Sequence[QueueSpec] = ...,
        rules: Sequence[QueueRule] = ...,
        wait_timeout_s: float = ...,
        hang_up_at_once: bool = ...,
        instrument: bool = ...,
        sample_every: int = ...,
        sample_pause_us: int = ...,
        latch_timeout_s: float = ...,
        class_names: Sequence[str] = ...,
        record_events: bool = ...,
    ) -> None: ...
    @staticmethod
    def fields() -> list[SettingRow | ChoiceRow]: ...
    @property
    def address(self) -> str: ...
    @property
    def pool_tuple(self) -> dict[str, Any]: ...
    def start(self) -> None: ...
    def close(self) -> None: ...
    def set_tuple(
        self,
        *,
        pool_size: int,
        oversubscribe: int,
        timer_interval_ms: int,
        create_thread_on_wait: bool = ...,
        idle_timeout_s: float = ...,
    ) -> dict[str, Any]: ...
    @property
    def knobs(self) -> dict[str, Any]: ...
    def set_knobs(
        self,
        *,
        queue_put_limit: int = ...,
        wake_top_limit: int = ...,
        above_wake_top: str = ...,
        listener_wake_limit: int = ...,
        listener_create_limit: int = ...,
        dedicated_listener: bool = ...,
        throttle: str = ...,
        admission_limit: int = ...,
        admission_escape_ms: int = ...,
        admission_queue_limit: int = ...,
        max_threads: int = ...,
        prio_kickup_ms: int = ...,
        weights: Sequence[float] = ...,
    ) -> dict[str, Any]: ...
    def snapshot(self) -> dict[str, Any]: ...
    def replayed_events(self) -> tuple[int, int]: ...

class LoadStep:
    def __init__(
        self,
        *,
        op: str,
        us: float = ...,
        variation: float = ...,
        kind: str = ...,
        reported: bool = ...,
        latch: int = ...,
        spread: int = ...,
        spin_us: int = ...,
        waiter_cost_us: float = ...,
        priority: str = ...,
    ) -> None: ...

class LoadClass:
    def __init__(self, *, name: str, steps: Sequence[LoadStep], share: float = ..., think_ms: float = ...) -> None: ...

class LoadGenerator:
    BUCKETS: ClassVar[int]
    MAX_PARTS: ClassVar[int]
    def __init__(
        self,
        *,
        address: str,
        classes: Sequence[LoadClass],
        connections: int,
        rate_per_s: float | None = ...,
        seed: int = ...,
        part: int = ...,
        parts: int = ...,
        ramp_s: float = ...,
        backlog_limit: int = ...,
        drain_timeout_s: float = ...,
        connect_timeout_s: float = ...,
        reconnect: bool = ...,
        reset_on_close: bool = ...,
    ) -> None: ...
    @staticmethod
    def fields() -> list[SettingRow | ChoiceRow]: ...
    @staticmethod
    def bucket_of(value: int) -> int: ...
    def connect(self) -> None: ...
    def run(self) -> None: ...
    def report(self) -> dict[str, Any]: ...
    def set_rate(self, rate_per_s: float) -> None: ...
    def request_stop(self) -> None: ...

class SimulatedMachine:
    def __init__(
        self,
        *,
        cpus: int = ...,
        law: str = ...,
        switch_us: float = ...,
        quantum_us: float = ...,
        credit_us: float = ...,
        cache_loss: float = ...,
        seed_loss: float = ...,
        overhead_us: float = ...,
        wake_us: float = ...,
        wake_cost_us: float = ...,
        create_us: float = ...,
        peek_us: float = ...,
        piece_us: float = ...,
        timer_slack_us: float = ...,
        client_us: float = ...,
        client_shares: bool = ...,
        waiter_growth: float = ...,
        disks: int = ...,
        disk_channels: int = ...,
        flush_us: float = ...,
        flush_reported: bool = ...,
    ) -> None: ...
    @staticmethod
    def fields() -> list[SettingRow | ChoiceRow]: ...

class SimulatedLoadChange:
    def __init__(
        self,
        *,
        at_s: float,
        rate_per_s: float | None = ...,
        connections: int | None = ...,
        think_factor: float | None = ...,
        shares: Sequence[float] = ...,
    ) -> None: ...

class SimulatedLoad:
    def __init__(
        self,
        *,
        classes: Sequence[LoadClass],
        connections: int,
        rate_per_s: float | None = ...,
        seed: int = ...,
        ramp_s: float = ...,
        backlog_limit: int = ...,
        changes: Sequence[SimulatedLoadChange] = ...,
    ) -> None: ...

class SimulatedDeadlock(RuntimeError): ...

class SimulatedPool:
    def __init__(
        self,
        *,
        machine: SimulatedMachine,
        load: SimulatedLoad,
        pool_size: int = ...,
        oversubscribe: int = ...,
        timer_interval_ms: int = ...,
        create_thread_on_wait: bool = ...,
        idle_timeout_s: float = ...,
        handler: str = ...,
        thread_cache_size: int = ...,
        hybrid_max_threads: int = ...,
        hybrid_min_waiting: int = ...,
        hybrid_keep_excess_ms: int = ...,
        hybrid_share_below_us: int = ...,
        queue_put_limit: int = ...,
        wake_top_limit: int = ...,
        above_wake_top: str = ...,
        listener_wake_limit: int = ...,
        listener_create_limit: int = ...,
        dedicated_listener: bool = ...,
        throttle: str = ...,
        admission_limit: int = ...,
        admission_escape_ms: int = ...,
        admission_queue_limit: int = ...,
        admission_exempt_class: int = ...,
        max_pool_size: int = ...,
        max_threads: int = ...,
        prio_kickup_ms: int = ...,
        weights: Sequence[float] = ...,
        discipline: str = ...,
        dequeue: str = ...,
        enqueue: str = ...,
        container: str = ...,
        next_queue: str = ...,
        share_of: str = ...,
        class_known: str = ...,
        default_queue: int = ...,
        round_ms: float = ...,
        queue_seed: int = ...,
        queues: Sequence[QueueSpec] = ...,
        rules: Sequence[QueueRule] = ...,
        latch_timeout_s: float = ...,
        record_events: bool = ...,
    ) -> None: ...
    @staticmethod
    def fields() -> list[SettingRow | ChoiceRow]: ...
    @property
    def pool_tuple(self) -> dict[str, Any]: ...
    @property
    def now_s(self) -> float: ...
    @property
    def events(self) -> int: ...
    @property
    def sent(self) -> int: ...
    @property
    def answered(self) -> int: ...
    @property
    def thread_changes(self) -> int: ...
    def run(self, seconds: float, requests: int | None = ..., least_s: float = ...) -> None: ...
    def set_tuple(
        self,
        *,
        pool_size: int,
        oversubscribe: int,
        timer_interval_ms: int,
        create_thread_on_wait: bool = ...,
        idle_timeout_s: float = ...,
    ) -> dict[str, Any]: ...
    @property
    def knobs(self) -> dict[str, Any]: ...
    def set_knobs(
        self,
        *,
        queue_put_limit: int = ...,
        wake_top_limit: int = ...,
        above_wake_top: str = ...,
        listener_wake_limit: int = ...,
        listener_create_limit: int = ...,
        dedicated_listener: bool = ...,
        throttle: str = ...,
        admission_limit: int = ...,
        admission_escape_ms: int = ...,
        admission_queue_limit: int = ...,
        max_threads: int = ...,
        prio_kickup_ms: int = ...,
        weights: Sequence[float] = ...,
    ) -> dict[str, Any]: ...
    def snapshot(self) -> dict[str, Any]: ...
    def replayed_events(self) -> tuple[int, int]: ...

def run_all(
    pools: Sequence[SimulatedPool],
    *,
    seconds: Sequence[float],
    requests: int | None = ...,
    least_s: Sequence[float],
    threads: int = ...,
) -> list[str | None]: ...

class SimulatedStation:
    def __init__(
        self,
        *,
        service: str = ...,
        channels: int = ...,
        mean_s: Sequence[float],
        variation: float = ...,
        next: Sequence[float] = ...,
        spread: float = ...,
        weights: Sequence[float] = ...,
        queue_power: float = ...,
        discipline: str = ...,
        dequeue: str = ...,
        enqueue: str = ...,
        container: str = ...,
        next_queue: str = ...,
        share_of: str = ...,
        class_known: str = ...,
        default_queue: int = ...,
        round_ms: float = ...,
        queue_seed: int = ...,
        queues: Sequence[QueueSpec] = ...,
        rules: Sequence[QueueRule] = ...,
    ) -> None: ...

class SimulatedNetwork:
    def __init__(
        self,
        *,
        stations: Sequence[SimulatedStation],
        rate_per_s: Sequence[float] = ...,
        population: Sequence[int] = ...,
        seed: int = ...,
        places: Sequence[int] = ...,
        becomes: Sequence[Sequence[float]] = ...,
    ) -> None: ...
    def run(self, services: int | None = ..., *, events: int | None = ...) -> dict[str, Any]: ...

class ClimbRecord(TypedDict):
    sample: int
    mode: str
    size: int
    next_size: int
    wave_low: int
    wave_high: int
    bracket_low: int
    bracket_high: int
    throughput: float | None
    size_harmonic: complex
    throughput_harmonic: complex
    ratio: float
    error: float | None
    progress: float
    period_s: float
    decision: str
    reason: str

class KnobState(TypedDict):
    value: int
    next_value: int
    middle: int
    wave_low: int
    wave_high: int
    ratio: float | None
    error: float | None

class KnobRecord(TypedDict):
    sample: int
    mode: str
    knobs: list[KnobState]
    throughput: float | None
    duration_s: float | None
    period_s: float
    decision: str
    reason: str

class Climber:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def update(
        self,
        throughput: float | None,
        connections: float,
        latency_s: float,
        size: int,
        duration_s: float = 0.0,
        in_system: float | None = None,
        completed_per_s: float | None = None,
    ) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def period_s(self) -> float: ...

class SpectralSettings:
    def __init__(self, **settings: float) -> None: ...
    def __getattr__(self, name: str) -> float: ...
    def replaced(self, **settings: float) -> SpectralSettings: ...
    def as_dict(self) -> dict[str, float]: ...
    @staticmethod
    def fields() -> list[SettingRow]: ...
    @staticmethod
    def article() -> SpectralSettings: ...

class SpectralClimber(Climber):
    def __init__(
        self,
        settings: SpectralSettings,
        initial_size: int,
        min_size: int,
        max_size: int,
        *,
        warm: bool = False,
    ) -> None: ...
    def adopt(self, settings: SpectralSettings) -> None: ...
    @property
    def settings(self) -> SpectralSettings: ...
    @property
    def mode(self) -> str: ...
    @property
    def latest(self) -> ClimbRecord: ...
    def log(self) -> list[ClimbRecord]: ...

class KnobClimber:
    def __init__(
        self,
        settings: SpectralSettings,
        knobs: Sequence[tuple[int, int, float]],
        values: Sequence[int],
    ) -> None: ...
    def update(
        self,
        throughput: float | None,
        connections: float,
        latency_s: float,
        values: Sequence[int],
        duration_s: float = 0.0,
        in_system: float | None = None,
        completed_per_s: float | None = None,
    ) -> list[int]: ...
    def adopt(self, settings: SpectralSettings, prices: Sequence[float] = ...) -> None: ...
    @property
    def settings(self) -> SpectralSettings: ...
    @property
    def period_s(self) -> float: ...
    @property
    def values(self) -> list[int]: ...
    @property
    def mode(self) -> str: ...
    @property
    def latest(self) -> KnobRecord: ...
    def log(self) -> list[KnobRecord]: ...
    @property
    def ratios(self) -> list[float]: ...
    @property
    def errors(self) -> list[float]: ...

class ControlTheoryClimber(Climber):
    def __init__(self, initial_size: int, min_size: int, max_size: int) -> None: ...

class ThreeStateClimber(Climber):
    def __init__(self, initial_size: int, min_size: int, max_size: int) -> None: ...

class DotnetClimber(Climber):
    def __init__(self, initial_size: int, min_size: int, max_size: int) -> None: ...

class ProbingClimber(Climber):
    def __init__(self, initial_size: int, min_size: int, max_size: int) -> None: ...

class GoldenSectionClimber(Climber):
    def __init__(self, initial_size: int, min_size: int, max_size: int) -> None: ...
