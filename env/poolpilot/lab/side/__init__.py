"""What one more session does beside a load."""
