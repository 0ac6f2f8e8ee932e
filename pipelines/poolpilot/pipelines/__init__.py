"""Staging: collect, store, learn, evaluate and promote."""
