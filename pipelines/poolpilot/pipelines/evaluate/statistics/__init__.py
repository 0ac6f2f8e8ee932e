"""What an evaluation has found, in numbers: outcomes, regrets and intervals over families."""
