"""What a report of a fault needs, collected without secrets."""
