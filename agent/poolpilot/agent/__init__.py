"""What chooses a tuple by knowledge: the learned policy, its training, and its baselines."""
