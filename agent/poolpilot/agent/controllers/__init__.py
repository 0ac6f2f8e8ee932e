"""A prediction in action: refined by further windows, verified by a climb."""
