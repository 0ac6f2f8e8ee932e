"""The test families of the embedded pool: compositions that nothing learned from, was chosen by or was looked at.

No training, validation or simulated family draws one of these compositions (`composition.py` says what that is, and
`tests/env/workloads` holds it). They are read once, by the evaluation that is published; once somebody has looked into
what they show, they belong to the validation split, and new ones to this file.
"""

from collections.abc import Mapping

import numpy as np

from poolpilot.env.workloads.family import Classes, Family, Scale
from poolpilot.env.workloads.ingredients import (
    cpu_step,
    draw_latch,
    latched,
    log_uniform,
    one_class,
    reported_step,
    silent_step,
)
from poolpilot.native_pool.workload import RequestClass, Step


def _transaction(*steps: Step) -> tuple[Step, ...]:
    return (Step("begin"), *steps, Step("commit"))


def _index_beside_remote(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 50, 300),
        "read_us": log_uniform(rng, 500, 5000),
        "remote_us": log_uniform(rng, 8000, 30_000),
        "share": rng.uniform(0.1, 0.4),
        "target_ms": log_uniform(rng, 30, 120),
    } | draw_latch(rng)
    half = drawn["remote_us"] / 2
    indexing = (cpu_step(drawn["cpu_us"]), reported_step(drawn["read_us"]), *latched(drawn))
    remote = (cpu_step(100), silent_step(half), cpu_step(100), silent_step(half))
    classes = (
        RequestClass("indexing", indexing, share=1.0 - drawn["share"], target_ms=drawn["target_ms"]),
        RequestClass("remote", remote, share=drawn["share"], weight=4.0),
    )
    return classes, drawn


def _three_sorts(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "short_us": log_uniform(rng, 150, 500),
        "read_us": log_uniform(rng, 1000, 8000),
        "long_us": log_uniform(rng, 10_000, 40_000),
        "share": rng.uniform(0.1, 0.3),
        "target_ms": log_uniform(rng, 20, 80),
    }
    short_us, share = drawn["short_us"], drawn["share"]
    reading = (
        cpu_step(100),
        reported_step(drawn["read_us"]),
        cpu_step(100),
        reported_step(drawn["read_us"]),
        cpu_step(100),
    )
    classes = (
        RequestClass("short", (cpu_step(short_us, 0.8),), share=1.0 - 2 * share, target_ms=drawn["target_ms"]),
        RequestClass("reading", reading, share=share, weight=150 / short_us),
        RequestClass("long", (cpu_step(drawn["long_us"]),), share=share, weight=0.5 * drawn["long_us"] / short_us),
    )
    return classes, drawn


def _screens_beside_counter(rng: np.random.Generator, population: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 300, 2000),
        "utilisation": rng.uniform(0.2, 0.6),
        "share": rng.uniform(0.3, 0.7),
    } | draw_latch(rng)
    think_ms = drawn["share"] * population.think_ms(drawn["cpu_us"], drawn["utilisation"])
    target_ms = max(20.0, 15 * drawn["cpu_us"] / 1000)
    classes = (
        RequestClass(
            "screens", (cpu_step(drawn["cpu_us"]),), share=drawn["share"], think_ms=think_ms, target_ms=target_ms
        ),
        RequestClass("counting", (cpu_step(100), *latched(drawn)), share=1.0 - drawn["share"]),
    )
    return classes, drawn


def _orders_beside_cpu(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "order_us": log_uniform(rng, 100, 500),
        "flush_us": log_uniform(rng, 1000, 8000),
        "long_us": log_uniform(rng, 5000, 40_000),
        "share": rng.uniform(0.1, 0.4),
        "target_ms": log_uniform(rng, 30, 100),
    }
    orders = _transaction(cpu_step(drawn["order_us"]), reported_step(drawn["flush_us"]))
    weight = 0.5 * drawn["long_us"] / drawn["order_us"]
    classes = (
        RequestClass("orders", orders, share=1.0 - drawn["share"], target_ms=drawn["target_ms"]),
        RequestClass("long", (cpu_step(drawn["long_us"]),), share=drawn["share"], weight=weight),
    )
    return classes, drawn


def _faults_under_latch(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 100, 500),
        "fault_us": log_uniform(rng, 300, 3000),
        "latches": float(rng.integers(4, 25)),
    } | draw_latch(rng)
    under = latched(drawn, spread=int(drawn["latches"]), inside=(silent_step(drawn["fault_us"], 0.8),))
    return one_class(cpu_step(drawn["cpu_us"]), *under), drawn


def _log_pipeline(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 100, 500), "flush_us": log_uniform(rng, 800, 6000)} | draw_latch(rng)
    steps = (cpu_step(drawn["cpu_us"]), *latched(drawn, 0), reported_step(drawn["flush_us"]), *latched(drawn, 1))
    return one_class(*steps), drawn


def _remote_screens_beside_batch(rng: np.random.Generator, population: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 200, 800),
        "remote_us": log_uniform(rng, 3000, 20_000),
        "batch_us": log_uniform(rng, 3000, 15_000),
        "utilisation": rng.uniform(0.1, 0.5),
        "share": rng.uniform(0.5, 0.85),
    }
    think_ms = drawn["share"] * population.think_ms(drawn["cpu_us"], drawn["utilisation"])
    screens = (cpu_step(drawn["cpu_us"]), silent_step(drawn["remote_us"]))
    target_ms = 4 * drawn["remote_us"] / 1000 + 20
    weight = 0.5 * drawn["batch_us"] / drawn["cpu_us"]
    classes = (
        RequestClass("screens", screens, share=drawn["share"], think_ms=think_ms, target_ms=target_ms),
        RequestClass("batch", (cpu_step(drawn["batch_us"]),), share=1.0 - drawn["share"], weight=weight),
    )
    return classes, drawn


def _waits_beside_counter(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 100, 500),
        "silent_us": log_uniform(rng, 1000, 8000),
        "told_us": log_uniform(rng, 1000, 8000),
        "share": rng.uniform(0.3, 0.8),
    } | draw_latch(rng)
    half = drawn["cpu_us"] / 2
    waiting = (cpu_step(half), silent_step(drawn["silent_us"]), cpu_step(half), reported_step(drawn["told_us"]))
    classes = (
        RequestClass("waiting", waiting, share=drawn["share"], weight=2.0),
        RequestClass("counting", (cpu_step(150), *latched(drawn)), share=1.0 - drawn["share"]),
    )
    return classes, drawn


def _four_tenants(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 200, 2000),
        "silent_us": log_uniform(rng, 1000, 10_000),
        "told_us": log_uniform(rng, 1000, 10_000),
        "target_ms": log_uniform(rng, 40, 150),
    } | draw_latch(rng)
    programs = {
        "compute": (cpu_step(drawn["cpu_us"]),),
        "silent": (cpu_step(150), silent_step(drawn["silent_us"])),
        "told": (cpu_step(150), reported_step(drawn["told_us"])),
        "locking": (cpu_step(100), *latched(drawn)),
    }
    shares = rng.dirichlet(np.full(len(programs), 4.0))
    classes = tuple(
        RequestClass(name, steps, share=float(share), target_ms=drawn["target_ms"])
        for (name, steps), share in zip(programs.items(), shares, strict=True)
    )
    return classes, drawn


def _baskets(rng: np.random.Generator, population: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 150, 600),
        "flush_us": log_uniform(rng, 1000, 6000),
        "rows": float(rng.integers(2, 17)),
        "utilisation": rng.uniform(0.4, 1.1),
    } | draw_latch(rng)
    think_ms = population.think_ms(drawn["cpu_us"] + drawn["hold_us"], drawn["utilisation"])
    row = latched(drawn, spread=int(drawn["rows"]))
    steps = _transaction(cpu_step(drawn["cpu_us"]), *row, reported_step(drawn["flush_us"]))
    target_ms = 5 * drawn["flush_us"] / 1000 + 20
    return one_class(*steps, think_ms=think_ms, target_ms=target_ms), drawn


SEALED_FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("index_beside_remote", "test", "latch", "a reported wait and a latch, beside two long silent waits",
               _index_beside_remote),
        Family("three_sorts", "test", "cpu", "short CPU, long CPU and a class of two reported waits", _three_sorts),
        Family("screens_beside_counter", "test", "latch", "CPU with pauses of the clients beside a hot latch",
               _screens_beside_counter),
        Family("orders_beside_cpu", "test", "cpu", "transactions with a reported flush beside long CPU",
               _orders_beside_cpu),
        Family("faults_under_latch", "test", "silent", "a silent wait while one of several latches is held",
               _faults_under_latch),
        Family("log_pipeline", "test", "latch", "a latch, a reported wait, another latch", _log_pipeline),
        Family("remote_screens_beside_batch", "test", "silent", "silent waits with pauses of the clients beside CPU",
               _remote_screens_beside_batch),
        Family("waits_beside_counter", "test", "silent", "both kinds of wait in one class, beside a hot latch",
               _waits_beside_counter),
        Family("four_tenants", "test", "other", "CPU, silent wait, reported wait and latch, a class each",
               _four_tenants),
        Family("baskets", "test", "other", "transactions with one of several latches, a flush and pauses", _baskets),
    )
}  # fmt: skip
