"""What follows from the facts of a diagnosis: without a server, so that the same facts always say the same."""
