"""The tuner: it watches one server and changes its pool under guard."""
