"""`poolpilot tune`, `poolpilot why`."""
