"""The command `poolpilot`: every sub-command, in the groups of its help."""
