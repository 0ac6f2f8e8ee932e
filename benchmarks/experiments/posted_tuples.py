"""Fifty configurations that people have posted: values of manuals, questions and published option files, combined.

Sizes are those of the servers they were written for, as a rule their processors or twice as many; stall limits are in
milliseconds, 6 and 60 among them, which mean units of 10 ms on MySQL and were taken over.
"""

from itertools import product

from poolpilot.env.measurement.sweep import Core

SIZES = (4, 8, 16, 32, 64)
STALL_LIMITS_MS = (500, 300, 100, 60, 30)
OVERSUBSCRIBE = (3, 10)

POSTED: tuple[Core, ...] = tuple(product(SIZES, OVERSUBSCRIBE, STALL_LIMITS_MS))
"""(size, oversubscribe, stall limit in ms), the sizes slowest."""
