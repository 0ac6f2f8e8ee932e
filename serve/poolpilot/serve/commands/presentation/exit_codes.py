"""What the command `poolpilot` exits with, besides 0: done, 1: an error stated in one sentence, 2: wrong usage."""

REFUSED = 3
"""A gate refuses a model."""

INTERRUPTED = 130
"""Ctrl-C, SIGTERM or SIGHUP."""
