"""What the laboratory needs of its host: folders, accounts, ports, programs and a slow disk."""
