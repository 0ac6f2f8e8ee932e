"""A challenger that is asked beside the champion and never acts, and how the two compare."""
