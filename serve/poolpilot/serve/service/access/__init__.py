"""Who may ask the service what, how often, how much at once."""
