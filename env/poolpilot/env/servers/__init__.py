"""Pool servers behind one protocol: a live native pool, a curve, a replay of records."""
