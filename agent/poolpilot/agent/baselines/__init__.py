"""What a learned predictor is measured against: constants, formulas, neighbours and trees."""
