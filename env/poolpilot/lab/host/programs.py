"""The installed programs that a test server runs, and what to install where they are missing."""

import shutil

from poolpilot.errors import ServerError

PACKAGES = {
    "mariadbd": "mariadb-server-core",
    "mariadb-install-db": "mariadb-server-core",
    "my_print_defaults": "mariadb-client-core",
    "sysbench": "sysbench",
}
"""Program to the Debian package that holds it; the core packages start no server of their own."""

SYSTEM_FOLDERS = "/usr/sbin:/usr/local/sbin"


def program(name: str) -> str:
    """Path of a program.

    Raises:
        ServerError: It is not installed; the text says how to install it.
    """
    path = shutil.which(name) or shutil.which(name, path=SYSTEM_FOLDERS)
    if path is None:
        raise ServerError(
            f"{name} is not installed; as root: apt-get install --no-install-recommends {PACKAGES.get(name, name)}"
        )
    return path


def missing() -> list[str]:
    """Debian packages that a test server needs and that are not installed."""
    absent = []
    for name, package in PACKAGES.items():
        try:
            program(name)
        except ServerError:
            absent.append(package)
    return sorted(set(absent))
