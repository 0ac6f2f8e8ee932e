"""Staging: collect, store, learn, judge and promote."""
