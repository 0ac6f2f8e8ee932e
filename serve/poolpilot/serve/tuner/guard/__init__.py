"""What the tuner may never do: its settings, the envelope of values, the hours of a change, and what people approve."""
