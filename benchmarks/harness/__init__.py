"""The harness: arms x scenarios x seeds -> rows -> a report."""
