"""Declarations of experiments, a module for each page or question."""
