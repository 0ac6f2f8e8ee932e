"""Commands of staging: a test server, records, models."""
