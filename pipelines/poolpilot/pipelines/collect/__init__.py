"""Collecting: workloads measured on live, simulated and MariaDB pools, into a record store."""
