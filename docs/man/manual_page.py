"""Writes the manual page docs/man/poolpilot.1 from the command itself; `make man` runs this.

Usage: python docs/man/manual_page.py [FILE]
"""

import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer

from poolpilot.serve.commands.main import build

PAGE = Path(__file__).with_name("poolpilot.1")

FIRST = """\
.SH NAME
poolpilot \\- tune the thread pool of a running MariaDB server
.SH SYNOPSIS
.B poolpilot
.RB [ \\-\\-version ]
.RB [ \\-\\-help ]
.I COMMAND
.RI [ ARGUMENT ...]
.SH DESCRIPTION
PoolPilot looks at the counters of a MariaDB server for a few seconds and says which values of
.BR thread_pool_size ,
.B thread_pool_oversubscribe
and
.B thread_pool_stall_limit
suit the workload. Asked to, it tries them out in staging and puts the old values back.
The three values together are a configuration, written (pool size, oversubscribe, timer interval in ms).
.PP
Commands of the group Observe change nothing. Those of the group Act change a MariaDB server only with
.BR \\-\\-execute ;
.B tune
with
.BR "\\-\\-mode apply" ,
and
.B "tune \\-\\-keeper"
to take back what a dead tuner was trying.
Those of the group Learn, and a few others, need the training extra and say so without it.
"""

LAST = """\
.SH CONFIGURATION
A flag is what a user sets at a prompt. Every other setting stands in the file of
.B \\-\\-config
(TOML), in the environment, such as
.BR POOLPILOT_SERVE_PORT ,
or behind
.BR \\-\\-set .
Flags and
.B \\-\\-set
win over the environment, that over the file. A name of no setting is refused.
.B "poolpilot check \\-\\-settings COMMAND \\-\\-defaults"
explains all settings of a command; docs/settings.md lists them.
.SH ENVIRONMENT
.TP
.BR POOLPILOT_CHAMPION ", " POOLPILOT_MARIADB_CHAMPION
Folders of networks that are asked instead of the known response curves.
.TP
.B POOLPILOT_ANY_MACHINE_CHAMPION
Folder of the network for simulated machines, and for pools of ours on other numbers of processors than their own
network knows, in place of that of the package.
.TP
.B POOLPILOT_CURVES
File of response curves, in place of those of the package.
.TP
.B POOLPILOT_TRACEBACK
Shows the traceback of an error that nobody has foreseen, before the sentence that calls it a defect.
.TP
.B MLFLOW_TRACKING_URI
Where runs go; mlflow.db in the folder of \\-\\-tracking if not set.
.TP
.B RAY_ADDRESS
A Ray to train with; a local one if not set.
.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
An error, stated in one sentence.
.TP
.B 2
Wrong usage.
.TP
.B 3
A gate or a check does not pass.
.TP
.B 130
Interrupted.
.SH EXAMPLES
.TP
Can a server be tuned, does its pool serve, and what would help? Neither changes anything.
.nf
poolpilot check S=/run/mysqld/mysqld.sock
poolpilot advise S=/run/mysqld/mysqld.sock
.fi
.TP
Find the best size in staging; without \\-\\-execute it says what it would do.
.nf
poolpilot climb S=/run/mysqld/mysqld.sock \\-\\-execute
.fi
.SH SEE ALSO
.BR mariadbd (8),
.BR sysbench (1)
"""

Command = Any
"""A command as typer makes it."""


def page() -> str:
    """The whole page as roff."""
    app = typer.main.get_command(build())
    title = f'.TH POOLPILOT 1 "" "PoolPilot {version("poolpilot")}" "User Commands"\n'
    return title + FIRST + ".SH COMMANDS\n" + "".join(sections(app, "poolpilot")) + LAST


def sections(group: Command, path: str) -> Iterator[str]:
    """A section for each command of a group and of the groups inside."""
    for name, command in group.commands.items():
        inner = f"{path} {name}"
        if hasattr(command, "commands"):
            yield from sections(command, inner)
        else:
            yield section(command, inner)


def section(command: Command, path: str) -> str:
    """What a command does, and its arguments and options in their groups."""
    context = command.context_class(command, info_name=path)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f".SS {roff(f'{path} {usage}')}", *paragraphs(command.help or "")]
    groups: dict[str, list[str]] = {}
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None:
            panel = getattr(parameter, "rich_help_panel", None) or ""
            groups.setdefault(panel, []).extend([".TP", f".B {roff(record[0])}", roff(record[1])])
    for panel, shown in groups.items():
        lines += [f".PP\n.I {roff(panel)}"] if panel else []
        lines += shown
    return "\n".join(lines) + "\n"


def paragraphs(text: str) -> Sequence[str]:
    """A help text as paragraphs."""
    return [f".PP\n{roff(' '.join(part.split()))}" for part in text.split("\n\n")]


def roff(text: str) -> str:
    """A text with what roff would take for its own escaped; code in bold."""
    plain = text.replace("\\[", "[").replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("\f", "")
    bold = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", plain)
    return f"\\&{bold}" if bold.startswith(".") else bold


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else PAGE).write_text(page(), encoding="utf-8")
