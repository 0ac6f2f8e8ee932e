"""Production: the command and the prediction service."""
