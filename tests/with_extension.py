"""Runs tests against another build of the extension: `python tests/with_extension.py FILE [arguments of pytest]`."""

import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest

NAME = "poolpilot.native_pool._core"


def main() -> int:
    """Puts the extension in `FILE` in the place of the installed one, then hands over to pytest."""
    spec = spec_from_file_location(NAME, sys.argv[1])
    if spec is None or spec.loader is None:
        sys.exit(f"{sys.argv[1]} is no extension of Python; name the built _core file")
    sys.modules[NAME] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[NAME])
    return pytest.main(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
