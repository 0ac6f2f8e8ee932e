"""How long MariaDB is looked at: it settles in half a second where the embedded pool takes a tenth of one."""

from poolpilot.env.measurement import MeasurementSettings

MARIADB_RACING = MeasurementSettings(settle_s=0.4, window_s=0.8, final_repeats=2)
"""Windows of a sweep: connections have moved to their new groups and throughput has answered (0.1 to 0.5 s)."""
