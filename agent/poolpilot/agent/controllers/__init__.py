"""Controllers that are no search; most are a prediction in action: refined by further windows, verified by a climb."""
