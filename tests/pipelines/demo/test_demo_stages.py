"""The demonstration draws from families that nothing was trained on."""

from poolpilot.env.workloads.families import FAMILIES, workload_set
from poolpilot.pipelines.demo.demo_stages import demo_workloads


def test_three_natures_of_held_out_families() -> None:
    families = [FAMILIES[workload.family] for workload in demo_workloads(1)]
    assert [family.nature for family in families] == ["cpu", "silent", "latch"]
    assert {family.split for family in families} == {"validation"}


def test_seed_decides_and_no_workload_is_one_of_a_collection() -> None:
    assert demo_workloads(3) == demo_workloads(3)
    assert demo_workloads(3) != demo_workloads(4)
    collected = {one.workload.name for one in workload_set(1, {"validation": 70, "test": 40})}
    assert collected.isdisjoint(workload.name for seed in range(20) for workload in demo_workloads(seed))
