"""What the Ray of a node must be like before a replica answers there."""

import os
from collections.abc import Mapping

from poolpilot.errors import SettingError

AUTHENTICATION = "RAY_AUTH_MODE"

OTHER_DOORS = (
    "RAY_SERVE_ENABLE_HA_PROXY",
    "RAY_SERVE_ENABLE_DIRECT_INGRESS",
    "RAY_SERVE_THROUGHPUT_OPTIMIZED",
)
"""Variables by which requests come another way than through Ray's own proxy, which listens on loopback."""


def check_guarded(environment: Mapping[str, str] = os.environ) -> None:
    """Refuses a node whose Ray anybody may talk to, or that lets requests in elsewhere.

    Ray listens on every address of its host, and what it is sent it unpickles: who may talk to it may run programs.

    Raises:
        SettingError: It is such a node.
    """
    if environment.get(AUTHENTICATION) != "token":
        raise SettingError(
            f"this node's Ray asks nobody for a token: start every node with {AUTHENTICATION}=token and the same "
            "RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH"
        )
    opened = [name for name in OTHER_DOORS if environment.get(name, "0") == "1"]
    if opened:
        raise SettingError(f"{opened[0]} lets requests in beside Ray's proxy: start this node without it")
