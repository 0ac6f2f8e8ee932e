"""One look on any server is what production says: by its kind, and of MariaDB without the clients' latencies."""

from dataclasses import replace

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.window import Window
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.models.champion import load_any_machine, load_champion
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
def advice() -> Advisor:
    return Advisor(Model.of(load_curves(), [load_champion(), load_champion(kind="mariadb")]), server_view=True)


def test_pool_in_this_process_is_advised_as_by_predict(window: Window, advice: Advisor) -> None:
    assert advice.predict([window], LIMITS, Objective()) == Advisor.load(None, "native").predict(
        [window], LIMITS, Objective()
    )


def test_mariadb_is_advised_as_by_advise_which_sees_no_client(window: Window, advice: Advisor) -> None:
    of_mariadb = replace(window, server_kind="mariadb")
    seen = of_mariadb.without_classes()
    assert advice.predict([of_mariadb], LIMITS, Objective()) == Advisor.load(None, "mariadb").predict(
        [seen], LIMITS, Objective()
    )


def test_machines_of_other_sizes_are_advised_as_by_predict(window: Window) -> None:
    networks, any_machine = [load_champion(), load_champion(kind="mariadb")], load_any_machine()
    advice, without = (
        Advisor(Model.of(load_curves(), networks, any_machine), server_view=True),
        Advisor(Model.of(load_curves(), networks), server_view=True),
    )
    simulated = replace(window, server_kind="simulated")
    assert advice.predict([simulated], LIMITS, Objective()) == Advisor.load(None, "simulated").predict(
        [simulated], LIMITS, Objective()
    )
    wide = KnobSpace.stock(16)
    told = advice.predict([window], wide, Objective())
    assert told == Advisor.load(None, "native").predict([window], wide, Objective())
    assert told != without.predict([window], wide, Objective())
    of_mariadb = replace(window, server_kind="mariadb")
    assert advice.predict([of_mariadb], LIMITS, Objective()) == without.predict([of_mariadb], LIMITS, Objective())


def test_server_that_no_network_knows_is_advised_by_the_curves(window: Window, advice: Advisor) -> None:
    other = replace(window, server_kind="other")
    curves = Advisor(Model.of(load_curves()))
    assert advice.predict([other], LIMITS, Objective()) == curves.predict([other], LIMITS, Objective())
    assert Advisor(Model.of(load_curves(), []), server_view=True).predict(
        [window], LIMITS, Objective()
    ) == curves.predict([window], LIMITS, Objective())
