"""Training: the all-action loss, PPO and MARWIL, and how their networks are validated."""
