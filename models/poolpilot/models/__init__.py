"""Models: the score network and its twin in numpy, artefacts, and the predictors that serve them."""
