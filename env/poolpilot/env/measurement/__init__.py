"""How a server is measured: settling, windows, races of tuples, and what they showed."""
