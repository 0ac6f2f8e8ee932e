"""The parts of the benchmark of the live pool, each a comparison of its own."""
