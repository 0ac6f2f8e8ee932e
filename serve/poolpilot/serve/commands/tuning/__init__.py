"""What `climb` and `search` have in common: one run, one screen, one outcome."""
