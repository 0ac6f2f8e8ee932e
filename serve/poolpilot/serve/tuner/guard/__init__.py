"""What the tuner may never do: its settings, the envelope of values, and the hours when a change is allowed."""
