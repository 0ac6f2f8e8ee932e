"""A test server: a private MariaDB in a folder, data sets, a slow disk, and named workloads through sysbench."""
