"""Searches draw with several seeds, others on every workload."""

from simulated_rivals import search_seeds


def test_seeds_of_searches_differ_from_workload_to_workload() -> None:
    first, second = search_seeds("composed-0-3cpus", 5), search_seeds("composed-1-6cpus", 5)
    assert len({*first, *second}) == 10
    assert first == search_seeds("composed-0-3cpus", 5)
