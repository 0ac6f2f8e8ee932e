"""How a session proves who it is, and the server who it is."""
