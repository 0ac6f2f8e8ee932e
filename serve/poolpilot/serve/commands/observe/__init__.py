"""Commands that change and teach nothing."""
