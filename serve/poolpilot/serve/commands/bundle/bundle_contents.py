"""All that a bundle holds, redacted: gathered first, shown, and written only when that is asked for."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poolpilot.env.program_settings import read_toml
from poolpilot.serve.commands.bundle.bundle_part import BundlePart
from poolpilot.serve.commands.bundle.host_facts import environment_settings, installation
from poolpilot.serve.commands.bundle.kept_traces import decisions, journals
from poolpilot.serve.commands.bundle.model_digests import model_digests
from poolpilot.serve.commands.bundle.redaction import Redaction

EXPLAINS = """\
This bundle was made by `poolpilot bundle` for a report of a fault.

Passwords, tokens, keys, DSN passwords and whatever looks like one are replaced by ***; digests are cut short. Defaults
files, files of tokens, keys of TLS and models are not in it, and neither are statements or data of a database. Names
of hosts, servers, accounts and folders are: read it before you hand it on, every file is text.
"""


@dataclass(frozen=True)
class BundleSources:
    """Where a bundle is gathered from.

    Attributes:
        state_folder: Where journals lie, and decisions in its folder `decisions`.
        decisions_folder: Another folder of decisions; None for that one.
        settings_files: Files of settings in TOML.
        last: Decisions for a server.
        diagnosis: What `poolpilot check` found; None where no server was looked at.
    """

    state_folder: Path
    decisions_folder: Path | None = None
    settings_files: Sequence[Path] = ()
    last: int = 200
    diagnosis: dict[str, Any] | None = None


def bundle_parts(sources: BundleSources, redaction: Redaction) -> Iterator[BundlePart]:
    """The files of a bundle.

    Raises:
        SettingError: A file of settings cannot be read, or is not TOML.
    """
    yield BundlePart("README.txt", "what this is, and what is left out", EXPLAINS, fixed=True)
    facts = {"made_unix_s": round(time.time()), **installation()}
    yield BundlePart.of_values("installation.json", "versions and machine", redaction.value(facts))
    named = redaction.value(environment_settings(os.environ))
    yield BundlePart.of_values("environment.json", "settings in the environment", named)
    for number, path in enumerate(sources.settings_files):
        values = redaction.value(read_toml(path))
        yield BundlePart.of_values(f"settings/{number}.json", f"settings of {redaction.text(str(path))}", values)
    yield BundlePart.of_values("models.json", "digests of the models", redaction.value(model_digests()))
    folder = sources.decisions_folder or sources.state_folder / "decisions"
    yield from decisions(folder, sources.last, redaction)
    yield from journals(sources.state_folder, redaction)
    if sources.diagnosis is not None:
        found = redaction.value(sources.diagnosis)
        yield BundlePart.of_values("diagnosis.json", "what `poolpilot check` found", found)
