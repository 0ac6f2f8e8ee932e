"""`poolpilot learn`: from the machine at hand to a model of it, stage by stage."""
