"""Controllers of the pool size beside each other: cells, runs, scores, verdicts."""
