"""`poolpilot check --settings`: what a command would do with its settings, and whether it may, before it does it."""
