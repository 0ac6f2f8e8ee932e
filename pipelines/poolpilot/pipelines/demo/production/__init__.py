"""A load that shifts on a private MariaDB, and what its clients saw of each arm."""
