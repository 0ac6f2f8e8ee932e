"""A MariaDB as a pool server: its counters as snapshots, its knobs as configurations."""
