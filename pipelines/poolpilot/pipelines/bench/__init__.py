"""Benchmarks that are commands: `poolpilot bench ...`."""
