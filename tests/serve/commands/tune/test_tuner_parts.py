"""What a tuner is made of, by its server."""

from poolpilot.env.servers.curve import CurveServer
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.server.watch_settings import WatchSettings
from poolpilot.mariadb.variables import MAX_THREADS
from poolpilot.serve.commands.tune.introduction import too_few_threads
from poolpilot.serve.commands.tune.tuner_parts import blind_spots


def test_what_a_tuner_cannot_wait_for_is_told_with_the_grant_that_shows_it(lab: Lab) -> None:
    """Before, `config check` alone said that nothing would wait for a backup."""
    with MariadbServer(Dsn(defaults_file=lab.defaults_file).account()) as server:
        (told,) = blind_spots(server)
    assert "GRANT PROCESS ON *.* TO `poolpilot`@`127.0.0.1`;" in told
    assert told.startswith("the tuner does not wait for backups and changes of tables: other accounts' sessions")
    assert told.endswith(";"), "the statement's own, with nothing behind it that runs into it"
    with MariadbServer(lab.root) as server:
        assert blind_spots(server) == ()
    with CurveServer([(1, 100), (16, 1200)]) as server_of_ours:
        assert blind_spots(server_of_ours) == ()


def test_a_server_without_threads_for_a_step_up_is_named_as_such(lab: Lab) -> None:
    """Before, it was never tuned, and nothing told why."""
    account = Dsn(defaults_file=lab.defaults_file).account()
    with MariadbServer(account) as server:
        assert too_few_threads(server, server.tuple_in_force()) == []
        most = int(server.variables[MAX_THREADS].value)
    with MariadbServer(account, watch=WatchSettings(spare_threads=most - 2)) as server:
        (told,) = too_few_threads(server, server.tuple_in_force())
    assert told.startswith(f"thread_pool_max_threads leaves 2 threads beside {most - 2} in reserve, and (")
    assert told.endswith("no step up can be tried; raise it in my.cnf.")
    with CurveServer([(1, 100), (16, 1200)]) as server_of_ours:
        assert too_few_threads(server_of_ours, server_of_ours.tuple_in_force()) == []
