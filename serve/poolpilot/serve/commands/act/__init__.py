"""Commands that change a server, or serve predictions."""
