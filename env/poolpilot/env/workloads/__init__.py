"""Workloads of the embedded and the simulated pool: families to draw from, and one rebuilt from a window."""
