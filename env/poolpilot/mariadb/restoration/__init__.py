"""The way a MariaDB gets back to where it was: journal before the first change, lease in the server, restoration."""
