"""Workloads that were here before, kept for when they come back."""
