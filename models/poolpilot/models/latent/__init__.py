"""A latent bandit: which configuration to try next, from simulated response curves and the answers so far."""
