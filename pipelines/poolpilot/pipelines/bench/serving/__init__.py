"""The live pool under load, beside others that serve: what `poolpilot bench pool` measures."""
