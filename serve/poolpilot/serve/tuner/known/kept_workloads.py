"""The file in which known workloads outlive a tuner; written anew each time that one is added."""

from pathlib import Path

from poolpilot.serve.tuner.known.kept_file import KeptFile
from poolpilot.serve.tuner.known.known_workloads import KnownWorkloads

KEPT_NAME = "known_workloads.json"


class KeptWorkloads(KeptFile[KnownWorkloads]):
    """Known workloads in a file of a folder.

    Args:
        folder: The folder of the decisions about one server.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / KEPT_NAME, KnownWorkloads, "known workloads")
