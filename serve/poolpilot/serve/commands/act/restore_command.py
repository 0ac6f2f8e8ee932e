"""`poolpilot restore`: brings back the tuple that a climb, a search or a sweep found, where it was killed."""

from typing import Annotated

import typer

from poolpilot.env.output import terminal
from poolpilot.env.tuning.mariadb_target import connect
from poolpilot.env.tuning.mariadb_way_back import MariadbWayBack
from poolpilot.serve.commands.options.mariadb_options import DefaultsFile, DsnArgument, Procedure


def restore(
    dsn: DsnArgument,
    defaults_file: DefaultsFile = None,
    procedure: Procedure = None,
    execute: Annotated[bool, typer.Option("--execute", help="Do it; without this the server is left alone.")] = False,
    forget: Annotated[
        bool, typer.Option("--forget", help="Leave what is in force, and take it for the beginning from now on.")
    ] = False,
) -> None:
    """Bring back the tuple that was in force before a climb, search or sweep that was killed on this host.

    What somebody else has set since then stays. Without --execute it says what it would do.

    The journals lie in ~/.local/state/poolpilot, or in the folder that POOLPILOT_JOURNALS names.
    """
    console = terminal()
    with connect(dsn, defaults_file, procedure) as server:
        way_back = MariadbWayBack(server)
        try:
            if forget:
                sentence = way_back.forget()
            elif execute:
                sentence = way_back.resume()
            else:
                sentence = " ".join(way_back.warnings())
        finally:
            way_back.close()
        nothing = f"Nothing is left to bring back. In force now: {server.tuple_in_force()}."
        console.print(sentence or nothing, soft_wrap=True)
