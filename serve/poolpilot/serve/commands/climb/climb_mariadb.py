"""What a dry run of a climb on MariaDB says."""

from poolpilot.env.tuning.target import TuningTarget
from poolpilot.serve.commands.climb.climb_knobs import ranges_text


def dry_run(target: TuningTarget, knobs: tuple[str, ...], seconds: float) -> str:
    """What a climb would do.

    Raises:
        SettingError: A knob cannot be climbed on this server, or not from the value in force.
    """
    return (
        f"Would climb for {seconds:g} s over {ranges_text(knobs, target.server)} from "
        f"{target.server.tuple_in_force()}, and restore it at the end unless --keep; add --execute to do it. "
        "For staging: a climb makes waves."
    )
