"""What the tuner decides, without I/O and without a clock."""
