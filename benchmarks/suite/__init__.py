"""The MariaDB suite measured and judged by the directions that were written down before."""
