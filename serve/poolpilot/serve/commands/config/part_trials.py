"""What a tuner is made of besides its server, tried: models, the way to a service, outcomes, the port of its page."""

import os
from collections.abc import Iterator
from pathlib import Path

from poolpilot.durability.folder_lock import LOCK_FILE, lock_folder
from poolpilot.errors import StoreError
from poolpilot.serve.commands.config.account_trial import AccountTrial
from poolpilot.serve.commands.config.writable_folder import can_be_written
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.commands.tune.tuner_parts import challenger_for, predictor_for


def part_trials(settings: TuneSettings, *, beside_another: bool) -> Iterator[AccountTrial]:
    """Makes, and lets go of, each part without which `poolpilot tune` would end at its start.

    Args:
        settings: The settings of the tuner.
        beside_another: Whether a tuner is at work already, which may have the page's port and the folder of outcomes
            until it makes room.
    """
    if settings.keeper:
        return  # it asks nobody and shows nothing
    if settings.remote is not None:
        known = "address, token and certificates are of use; it was not asked"
        yield AccountTrial.of("service", f"{settings.remote}: {known}", settings.service_link)
    elif settings.proposed is None:
        yield AccountTrial.of("model", f"{settings.model or 'what ships'} loads", lambda: predictor_for(settings))
    if settings.challenger is not None:
        yield AccountTrial.of("challenger", f"{settings.challenger} loads", lambda: challenger_for(settings))
    if settings.outcomes is not None:
        yield outcomes_trial(settings.outcomes, needed=not beside_another)
    if settings.page is not None:
        found = f"port {settings.page} of loopback is free" if settings.page else "any port of loopback that is free"
        yield AccountTrial.of("page", found, lambda: _bind(settings.page or 0), needed=not beside_another)


def outcomes_trial(folder: Path, *, needed: bool) -> AccountTrial:
    """Whether outcomes can be kept in a folder.

    Args:
        folder: The folder.
        needed: Whether it refuses the settings where they cannot; see `AccountTrial`.
    """
    return AccountTrial.of("outcomes", f"are kept in {folder}", lambda: _take(folder), needed=needed)


def _take(folder: Path) -> None:
    """Takes a folder as who keeps outcomes does, and lets it go; nothing is made where nobody has kept any yet."""
    if not can_be_written(folder):
        raise StoreError(f"cannot be kept in {folder}: name another folder with --outcomes")
    if (folder / LOCK_FILE).exists():
        os.close(lock_folder(folder, "keeps outcomes"))


def _bind(port: int) -> None:
    from poolpilot.serve.page.page_server import LOOPBACK  # nobody else pays for a web server
    from poolpilot.serve.service.http_server import listening_socket

    listening_socket(LOOPBACK, port, "name another with --page").close()
