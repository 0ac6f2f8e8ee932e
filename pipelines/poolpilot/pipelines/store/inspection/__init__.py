"""Reads a store, and changes nothing: a summary, and questions in SQL."""
