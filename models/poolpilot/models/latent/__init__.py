"""Known response curves: how like a server they are, what they are worth there, and what answers say of them."""
