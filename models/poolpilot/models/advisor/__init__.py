"""The one that decides: what was learned, the sources that answer by it, and whom it asks."""
