"""All that was learned: response curves, and networks by kind of server (docs/decisions.md, 26).

A folder that `poolpilot learn` has left gives other curves, and maybe another network, which is then the only one of
its kind. A network alone can be chosen: by its folder, by `network` for the shipped one, or by the environment
variables of `champion.py`.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.snapshot import ServerKind
from poolpilot.featurizer.window import Window
from poolpilot.models.artefact import Artefact
from poolpilot.models.card import ModelKind
from poolpilot.models.champion import (
    CHAMPIONS,
    MODEL_FOR,
    champion_folder,
    load_any_machine,
    load_champion,
    load_for,
    model_for,
)
from poolpilot.models.latent.learned_folder import holds_learned_model, load_learned_model
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import ScorePredictor

NETWORK = Path("network")
"""Stands for the shipped network in the place of a model's folder."""


@dataclass(frozen=True)
class KindNetworks:
    """The networks of one kind of server.

    Attributes:
        network: Knows live servers of some numbers of processors.
        any_machine: Learned from simulated machines of any size: asked about these, and about pools of ours of a number
            of processors that `network` does not know; None for nobody.
        alone: Whether they answer without curves and rules.
    """

    network: ScorePredictor
    any_machine: ScorePredictor | None = None
    alone: bool = False

    def knowing(self, windows: Sequence[Window], limits: KnobSpace) -> ScorePredictor:
        """Which of the two knows such a machine."""
        if self.any_machine is None or limits.processors is None:
            return self.network
        if windows[-1].server_kind == "simulated":
            return self.any_machine
        known = self.network.artefact.card.out_of_distribution.knows_cpus(limits.processors)
        return self.network if known else self.any_machine

    @property
    def artefacts(self) -> dict[str, Artefact]:
        """The networks by what they are to the kind."""
        other = {} if self.any_machine is None else {"network_any_machine": self.any_machine.artefact}
        return {"network": self.network.artefact, **other}


@dataclass(frozen=True)
class Model:
    """What an `Advisor` knows.

    Attributes:
        curves: The known response curves; None where networks are asked without any.
        networks: The networks, by kind of server.
    """

    curves: ResponseCurves | None
    networks: Mapping[ModelKind, KindNetworks]

    @classmethod
    def load(cls, folder: Path | None = None, server_kind: ServerKind | None = None, *, to_try: bool = False) -> Self:
        """Loads what ships, or what the environment or a folder names.

        Args:
            folder: What `poolpilot learn` has left, or a network that answers alone, or `network` for the shipped one.
            server_kind: What windows are measured on; None loads for all kinds, and of a network's folder for its own.
            to_try: Whether it is only asked for trials, which the curves alone name wherever they are known.

        Raises:
            FeatureError: A network is to answer, and none has learned from such servers.
            DamagedArtefactError: A file is missing, unreadable or not what was written.
            ArtefactError: The model or the curves are missing, do not fit this version, or are for other servers.
        """
        learned = folder is not None and holds_learned_model(folder)
        if server_kind is not None:
            by_curves = to_try and (folder is None or learned)
            nobody_knows = by_curves and server_kind not in MODEL_FOR
            return cls._loaded([] if nobody_knows else [server_kind], folder, learned=learned, to_try=to_try)
        if folder is None or folder == NETWORK or learned:
            return cls._loaded(CHAMPIONS, folder, learned=learned)
        named = ScorePredictor(load_champion(folder))
        kind = named.artefact.card.kind
        others = cls._loaded([each for each in CHAMPIONS if each != kind], None)
        return cls(others.curves, {kind: KindNetworks(named, alone=True), **others.networks})

    @classmethod
    def of(
        cls, curves: ResponseCurves | None, networks: Iterable[Artefact] = (), any_machine: Artefact | None = None
    ) -> Self:
        """Curves with networks, which answer alone where there are no curves.

        Args:
            curves: Asked where the network of a kind is not sure, and alone where there is none.
            networks: The networks; of two for one kind the last one counts.
            any_machine: The network for simulated machines, and for pools of ours on machines that theirs does not
                know.
        """
        other, alone = None if any_machine is None else ScorePredictor(any_machine), curves is None
        of_kind = {each.card.kind: ScorePredictor(each) for each in networks}
        return cls(
            curves,
            {kind: KindNetworks(one, other if kind == "native" else None, alone) for kind, one in of_kind.items()},
        )

    @classmethod
    def _loaded(
        cls, servers: Iterable[ServerKind], folder: Path | None, *, learned: bool = False, to_try: bool = False
    ) -> Self:
        if folder is None or not learned:
            found = {model_for(each): _named(each, folder) or (None if to_try else _shipped(each)) for each in servers}
            return cls(load_curves(), {kind: networks for kind, networks in found.items() if networks is not None})
        loaded = load_learned_model(folder)
        own = {loaded.network.card.kind: KindNetworks(ScorePredictor(loaded.network))} if loaded.network else {}
        return cls(
            loaded.curves, {} if to_try else {kind: own.get(kind) or _shipped(kind) for kind in map(model_for, servers)}
        )

    def networks_of(self, server_kind: ServerKind) -> KindNetworks | None:
        """The networks of a kind of server; None where there are none."""
        return self.networks.get(MODEL_FOR[server_kind]) if server_kind in MODEL_FOR else None

    def digests(self) -> dict[str, dict[str, str]]:
        """Kind of server to part to digest of what answers."""
        return {
            kind: {part: artefact.digest for part, artefact in networks.artefacts.items()}
            | ({} if networks.alone or self.curves is None else {"curves": self.curves.digest})
            for kind, networks in self.networks.items()
        }

    def check(self) -> None:
        """Has every network answer its golden vectors.

        Raises:
            ArtefactError: One does not answer what it did when it was saved.
        """
        for networks in self.networks.values():
            for artefact in networks.artefacts.values():
                artefact.check()


def _named(server_kind: ServerKind, folder: Path | None) -> KindNetworks | None:
    """The network that is to answer alone, by its folder, by name or by the environment; None where none is."""
    kind = model_for(server_kind)
    if folder is None and not os.environ.get(CHAMPIONS[kind][1]):
        return None
    path = champion_folder(None, kind) if folder in (None, NETWORK) else folder
    return KindNetworks(ScorePredictor(load_for(server_kind, path)), alone=True)


def _shipped(server_kind: ServerKind) -> KindNetworks:
    """The champion of a kind, beside curves; none is known for a MariaDB of any size, whose windows tell too little."""
    other = ScorePredictor(load_any_machine()) if model_for(server_kind) == "native" else None
    return KindNetworks(ScorePredictor(load_for(server_kind)), other)
