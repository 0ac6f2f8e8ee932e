"""What is wrong with a server's pool, and what else is going on there: facts are read, then judged; nothing is set."""
