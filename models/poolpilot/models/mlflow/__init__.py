"""A model as a version in an MLflow registry: how it is logged, and the code that MLflow runs."""
