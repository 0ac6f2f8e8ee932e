"""A MariaDB that the tests of one file may end and start anew."""

from collections.abc import Iterator

import pytest
from tests.conftest import short_folder

from poolpilot.lab.host.ports import free_or_checked
from poolpilot.lab.instance import Lab, LabSettings


@pytest.fixture(scope="module")
def restartable_lab(
    mariadb_installed: None,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Lab]:
    """One with the small data set that keeps its ports when it is started anew."""
    settings = LabSettings(dataset="small", port=free_or_checked(None), extra_port=free_or_checked(None))
    with Lab(short_folder(tmp_path_factory), settings) as lab:
        yield lab
