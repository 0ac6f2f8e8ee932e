"""`poolpilot climb --search`."""
