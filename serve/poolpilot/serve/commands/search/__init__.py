"""`poolpilot search`."""
