"""One look on any server is what production says: by its kind, and of MariaDB without the clients' latencies."""

from dataclasses import replace

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.window import Window
from poolpilot.models.champion import load_any_machine, load_champion
from poolpilot.models.latent.advice_by_kind import AdviceByKind
from poolpilot.models.latent.latent_advisor import LatentAdvisor
from poolpilot.models.latent.shipped import advisor_for
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.workload import RequestClass, Step, Workload

SHORT = RequestClass("short", (Step("cpu", us=300.0), Step("wait", us=3000.0)), target_ms=50.0)
LIMITS = KnobSpace.stock(2)


@pytest.fixture(scope="module")
def window() -> Window:
    with SimulatedServer(Workload("w", "f", (SHORT,), connections=64)) as server:
        server.run_for(2.0)
        return observe(server, 5.0).window


@pytest.fixture(scope="module")
def advice() -> AdviceByKind:
    return AdviceByKind(load_curves(), [load_champion(), load_champion(kind="mariadb")])


def test_pool_in_this_process_is_advised_as_by_predict(window: Window, advice: AdviceByKind) -> None:
    assert advice.predict([window], LIMITS, Objective()) == advisor_for("native").predict([window], LIMITS, Objective())


def test_mariadb_is_advised_as_by_advise_which_sees_no_client(window: Window, advice: AdviceByKind) -> None:
    of_mariadb = replace(window, server_kind="mariadb")
    seen = of_mariadb.without_classes()
    assert advice.predict([of_mariadb], LIMITS, Objective()) == advisor_for("mariadb").predict(
        [seen], LIMITS, Objective()
    )


def test_machines_of_other_sizes_are_advised_as_by_predict(window: Window) -> None:
    networks, any_machine = [load_champion(), load_champion(kind="mariadb")], load_any_machine()
    advice, without = (
        AdviceByKind(load_curves(), networks, any_machine=any_machine),
        AdviceByKind(load_curves(), networks),
    )
    simulated = replace(window, server_kind="simulated")
    assert advice.predict([simulated], LIMITS, Objective()) == advisor_for("simulated").predict(
        [simulated], LIMITS, Objective()
    )
    wide = KnobSpace.stock(16)
    told = advice.predict([window], wide, Objective())
    assert told == advisor_for("native").predict([window], wide, Objective())
    assert told != without.predict([window], wide, Objective())
    of_mariadb = replace(window, server_kind="mariadb")
    assert advice.predict([of_mariadb], LIMITS, Objective()) == without.predict([of_mariadb], LIMITS, Objective())


def test_server_that_no_network_knows_is_advised_by_the_curves(window: Window, advice: AdviceByKind) -> None:
    other = replace(window, server_kind="other")
    curves = LatentAdvisor(load_curves())
    assert advice.predict([other], LIMITS, Objective()) == curves.predict([other], LIMITS, Objective())
    assert AdviceByKind(load_curves(), []).predict([window], LIMITS, Objective()) == curves.predict(
        [window], LIMITS, Objective()
    )
