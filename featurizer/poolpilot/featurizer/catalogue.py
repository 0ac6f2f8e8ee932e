"""The catalogue: every feature of a workload profile, declared with its unit, range and definition."""

from poolpilot.featurizer.feature import Feature
from poolpilot.featurizer.measures import STATEMENTS, WAIT_EVENTS, WAIT_REASONS
from poolpilot.featurizer.operand import Amount, Measure, Operand, Product, Sum, total

LONGEST_US = 1e9
MOST_PER_S = 1e7
MOST_ROWS_PER_S = 1e10
MOST_PER_REQUEST = 1e6
MOST_THREADS = 1e6

ROWS_READ_PER_S = "rows_read_per_s"
"""Rows that statements have read, which a long statement shows while it runs and a short one hardly has."""

COMPLETED = Measure("completed")
DURATION = Measure("duration_s")
ACTIVE_ROUND, ROUND_CPU, RUN_DELAY = (
    Measure("active_round_us_mean"),
    Measure("round_cpu_us_mean"),
    Measure("run_delay_us_mean"),
)
OFF_CPU_PER_ROUND = Sum((ACTIVE_ROUND,), (ROUND_CPU, RUN_DELAY))
IN_SYSTEM_US = Sum((total("queue_wait_us"), total("active_round_us"), total("wait_round_us")))
THREAD_CPU_US = Amount("active_round_us_count", "round_cpu_us_mean")
RUN_DELAY_US = Amount("active_round_us_count", "run_delay_us_mean")
REPORTED_WAITS = tuple(Measure(f"waits_{reason}") for reason in ("sleep", "disk_io", "row_lock", "net"))


def _time_us(name: str, value: Operand, derivation: str = "") -> Feature:
    return Feature(name, "us", value, None, 1.0, 0.0, LONGEST_US, 1.0, derivation)


def _per_second(name: str, value: Operand, unit: str = "1/s") -> Feature:
    return Feature(name, unit, value, DURATION, 1.0, 0.0, MOST_PER_S, 0.1)


def _per_request(name: str, value: Operand, requests: Operand = COMPLETED, derivation: str = "") -> Feature:
    return Feature(name, "1/request", value, requests, 1.0, 0.0, MOST_PER_REQUEST, 0.01, derivation)


def _us_per_request(name: str, value: Operand, derivation: str) -> Feature:
    return Feature(name, "us/request", value, COMPLETED, 1.0, 0.0, LONGEST_US, 1.0, derivation)


def _number(name: str, value: Operand, divisor: Operand | None = None, derivation: str = "") -> Feature:
    return Feature(name, "1", value, divisor, 1.0, 0.0, MOST_THREADS, 0.1, derivation)


def _mean_number(name: str, integral_us: Operand, derivation: str) -> Feature:
    return Feature(name, "1", integral_us, DURATION, 1e-6, 0.0, MOST_THREADS, 0.1, derivation)


def _share(name: str, part: Operand, whole: Operand, derivation: str) -> Feature:
    return Feature(name, "1", part, whole, 1.0, 0.0, 1.0, None, derivation)


def _ratio(name: str, value: Operand, divisor: Operand | None = None, derivation: str = "") -> Feature:
    return Feature(name, "1", value, divisor, 1.0, 0.0, 1e6, 0.1, derivation)


def _distribution(histogram: str, *, per_s: bool = True) -> tuple[Feature, ...]:
    """Count per second, mean, p50, p95 and coefficient of variation of a histogram of times."""
    count = (_per_second(f"{histogram}_count_per_s", Measure(f"{histogram}_count")),) if per_s else ()
    times = tuple(_time_us(f"{histogram}_{part}", Measure(f"{histogram}_{part}")) for part in ("mean", "p50", "p95"))
    return (*count, *times, _ratio(f"{histogram}_cv", Measure(f"{histogram}_cv")))


def _rounds_per_request() -> tuple[Feature, ...]:
    parts = tuple(
        Feature(f"active_rounds_{part}", "rounds/request", Measure(f"active_rounds_{part}"), None, 1.0, 0.0, 1e6, 0.1)
        for part in ("mean", "p50", "p95")
    )
    count = _per_second("active_rounds_count_per_s", Measure("active_rounds_count"))
    return (count, *parts, _ratio("active_rounds_cv", Measure("active_rounds_cv")))


SEED_MEASURES: tuple[Feature, ...] = (
    _number("connections", Measure("connections")),
    _number("cpus", Measure("cpus")),
    *_distribution("thread_create_us"),
    *_rounds_per_request(),
    *_distribution("active_round_us"),
    *_distribution("wait_round_us"),
    *_distribution("think_us"),
)
"""The seven measures of the adaptive-thread-pool seed, "Generalization And Future Work"."""

POOL_ACTIVITY: tuple[Feature, ...] = (
    _number("threads", Measure("threads")),
    _number("active_threads", Measure("active_threads")),
    _number("queue_length", Measure("queue_length")),
    _per_second("completed_per_s", COMPLETED),
    _per_second("thread_creations_per_s", Measure("thread_creations")),
    _per_second("thread_creations_stall_per_s", Measure("thread_creations_stall")),
    _per_second("wakes_per_s", Measure("wakes")),
    _per_second("wakes_stall_per_s", Measure("wakes_stall")),
    _per_second("throttles_per_s", Measure("throttles")),
    _per_second("stalls_per_s", Measure("stalls")),
    _per_request("polls_per_request", Sum((Measure("polls_listener"), Measure("polls_worker")))),
    _share(
        "listener_dequeue_share",
        Measure("dequeues_listener"),
        Sum((Measure("dequeues_listener"), Measure("dequeues_worker"))),
        "dequeues by the listener over all dequeues",
    ),
    *(_per_request(f"{wait.name}_per_request", wait) for wait in REPORTED_WAITS),
    _per_request("waits_per_request", Sum(REPORTED_WAITS)),
    _number("connections_per_cpu", Measure("connections"), Measure("cpus"), "connections over CPUs"),
)
"""What the pool itself counts; every server gives these."""

CPU_OR_WAITING: tuple[Feature, ...] = (
    _us_per_request("process_cpu_us_per_request", Measure("process_cpu_us"), "CPU time of the process over requests"),
    Feature(
        "utilisation",
        "1",
        Measure("process_cpu_us"),
        Product(DURATION, Measure("cpus")),
        1e-6,
        0.0,
        2.0,
        None,
        "CPU time of the process over what its CPUs offered",
    ),
    *_distribution("queue_wait_us"),
    *_distribution("round_cpu_us", per_s=False),
    *_distribution("run_delay_us", per_s=False),
    *_distribution("latch_wait_us", per_s=False),
    _per_request("latch_waits_per_request", Measure("latch_waits")),
    _us_per_request(
        "latch_wait_us_per_request",
        Amount("latch_waits", "latch_wait_us_mean"),
        "latch waits times their mean, over requests",
    ),
    _per_request("voluntary_switches_per_request", Measure("voluntary_switches"), Measure("sampled_requests")),
    _per_request("involuntary_switches_per_request", Measure("involuntary_switches"), Measure("sampled_requests")),
    _us_per_request("thread_cpu_us_per_request", THREAD_CPU_US, "active rounds times mean CPU of one, over requests"),
    _time_us("silent_wait_us_per_round", OFF_CPU_PER_ROUND, "active round less its CPU time and run-queue delay"),
    _share("silent_wait_share", OFF_CPU_PER_ROUND, ACTIVE_ROUND, "silent wait over the active round"),
    _share("cpu_share_of_round", ROUND_CPU, ACTIVE_ROUND, "CPU time over the active round"),
    _share("run_delay_share_of_round", RUN_DELAY, ACTIVE_ROUND, "run-queue delay over the active round"),
    _ratio(
        "wait_to_cpu",
        Sum((total("active_round_us"), total("wait_round_us")), (THREAD_CPU_US, RUN_DELAY_US)),
        THREAD_CPU_US,
        "silent and reported waits over CPU time: W/S of N(1 + W/S)",
    ),
    _ratio("active_round_p95_to_mean", Measure("active_round_us_p95"), ACTIVE_ROUND, "a sign of mixed classes"),
    _ratio("round_cpu_p95_to_mean", Measure("round_cpu_us_p95"), ROUND_CPU, "a sign of mixed classes"),
)
"""What tells CPU work from waiting, which mean times alone cannot."""

POPULATION: tuple[Feature, ...] = (
    _mean_number("threads_mean", Measure("thread_us"), "time integral of the number of threads"),
    _mean_number("active_threads_mean", Measure("active_thread_us"), "time integral of active threads"),
    _mean_number("queue_length_mean", Measure("queue_length_us"), "time integral of the queue's length"),
    _mean_number("in_system", IN_SYSTEM_US, "Little's law over queue wait, active and wait rounds"),
    _mean_number("active_by_little", total("active_round_us"), "Little's law over active rounds"),
    _share("queue_share", total("queue_wait_us"), IN_SYSTEM_US, "queue wait over time in the system"),
    _share(
        "think_share",
        total("think_us"),
        Sum((total("think_us"), IN_SYSTEM_US)),
        "think time over think time and time in the system",
    ),
    _share(
        "failed_share", Measure("failed"), Sum((Measure("failed"), COMPLETED)), "failed requests over all that ended"
    ),
)
"""How many requests and threads are where, on average over the window."""

FEATURES: tuple[Feature, ...] = SEED_MEASURES + POOL_ACTIVITY + CPU_OR_WAITING + POPULATION
"""The schema: the order of these is the order of a profile's vector."""

SILENT_US = Sum((total("active_round_us"),), (THREAD_CPU_US, RUN_DELAY_US, Amount("latch_waits", "latch_wait_us_mean")))
THROTTLED_SHARE = "throttled_share"
"""Periods of a CPU quota in which it was used up before their end."""

STATEMENTS_COUNTED = Sum(tuple(Measure(f"statements_{kind}") for kind in STATEMENTS))

INDICATORS: tuple[Feature, ...] = (
    Feature(
        "net_silent_wait_us_per_round",
        "us",
        SILENT_US,
        Measure("active_round_us_count"),
        1.0,
        0.0,
        LONGEST_US,
        derivation="active round less its CPU time, run-queue delay and latch waits: at least so much, since a latch "
        "wait also holds spinning and reported waits",
    ),
    _per_request("row_lock_waits_per_request", Measure("row_lock_waits")),
    Feature(ROWS_READ_PER_S, "1/s", Measure("rows_read"), DURATION, 1.0, 0.0, MOST_ROWS_PER_S, 1.0),
    _us_per_request("row_lock_wait_us_per_request", Measure("row_lock_wait_us"), "Innodb_row_lock_time over requests"),
    *(
        _share(f"{kind}_share", Measure(f"statements_{kind}"), STATEMENTS_COUNTED, f"{kind} over the kinds counted")
        for kind in STATEMENTS
    ),
    *(_per_request(f"reported_{reason}_per_request", Measure(f"reported_{reason}")) for reason in WAIT_REASONS),
    _per_request("threads_scheduled_per_request", Measure("threads_scheduled")),
    _us_per_request("threads_run_delay_us_per_request", Measure("threads_run_delay_us"), "run-queue delay of threads"),
    Feature(
        "machine_idle_share",
        "1",
        Measure("machine_idle_us"),
        Product(DURATION, Measure("cpus")),
        1e-6,
        0.0,
        1.0,
        derivation="time that the processors idled over what they offered",
    ),
    _share(
        THROTTLED_SHARE,
        Measure("quota_periods_throttled"),
        Measure("quota_periods"),
        "periods in which the CPU quota was used up over all in which something was to run",
    ),
    _mean_number(
        "unlistened_connections_mean",
        Measure("unlistened_connection_us"),
        "time integral of the connections whose group runs something and has no listener",
    ),
    _mean_number(
        "standing_connections_mean",
        Measure("standing_connection_us"),
        "the same of groups that have not polled between two readings either",
    ),
    *(
        _us_per_request(f"events_{kind}_us_per_request", Measure(f"events_{kind}_us"), f"wait events: {kind}")
        for kind in WAIT_EVENTS
    ),
)
"""What a window says beside the features, where the server shows it. No network takes these: they are for people, and
for models to come, whose records have the measures."""
