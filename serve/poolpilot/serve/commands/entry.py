"""Where the program `poolpilot` begins: signals first, then what takes long to import."""

from poolpilot.env.interrupts import leave_at_once


def main() -> None:
    """Runs the command; a signal ends it with 130 from here on, whatever it is doing."""
    leave_at_once()
    from poolpilot.serve.commands.main import main as run

    run()
