"""What a command tunes: a server named by its DSN or started here, and the way back to where it was."""
