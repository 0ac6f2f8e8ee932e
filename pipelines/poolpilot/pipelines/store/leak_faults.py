"""What is both learned from and evaluated on: families, and compositions whatever their families are called."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from poolpilot.env.workloads.composition import BESIDE, KNOWN_OVERLAPS, composition, overlaps
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.store.dataset import refuse_leakage
from poolpilot.pipelines.store.fault import Fault, said
from poolpilot.pipelines.store.store_contents import StoreContents

Row = Mapping[str, Any]


def composition_of(row: Row) -> str:
    """What a workload is composed of; of MariaDB's the scripts, which are held out by family alone."""
    values = json.loads(row["workload"])
    if _made_of_steps(row):
        return composition(Workload.from_dict(values).classes)
    return BESIDE.join(sorted(str(each["script"]) for each in values["classes"]))


def leak_faults(stores: Sequence[StoreContents]) -> Iterator[Fault]:
    """Families and compositions that some stores, taken together, both learn from and evaluate on."""
    for contents in stores:
        yield from said("leak", contents.directory, refuse_leakage, [row for _, row in contents.definitions])
    rows = [row for contents in stores for _, row in contents.definitions]
    places = ", ".join(str(contents.directory) for contents in stores)
    yield from _families(stores, rows, places)
    yield from _shared_compositions(stores, rows, places)


def _shared_compositions(stores: Sequence[StoreContents], rows: Sequence[Row], places: str) -> Iterator[Fault]:
    """Compositions of two families; a family that is in both by name is named above."""
    for overlap in overlaps(_compositions(rows)):
        for family in overlap.held_out:
            training = [name for name in overlap.training if name != family]
            known = KNOWN_OVERLAPS.get(family)
            sentence = (
                f"the held-out family {family!r} in {places} has the composition {overlap.composition!r} of the "
                f"training families {', '.join(training)}: "
                f"{known or 'what is evaluated on it has been learned from; leave one of them out'}"
            )
            if training:
                yield Fault("leak", stores[0].directory, family, sentence, refused=known is None)


def _families(stores: Sequence[StoreContents], rows: Sequence[Row], places: str) -> Iterator[Fault]:
    """Families in two stores; those within one are `refuse_leakage`'s."""
    if len(stores) > 1:
        splits: dict[tuple[str, bool], set[str]] = defaultdict(set)
        for row in rows:
            splits[row["family"], _made_of_steps(row)].add(row["split"])
        for (family, _), found in sorted(splits.items()):
            if len(found) > 1 and "train" in found:
                sentence = f"family {family!r} is learned from and evaluated on in {places}; leave one of these out"
                yield Fault("leak", stores[0].directory, family, sentence)


def _compositions(rows: Iterable[Row]) -> Iterator[tuple[str, str, str]]:
    """Split, family and composition of workloads that are made of steps; scripts of sysbench are not."""
    for row in rows:
        if _made_of_steps(row):
            yield row["split"], row["family"], composition_of(row)


def _made_of_steps(row: Row) -> bool:
    """Whether a workload is of the embedded or a simulated pool: MariaDB's families are others by any name."""
    return all("steps" in each for each in json.loads(row["workload"])["classes"])
