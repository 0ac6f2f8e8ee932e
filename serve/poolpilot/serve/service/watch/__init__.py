"""What the service tells of itself to who watches it."""
