"""How commands take their options: declared for MariaDB, or made of a settings model."""
