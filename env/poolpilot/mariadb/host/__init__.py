"""What this host tells of a server's process that runs on it: processors, quotas, how its threads are scheduled."""
