"""Names of this host that no other host is reached by."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether a host, by name or by address, is this one, so that nobody stands between."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
