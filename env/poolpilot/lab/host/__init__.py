"""What the test server needs of its host: folders, accounts, ports, programs and a slow disk."""
