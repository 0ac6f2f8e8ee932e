"""Rights are read as the server tells them."""

from poolpilot.serve.commands.config.held_rights import HeldRights

LEAST = HeldRights.parse(
    [
        "GRANT USAGE ON *.* TO `tuner`@`localhost` IDENTIFIED BY PASSWORD '*4294A053'",
        "GRANT PROCESS, SLAVE MONITOR ON *.* TO `tuner`@`localhost`",
        "GRANT EVENT ON `poolpilot`.* TO `tuner`@`localhost`",
        "GRANT EXECUTE ON PROCEDURE `poolpilot`.`apply_pool` TO `tuner`@`localhost`",
        "GRANT SELECT ON `performance_schema`.`waits` TO `tuner`@`localhost`",
        "GRANT `dba` TO `tuner`@`localhost`",
    ]
)


def test_what_is_held_where() -> None:
    assert LEAST.hold("PROCESS")
    assert LEAST.hold("SLAVE MONITOR")
    assert LEAST.hold("EVENT", "poolpilot.*")
    assert LEAST.hold("EXECUTE", "PoolPilot.apply_pool")
    assert LEAST.hold("SELECT", "performance_schema.waits")


def test_what_is_not_held() -> None:
    assert not LEAST.hold("CONNECTION ADMIN")
    assert not LEAST.hold("EXECUTE", "poolpilot.other")
    assert not LEAST.hold("EVENT", "other.*")
    assert not LEAST.hold("EVENT")


def test_all_privileges_hold_everything() -> None:
    root = HeldRights.parse(["GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION"])
    assert root.hold("CONNECTION ADMIN")
    assert root.hold("EXECUTE", "poolpilot.apply_pool")
    schema = HeldRights.parse(["GRANT ALL PRIVILEGES ON `poolpilot`.* TO `a`@`b`"])
    assert schema.hold("EVENT", "poolpilot.*")
    assert not schema.hold("CONNECTION ADMIN")
