"""A replica answers only where Ray asks for a token and lets requests in at one door."""

import pytest

from poolpilot.errors import SettingError
from poolpilot.serve.replicas.guarded_node import OTHER_DOORS, check_guarded

GUARDED = {"RAY_AUTH_MODE": "token"}


def test_a_ray_that_asks_for_a_token_will_do() -> None:
    check_guarded({**GUARDED, "RAY_SERVE_ENABLE_HA_PROXY": "0"})


@pytest.mark.parametrize("mode", [None, "disabled", ""])
def test_a_ray_that_asks_nobody_is_refused_with_the_remedy(mode: str | None) -> None:
    with pytest.raises(SettingError, match="asks nobody for a token: start every node with RAY_AUTH_MODE=token"):
        check_guarded({} if mode is None else {"RAY_AUTH_MODE": mode})


@pytest.mark.parametrize("door", OTHER_DOORS)
def test_a_door_beside_the_proxy_is_refused_by_name(door: str) -> None:
    with pytest.raises(SettingError, match=f"{door} lets requests in"):
        check_guarded({**GUARDED, door: "1"})
