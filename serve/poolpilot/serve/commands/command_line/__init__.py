"""The command line: every command as one plain function, its flags, and the names of before."""
