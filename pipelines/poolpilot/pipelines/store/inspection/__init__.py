"""Looks at a store that change nothing: a summary, and questions in SQL."""
