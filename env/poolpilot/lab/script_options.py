"""Options of the scripts that send a load: names, ranges and what they mean; the defaults are those of `lua/`."""

from collections.abc import Mapping
from dataclasses import dataclass

from poolpilot.errors import SettingError

OptionValue = int | float | str
"""What an option may be set to; a whole number stays one, as it was written."""


@dataclass(frozen=True, slots=True)
class NumberOption:
    """An option that is a number.

    Attributes:
        default: Its value where a class does not name it.
        least: Least value.
        most: Greatest value.
        meaning: One phrase for people, with its unit.
        whole: Whether it counts something.
    """

    default: float
    least: float
    most: float
    meaning: str
    whole: bool = True

    @property
    def allowed(self) -> str:
        """The range in words."""
        return f"{'a whole number' if self.whole else 'a number'} in {self.least:g}..{self.most:,.10g}"

    def takes(self, value: OptionValue) -> bool:
        """Whether it may have a value."""
        if isinstance(value, str | bool) or not self.least <= value <= self.most:
            return False
        return not self.whole or float(value).is_integer()


@dataclass(frozen=True, slots=True)
class WordOption:
    """An option that is one of a few words.

    Attributes:
        default: Its value where a class does not name it.
        words: What it may be.
        meaning: One phrase for people.
    """

    default: str
    words: tuple[str, ...]
    meaning: str

    @property
    def allowed(self) -> str:
        """The words."""
        return ", ".join(self.words)

    def takes(self, value: OptionValue) -> bool:
        """Whether it may have a value."""
        return value in self.words


ScriptOption = NumberOption | WordOption

TRANSACTIONS = ("new_order", "payment", "order_status", "delivery", "stock_level")
"""Transactions of order entry."""

LARGEST_COUNT = 1e9


def _count(default: int, meaning: str, least: int = 1, most: float = LARGEST_COUNT) -> NumberOption:
    return NumberOption(default, least, most, meaning)


def _ms(default: float, meaning: str) -> NumberOption:
    return NumberOption(default, 0.0, 60_000.0, meaning, whole=False)


OF_EVERY_SCRIPT: Mapping[str, ScriptOption] = {
    "patience_ms": _ms(
        250.0, "where a rate is offered: milliseconds after which a request that could not be sent is given up"
    ),
}
"""Options of `lua/client.lua` that a class may set; its other ones are fields of the class."""

OF_SYSBENCH: Mapping[str, ScriptOption] = {
    "range_size": _count(100, "rows of a range"),
    "point_selects": _count(10, "point selects of a transaction", 0, 1000),
    "simple_ranges": _count(1, "range reads of a transaction", 0, 1000),
    "sum_ranges": _count(1, "sums over a range of a transaction", 0, 1000),
    "order_ranges": _count(1, "sorted ranges of a transaction", 0, 1000),
    "distinct_ranges": _count(1, "distinct ranges of a transaction", 0, 1000),
    "index_updates": _count(1, "updates of an indexed column of a transaction", 0, 1000),
    "non_index_updates": _count(1, "other updates of a transaction", 0, 1000),
    "delete_inserts": _count(1, "rows deleted and inserted again by a transaction", 0, 1000),
    "skip_trx": WordOption("off", ("off", "on"), "on: without BEGIN and COMMIT around them"),
}
"""Options of sysbench's own scripts, as far as they change what a request does."""

OF_OURS: Mapping[str, Mapping[str, ScriptOption]] = {
    "ranges": {"rows": _count(20, "rows that a request reads")},
    "analytic": {
        "query": WordOption("scan", ("scan", "sort", "group", "join", "digest"), "what it does with the rows"),
        "rows": _count(10_000, "rows that a query reads; rounds of a `digest`"),
        "passes": _count(1, "how often it goes over them; a `digest` does once", most=10_000),
    },
    "hot_rows": {
        "rows": _count(20, "rows that all transactions choose from", most=1000),
        "updates": _count(2, "rows that a transaction updates, one after the other", most=100),
        "round_trip_ms": _ms(0.0, "milliseconds between its statements, as over a network"),
    },
    "tpcc": {
        "warehouses": _count(4, "warehouses that are used; if not named, all of the data set: 20 of `orders`", most=20),
        "transaction": WordOption("mixed", ("mixed", *TRANSACTIONS), "the only one that is sent, or the mix of all"),
    },
    "waiting": {"sleep_ms": _ms(5.0, "milliseconds that a request sleeps")},
    "remote_call": {"wait_ms": _ms(20.0, "milliseconds that a call waits")},
    "user_lock": {
        "locks": _count(8, "locks that all requests choose from", most=10_000),
        "hold_ms": _ms(2.0, "milliseconds that one is held"),
    },
    "dump": {"rows": _count(20_000, "rows of a chunk")},
    "slow_reader": {
        "rows": _count(20_000, "rows of a result"),
        "rows_per_s": _count(20_000, "rows that a client takes a second"),
    },
    "reconnect": {},
}
"""Options of the scripts of `lua/`, beside the size of the tables, which the data set states."""


def options_of(script: str) -> Mapping[str, ScriptOption]:
    """All options that a class with this script may set, by name."""
    return {**OF_OURS.get(script, OF_SYSBENCH), **OF_EVERY_SCRIPT}


def check_options(class_name: str, script: str, options: Mapping[str, OptionValue]) -> None:
    """Refuses options that a script does not have, and values that one does not take.

    Args:
        class_name: The class that sets them.
        script: Its script.
        options: What it sets.

    Raises:
        SettingError: There is one; the sentence names it and what is allowed.
    """
    known = options_of(script)
    for name, value in options.items():
        if name not in known:
            raise SettingError(
                f"class {class_name} sets the option {name!r}, which {script} does not have; there are "
                f"{', '.join(known)}"
            )
        if not known[name].takes(value):
            raise SettingError(f"class {class_name} has the {name} {value!r}; allowed is {known[name].allowed}")
