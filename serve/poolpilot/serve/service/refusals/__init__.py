"""What the service refuses, and how it says so."""
