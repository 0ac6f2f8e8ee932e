"""Search by trying: Bayesian and random, over a space of knobs, with stored workloads to learn from."""
