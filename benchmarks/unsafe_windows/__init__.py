"""Unsafe windows: what is done to a server, and how its windows are counted."""
