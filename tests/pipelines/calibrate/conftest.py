"""Windows that calibration meets in records."""

from dataclasses import replace

from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.window import ClassWindow, Window


def without_requests(window: Window) -> Window:
    """A window in which nothing was completed: what is told for each request is missing."""
    per_request = [name for name in window.profile.features if name.endswith("_per_request")]
    features = {**window.profile.features, "completed_per_s": 0.0, **dict.fromkeys(per_request)}
    classes = dict.fromkeys(window.classes, ClassWindow(0.0, Histogram()))
    return replace(window, classes=classes, profile=replace(window.profile, features=features))
