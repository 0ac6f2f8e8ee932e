"""A recorded profile to play with: what it would do under another configuration, simulated when it is asked for."""
