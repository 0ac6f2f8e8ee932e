"""What comes back from production: outcomes of decisions, what each model has gained, and which model is in force."""
