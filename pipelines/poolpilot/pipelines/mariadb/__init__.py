"""Staging on MariaDB: collecting, and judging live what a model says of workloads it has never seen."""
