"""Evaluating: every method on workloads it has never seen, recorded or live."""
