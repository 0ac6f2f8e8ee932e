"""A prediction service on another host, asked by the tuner."""
