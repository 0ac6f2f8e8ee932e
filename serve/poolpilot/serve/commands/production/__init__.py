"""`poolpilot demo --production`: a tuner on a load that shifts, what its guard does, and what its death leaves."""
