"""What a tuner is made of, by its server."""

from poolpilot.env.lab.instance import Lab
from poolpilot.env.mariadb.dsn import Dsn
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.mariadb import MariadbServer
from poolpilot.serve.commands.tune.tuner_parts import blind_spots


def test_what_a_tuner_cannot_wait_for_is_told_with_the_grant_that_shows_it(lab: Lab) -> None:
    """Before, `config check` alone said that nothing would wait for a backup."""
    with MariadbServer(Dsn(defaults_file=lab.defaults_file).account()) as server:
        (told,) = blind_spots(server)
    assert "GRANT PROCESS ON *.* TO `poolpilot`@`127.0.0.1`;" in told
    assert told.endswith("nothing waits for a backup or a change of a table")
    with MariadbServer(lab.root) as server:
        assert blind_spots(server) == ()
    with CurveServer([(1, 100), (16, 1200)]) as server_of_ours:
        assert blind_spots(server_of_ours) == ()
