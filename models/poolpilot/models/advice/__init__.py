"""What is said after a look: a prediction, why, and the most that any can promise."""
