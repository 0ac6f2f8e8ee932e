"""The prediction service in several processes under Ray Serve, on one host or many.

Each replica is the whole application: what stands before a path refuses there what it refuses in one process. In front
is Ray's HTTP proxy, which knows neither limits of connections nor clients' certificates: it listens on loopback, and a
setting that it could not keep is refused by name. What concerns all replicas, loading again and metrics, goes from the
one that was asked to every one that lives. Each keeps its outcomes in a folder of its own.
"""
