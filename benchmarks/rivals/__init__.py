"""Methods held against one another: what they know, what they see, what they end on, and what that comes to."""
