"""What a command tunes: a server named by its DSN or started here, and its restoration."""
