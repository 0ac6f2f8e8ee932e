"""A Ray of two nodes on this host, in a process of its own: says its address, kills the second node when it is told to.

One line on standard input kills; the end of standard input ends everything. With the argument `one` it has one node.
"""

import sys
from typing import Any

from ray.cluster_utils import Cluster

SIZE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100_000_000}
LEFT_OUT: dict[str, Any] = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
"""What nobody looks at here and takes its time to start."""


def main() -> None:
    # Neither address is one that Ray takes for a name of this host and replaces by another.
    cluster = Cluster(initialize_head=True, head_node_args={"node_ip_address": "127.0.0.2", **LEFT_OUT, **SIZE})
    try:
        second = None if sys.argv[1:] == ["one"] else cluster.add_node(node_ip_address="127.0.0.3", **SIZE)
        print(cluster.address, flush=True)
        if sys.stdin.readline() and second is not None:
            cluster.remove_node(second, allow_graceful=False)
            print("killed", flush=True)
            sys.stdin.read()
    finally:
        cluster.shutdown()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
