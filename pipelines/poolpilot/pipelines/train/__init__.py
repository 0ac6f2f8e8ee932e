"""Training runs, their versions in the registry, and the gate to production."""
