"""The spectral climber: the loop that drives it, of the pool size alone or of many knobs, and its settings."""
