"""What a network answered when it was saved."""
