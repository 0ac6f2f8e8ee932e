"""The prediction service."""
