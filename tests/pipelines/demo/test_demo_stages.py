"""The demonstration draws from families that nothing was trained on."""

from poolpilot.env.workloads.families import FAMILIES, workload_set
from poolpilot.pipelines.demo.demo_stages import NATURES, demo_workloads


def test_three_natures_of_held_out_families() -> None:
    families = [FAMILIES[workload.family] for workload in demo_workloads(1)]
    assert tuple(family.nature for family in families) == NATURES
    assert {family.split for family in families} == {"test"}


def test_seed_decides_and_no_workload_is_one_of_the_sealed_test() -> None:
    assert demo_workloads(3) == demo_workloads(3)
    assert demo_workloads(3) != demo_workloads(4)
    sealed = {one.workload.name for one in workload_set(1, {"test": 40})}
    assert sealed.isdisjoint(workload.name for seed in range(20) for workload in demo_workloads(seed))
