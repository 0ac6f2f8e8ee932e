from collections.abc import Sequence
from typing import Any, ClassVar, TypedDict

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
        queue_put_limit: int = ...,
        wake_top_limit: int = ...,
        listener_wake_limit: int = ...,
        listener_create_limit: int = ...,
        dedicated_listener: bool = ...,
        throttle: str = ...,
        max_pool_size: int = ...,
        max_connections: int = ...,
        max_threads: int = ...,
        prio_kickup_ms: int = ...,
        instrument: bool = ...,
        sample_every: int = ...,
        latch_timeout_s: float = ...,
        class_names: Sequence[str] = ...,
        record_events: bool = ...,
    ) -> None: ...
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
    ) -> None: ...

class LoadClass:
    def __init__(self, *, name: str, steps: Sequence[LoadStep], share: float = ..., think_ms: float = ...) -> None: ...

class LoadGenerator:
    BUCKETS: ClassVar[int]
    def __init__(
        self,
        *,
        address: str,
        classes: Sequence[LoadClass],
        connections: int,
        rate_per_s: float | None = ...,
        seed: int = ...,
        ramp_s: float = ...,
        backlog_limit: int = ...,
        drain_timeout_s: float = ...,
        connect_timeout_s: float = ...,
    ) -> None: ...
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
        queue_put_limit: int = ...,
        wake_top_limit: int = ...,
        listener_wake_limit: int = ...,
        listener_create_limit: int = ...,
        dedicated_listener: bool = ...,
        throttle: str = ...,
        max_pool_size: int = ...,
        max_threads: int = ...,
        prio_kickup_ms: int = ...,
        latch_timeout_s: float = ...,
        record_events: bool = ...,
    ) -> None: ...
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
    def run(self, seconds: float, requests: int | None = ...) -> None: ...
    def set_tuple(
        self,
        *,
        pool_size: int,
        oversubscribe: int,
        timer_interval_ms: int,
        create_thread_on_wait: bool = ...,
        idle_timeout_s: float = ...,
    ) -> dict[str, Any]: ...
    def snapshot(self) -> dict[str, Any]: ...
    def replayed_events(self) -> tuple[int, int]: ...

def run_all(
    pools: Sequence[SimulatedPool], *, seconds: Sequence[float], requests: int | None = ..., threads: int = ...
) -> list[str | None]: ...

class SimulatedStation:
    def __init__(
        self,
        *,
        discipline: str = ...,
        channels: int = ...,
        mean_s: Sequence[float],
        variation: float = ...,
        next: Sequence[float] = ...,
    ) -> None: ...

class SimulatedNetwork:
    def __init__(
        self,
        *,
        stations: Sequence[SimulatedStation],
        rate_per_s: Sequence[float] = ...,
        population: Sequence[int] = ...,
        seed: int = ...,
    ) -> None: ...
    def run(self, services: int) -> dict[str, Any]: ...

class SpectralDecision(TypedDict):
    sample: int
    mode: str
    size: int
    ratio: float
    noise: float
    reason: str

class SpectralSettings:
    def __init__(
        self,
        *,
        wave_period: int = 4,
        samples_to_wave_period_ratio: int = 8,
        min_periods_to_decide: int = 2,
        settle_samples: int = 1,
        price_of_thread: float = 0.02,
        confidence: float = 2.0,
        hcm_ccs_valuable_progress: float = 0.2,
        hcm_reference_size: float = 72.0,
        hcm_min_thread_wave_magnitude: float = 10.0,
        hcm_max_thread_wave_magnitude: float = 80.0,
        wave_magnitude_growth: float = 2.0,
        wave_noise_multiplier: float = 6.0,
        hcm_eps: float = 5.0,
        hcm_step_gain: float = 2.0,
        hcm_max_step_ratio: float = 2.0,
        hcm_plateau_factor: float = 0.36,
        hcm_plateau_decay: float = 0.018,
        hcm_valuable_diff: float = 0.2,
        hcm_reference_samples: int = 16,
        hcm_exit_samples: int = 8,
        hcm_exit_confidence: float = 5.0,
        hcm_steep_decline: float = 0.8,
        hcm_false_optimized_excess: float = 20.0,
        hcm_false_jump_ratio: float = 0.2,
        min_accepted_throughput: float = 300.0,
        log_limit: int = 1000,
    ) -> None: ...
    @property
    def wave_period(self) -> int: ...
    @property
    def samples_to_wave_period_ratio(self) -> int: ...
    @property
    def min_periods_to_decide(self) -> int: ...
    @property
    def settle_samples(self) -> int: ...
    @property
    def price_of_thread(self) -> float: ...
    @property
    def confidence(self) -> float: ...
    @property
    def hcm_ccs_valuable_progress(self) -> float: ...
    @property
    def hcm_reference_size(self) -> float: ...
    @property
    def hcm_min_thread_wave_magnitude(self) -> float: ...
    @property
    def hcm_max_thread_wave_magnitude(self) -> float: ...
    @property
    def wave_magnitude_growth(self) -> float: ...
    @property
    def wave_noise_multiplier(self) -> float: ...
    @property
    def hcm_eps(self) -> float: ...
    @property
    def hcm_step_gain(self) -> float: ...
    @property
    def hcm_max_step_ratio(self) -> float: ...
    @property
    def hcm_plateau_factor(self) -> float: ...
    @property
    def hcm_plateau_decay(self) -> float: ...
    @property
    def hcm_valuable_diff(self) -> float: ...
    @property
    def hcm_reference_samples(self) -> int: ...
    @property
    def hcm_exit_samples(self) -> int: ...
    @property
    def hcm_exit_confidence(self) -> float: ...
    @property
    def hcm_steep_decline(self) -> float: ...
    @property
    def hcm_false_optimized_excess(self) -> float: ...
    @property
    def hcm_false_jump_ratio(self) -> float: ...
    @property
    def min_accepted_throughput(self) -> float: ...
    @property
    def log_limit(self) -> int: ...

class SpectralClimber:
    def __init__(
        self,
        settings: SpectralSettings,
        initial_size: int,
        min_size: int,
        max_size: int,
        *,
        warm: bool = False,
    ) -> None: ...
    def update(self, throughput: float, connections: float, latency_s: float, size: int) -> int: ...
    @property
    def mode(self) -> str: ...
    def log(self) -> list[SpectralDecision]: ...
