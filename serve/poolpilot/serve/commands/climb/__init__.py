"""`poolpilot climb`."""
