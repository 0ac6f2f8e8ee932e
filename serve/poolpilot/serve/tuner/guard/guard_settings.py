"""How far the tuner may go, and how it judges what it tries."""

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.knobs import STEP_FACTOR


class GuardSettings(BaseModel):
    """What the tuner may do at most, whatever is predicted."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    factor: float = Field(
        default=STEP_FACTOR,
        gt=1.0,
        le=16.0,
        description="Most that a trial may change a knob from the value of the incumbent.",
    )
    least_size: int = Field(default=1, ge=1, description="Smallest pool size that it may set.")
    most_size: int = Field(default=128, ge=1, description="Largest pool size that it may set.")
    most_oversubscribe: int = Field(default=64, ge=1, description="Largest oversubscribe that it may set.")
    least_stall_limit_ms: int = Field(default=10, ge=1, description="Shortest stall limit that it may set.")
    most_stall_limit_ms: int = Field(default=6000, ge=1, description="Longest stall limit that it may set.")
    most_threads: int | None = Field(
        default=None,
        ge=1,
        description="Most threads that a configuration may ask for; no limit of its own if not given.",
    )
    most_drop: float = Field(
        default=0.05, gt=0.0, lt=1.0, description="Share of the goodput that a trial may lose; half of it what is kept."
    )
    most_latency_rise: float = Field(
        default=0.2,
        gt=0.0,
        description="Share by which a trial may raise latency, with the steps before; half of it what is kept.",
    )
    min_gain: float = Field(default=0.05, ge=0.0, description="Gain in goodput, as a share, that a trial must promise.")
    explorations: int = Field(
        default=4,
        ge=0,
        le=32,
        description="Trials that promise less, made to learn from, that may fail in a row; each doubles what the next "
        "must be worth.",
    )
    trials_per_hour: int = Field(
        default=12,
        ge=1,
        description="Configurations tried in an hour at most, not counting those that were shown better.",
    )
    cool_down_s: float = Field(
        default=120.0,
        ge=0.0,
        description="Seconds without a trial after the longest one was rolled back; fewer after one that ended early.",
    )
    retry_after_s: float = Field(
        default=3600.0, ge=0.0, description="Seconds before what was rolled back may be tried again."
    )
    breaker_roll_backs: int = Field(
        default=3, ge=1, description="Roll-backs within an hour after which nothing is tried for a while."
    )
    circuit_open_s: float = Field(
        default=1800.0,
        gt=0.0,
        description="Seconds of that while; twice as long each time in a row until a trial is shown to be better.",
    )
    circuit_most_s: float = Field(default=21_600.0, gt=0.0, description="Seconds of the longest such while.")
    probation_s: float = Field(
        default=600.0, ge=0.0, description="Seconds after a change in which a fall of goodput rolls it back."
    )
    stand_down_s: float | None = Field(
        default=None,
        gt=0.0,
        description="Seconds that it leaves a server alone whose pool a person has set; until it is started again if "
        "not given.",
    )


class PaceSettings(BaseModel):
    """How long the tuner watches, and how often it compares."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    observe_for_s: float = Field(default=30.0, ge=0.0, description="Seconds of watching before the first trial.")
    baseline_windows: int = Field(
        default=4, ge=2, description="Windows of the configuration in force before anything is tried."
    )
    least_pairs: int = Field(default=3, ge=1, description="Windows of a trial before it may be called good.")
    most_pairs: int = Field(default=6, ge=1, description="Windows of a trial at most.")
    wanted_error: float = Field(
        default=0.025, gt=0.0, description="Standard error of ln goodput at which a comparison ends early."
    )
    least_requests: int = Field(
        default=200, ge=0, description="Requests of a window below which nothing is tried: too little load to tell."
    )
    verify_windows: int = Field(default=3, ge=1, description="Windows in a row in which a good trial must hold on.")
    ask_every_s: float = Field(default=300.0, ge=0.0, description="Seconds between two questions to the predictor.")
    shift: float = Field(
        default=0.25,
        gt=0.0,
        description="Change of ln goodput, two windows in a row, that is taken for another workload.",
    )
    ratio_shift: float = Field(
        default=0.3,
        gt=0.0,
        description="Distance of a window's ratios from those before, two windows in a row, that is taken for another "
        "workload.",
    )
