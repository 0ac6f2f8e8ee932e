"""Talking to a MariaDB server: where it is, what it counts, which knobs it has, and how they are set."""
