"""The simulator against records: its machine fitted, its error judged, and what it says of other tuples."""
