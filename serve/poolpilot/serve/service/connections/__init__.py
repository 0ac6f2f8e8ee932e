"""Connections of the service: their limits, their TLS, and how answers go out."""
