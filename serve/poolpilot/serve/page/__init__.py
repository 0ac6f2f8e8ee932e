"""The live page: what tuners have decided, as their logs tell it, for a browser and for Prometheus."""
