"""Whether records may be learned from: what `poolpilot records --check` shows and what training refuses."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poolpilot.env.workloads.family import Split
from poolpilot.featurizer.record import OLDER_TIMER, TIMER
from poolpilot.pipelines.store.dataset import one_timer, pool_timer
from poolpilot.pipelines.store.definition_faults import definition_faults
from poolpilot.pipelines.store.fault import Fault, FaultKind, refuse, said
from poolpilot.pipelines.store.leak_faults import leak_faults
from poolpilot.pipelines.store.store_contents import ALL_SPLITS, Place, StoreContents, without_one_of, without_row
from poolpilot.pipelines.store.store_faults import store_faults

WINDOW_KEY = (
    "workload_id",
    "run_id",
    "kind",
    "round",
    "time_unix_s",
    "pool_size",
    "oversubscribe",
    "timer_interval_ms",
)
"""What tells one window from another: no run measures two at one moment."""

REMEDY = (
    "; collect others with poolpilot learn collect --store FOLDER: train, promote, curves and calibrate learn from "
    "these with --set older_timer=true alone"
)
"""What is said of records that are all of the older timer, where they are refused."""


@dataclass(frozen=True, slots=True)
class CheckedStore:
    """A store, and what of it counts.

    Attributes:
        directory: Its folder.
        splits: Splits whose windows are read.
        defined: Splits whose workloads are read, for what is evaluated on must not be learned from.
    """

    directory: Path
    splits: tuple[Split, ...] = ALL_SPLITS
    defined: tuple[Split, ...] = ALL_SPLITS


@dataclass(frozen=True)
class RecordCheck:
    """What is in some stores, and what is wrong with it.

    Attributes:
        stores: What was read, store by store.
        faults: What is wrong.
    """

    stores: Sequence[StoreContents]
    faults: Sequence[Fault]

    @classmethod
    def of(cls, stores: Sequence[CheckedStore], *, older_timer: bool = False) -> "RecordCheck":
        """Checks stores, each by itself and all against one another.

        Args:
            stores: The stores; nothing in them is changed.
            older_timer: Whether records that are all of the older timer are not refused, but only to be known.

        Raises:
            StoreError: A folder is no store, or a file cannot be read.
        """
        read = [StoreContents.read(one.directory, one.splits, one.defined) for one in dict.fromkeys(stores)]
        unreadable = [fault for contents in read for fault in definition_faults(contents)]
        if unreadable:  # all other checks read definitions
            return cls(read, [*(fault for contents in read for fault in contents.faults), *unreadable])
        alone = [fault for contents in read for fault in (*contents.faults, *store_faults(contents))]
        return cls(read, [*alone, *_duplicates(read), *leak_faults(read), *_timers(read, older_timer)])

    def refuse(self, but: Collection[FaultKind] = ()) -> list[str]:
        """Refuses records that nothing may learn from; returns the sentences that are only to be known.

        Args:
            but: Kinds of faults that do not matter.

        Raises:
            StoreError: There is a fault.
        """
        counted = [fault for fault in self.faults if fault.kind not in but]
        return [fault.sentence for fault in refuse(counted, [contents.directory for contents in self.stores])]


def _duplicates(stores: Sequence[StoreContents]) -> Iterator[Fault]:
    first: dict[tuple[Any, ...], Place] = {}
    for contents in stores:
        for place, row in contents.rows(WINDOW_KEY):
            earlier = first.setdefault(tuple(row[name] for name in WINDOW_KEY), place)
            if earlier is not place:
                name = row["workload_id"]
                if place.segment == earlier.segment:
                    remedy = without_row(contents, place.segment, name)
                else:
                    remedy = without_one_of(stores, place.segment, earlier.segment)
                sentence = f"{place} (workload {name!r}) repeats {earlier}: {remedy}"
                yield Fault("duplicate", place.segment, name, sentence)


def _timers(stores: Sequence[StoreContents], older_timer: bool) -> Iterator[Fault]:
    """Records of the older timer of our pool, or of both; MariaDB's own timer has always been the same."""
    found = {
        (contents.directory, timer)
        for contents in stores
        for _, row in contents.rows(("server", "timer"))
        if (timer := pool_timer(row)) in (TIMER, OLDER_TIMER) and timer is not None
    }
    if not found:
        return
    if {timer for _, timer in found} == {OLDER_TIMER}:
        places = ", ".join(sorted(str(directory) for directory, _ in found))
        sentence = (
            f"all records in {places} are of the older timer ({OLDER_TIMER}): what they say of timer intervals is "
            f"not what today's pool ({TIMER}) does{'' if older_timer else REMEDY}"
        )
        yield Fault("timer", stores[0].directory, "", sentence, refused=not older_timer)
    yield from said("timer", stores[0].directory, one_timer, sorted(found))
