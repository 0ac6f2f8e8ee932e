"""Days of a server in virtual time, and what lives through them."""
