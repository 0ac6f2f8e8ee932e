"""Data of test servers, made once and copied: installing them and filling tables takes most of a server's first start.

Workers that run side by side share them.
"""

import fcntl
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from poolpilot.lab.host.lab_lock import make_lab_folder
from poolpilot.lab.host.mariadbd import Running
from poolpilot.lab.instance import Lab, LabSettings

COPIED = ("empty", "small")


class LabData:
    """What has been installed and filled, for servers whose folders have no data yet.

    Args:
        root: Folder that keeps it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._up: Callable[..., Running] = Lab.up
        self._copied = True

    def lay(self, lab: Lab) -> None:
        """Puts a copy where a server has no data; it then starts as any server does that has been stopped."""
        name = lab.settings.dataset
        if lab.places.data.exists() or name not in COPIED:
            return
        made = self._made(LabSettings(dataset=name))
        make_lab_folder(lab.places)
        shutil.rmtree(lab.places.unfinished, ignore_errors=True)
        subprocess.run(["cp", "-a", "--reflink=auto", made.places.data, lab.places.unfinished], check=True)
        lab.places.settings.write_text(lab.settings.model_dump_json(indent=1) + "\n")
        lab.places.unfinished.rename(lab.places.data)

    @contextmanager
    def laid_before_every_start(self) -> Iterator[None]:
        """Every server that this process starts in the block gets a copy."""

        def up(lab: Lab, *arguments: object, **options: object) -> Running:
            if self._copied:
                self.lay(lab)
            return self._up(lab, *arguments, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Lab, "up", up)
            yield

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """Servers of the block install their data themselves."""
        self._copied = False
        try:
            yield
        finally:
            self._copied = True

    def _made(self, settings: LabSettings) -> Lab:
        lab = Lab(self.root / settings.dataset, settings)
        self.root.mkdir(exist_ok=True)
        whole = self.root / f"{settings.dataset}-is-whole"
        with (self.root / f"{settings.dataset}-lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not whole.exists():
                self._up(lab)
                lab.down()
                whole.touch()
        return lab
