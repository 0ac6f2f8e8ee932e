"""The options of `poolpilot climb`, as its help shows them."""

from pathlib import Path
from typing import Annotated

import typer

from poolpilot.env.tuning.backends import Backend
from poolpilot.serve.commands.climb.climb_knobs import KnobName

WITHOUT_DSN = "Without a DSN"
CLIMB = "The climb"
CLIMBER = "Settings of the climber"
END = "At the end"

BackendOption = Annotated[
    Backend | None,
    typer.Option(
        help="native: the pool in this process under its own load. simulated: the same in virtual time, which passes "
        "as fast as it can. curve: a table of throughputs. \\[default: native]",
        rich_help_panel=WITHOUT_DSN,
        show_default=False,
    ),
]
OwnServer = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="MODULE:FACTORY",
        help="One's own server: a function without arguments that opens a PoolServer under load.",
        rich_help_panel=WITHOUT_DSN,
    ),
]
Family = Annotated[str, typer.Option(help="Family to draw the workload from.", rich_help_panel=WITHOUT_DSN)]
Seed = Annotated[int, typer.Option(help="Seed of that draw and of the noise of a curve.", rich_help_panel=WITHOUT_DSN)]
WorkloadFile = Annotated[
    Path | None,
    typer.Option(
        "--workload", help="JSON file of a workload, instead of a family.", dir_okay=False, rich_help_panel=WITHOUT_DSN
    ),
]
CurveFile = Annotated[
    Path | None,
    typer.Option(
        "--curve",
        help="JSON list of \\[pool size, throughput] for --backend curve, instead of an example.",
        dir_okay=False,
        rich_help_panel=WITHOUT_DSN,
    ),
]
Noise = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Noise of a window on a curve, as a share.", rich_help_panel=WITHOUT_DSN),
]
Execute = Annotated[bool, typer.Option("--execute", help="Do it; without this a MariaDB server is left alone.")]
Knobs = Annotated[
    list[KnobName] | None,
    typer.Option(
        "--knob",
        metavar="NAME",
        help="Knob to climb: pool_size, oversubscribe, timer_interval_ms, or all. Repeat it to climb several at once, "
        "each by a wave of its own. \\[default: pool_size]",
        rich_help_panel=CLIMB,
        show_default=False,
    ),
]
Warm = Annotated[bool, typer.Option("--warm/--cold", help="Start from the model's prediction.", rich_help_panel=CLIMB)]
Model = Annotated[
    Path | None, typer.Option(help="Folder of a model artefact instead of the champion.", rich_help_panel=CLIMB)
]
Seconds = Annotated[float, typer.Option(min=1.0, help="Length of the climb.", rich_help_panel=CLIMB)]
Period = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        help="Seconds from one sample to the next, always the same. \\[default: 0.25; 0.5 on MariaDB]",
        rich_help_panel=CLIMB,
        show_default=False,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set one of the climber's settings; repeat it for more. Wins over POOLPILOT_CLIMB_<NAME> in the "
        "environment, which wins over --settings.",
        rich_help_panel=CLIMBER,
        show_default=False,
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        help="TOML file of the climber's settings. It may be changed while the climb runs: the next window goes by it.",
        dir_okay=False,
        rich_help_panel=CLIMBER,
        show_default=False,
    ),
]
ListSettings = Annotated[
    bool,
    typer.Option("--list-settings", help="Only print the settings, with range and effect.", rich_help_panel=CLIMBER),
]
Keep = Annotated[
    bool,
    typer.Option(
        "--keep",
        help="Leave what the climb has reached, after Ctrl-C too; else the first tuple returns.",
        rich_help_panel=END,
    ),
]
JsonPath = Annotated[
    Path | None,
    typer.Option(
        "--json",
        help="Write windows, decisions and settings to this file, after Ctrl-C too; or what --list-settings prints.",
        rich_help_panel=END,
    ),
]
