"""The suite of MariaDB workloads whose directions were written down before anything was measured."""
