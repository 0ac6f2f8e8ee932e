"""What the command `poolpilot` exits with, besides 0: done, 1: an error stated in one sentence, 2: wrong usage."""

from poolpilot.env.interrupts import EXIT_CODE

REFUSED = 3
"""What was to be checked does not hold: a gate refuses a model, or records, a configuration or a log fail a check."""

INTERRUPTED = EXIT_CODE
"""Ctrl-C, SIGTERM or SIGHUP, from the first moment on."""
