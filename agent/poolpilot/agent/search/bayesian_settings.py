"""How Bayesian optimisation chooses its tuples; apart from it, since it needs torch and a preview does not."""

from pydantic import Field

from poolpilot.agent.search.search_controller import SearchSettings


class BayesianSettings(SearchSettings):
    """How tuples are chosen; the defaults are AutoTiKV's where it has them."""

    random_rounds: int = Field(default=10, ge=1, description="Rounds drawn at random before the first choice.")
    deviations: float = Field(
        default=3.0,
        ge=0.0,
        description="k in U = m + k s: standard deviations that not knowing a configuration is worth.",
    )
    candidates: int = Field(
        default=1000, ge=1, description="Configurations drawn at random among which a round chooses."
    )
    threads: int = Field(
        default=1, ge=1, description="Threads of torch; more than one costs the same seed its meaning."
    )
