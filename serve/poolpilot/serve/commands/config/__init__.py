"""`poolpilot config`: what a tuner would do with its settings, and whether it may, before it does anything."""
