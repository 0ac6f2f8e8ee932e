"""What a look at a server says by itself: whether it can be gone by at all, and what its waits call for."""
