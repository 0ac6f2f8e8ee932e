"""MariaDB's option files, read as its own client `mariadb` reads them: which files and groups, what each line means."""
