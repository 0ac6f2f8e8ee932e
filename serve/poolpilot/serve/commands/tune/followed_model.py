"""What proposes to a tuner, loaded again when another model lies where it was told to find one."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console

from poolpilot.env.output import warn
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.commands.tune.tuner_parts import predictor_for
from poolpilot.serve.service.renewal import failure_of
from poolpilot.serve.service.watch.model_watch import ModelWatch


@contextmanager
def followed_model(settings: TuneSettings, console: Console) -> Iterator[Predictor]:
    """What proposes tuples, for as long as a tuner runs; it follows the folder of `--model`, where one is given.

    Raises:
        ArtefactError: The model or the curves are missing or damaged.
        SettingError: The model is a network, and none knows such servers; or the service's address is of no use.
    """
    predictor = predictor_for(settings)
    watch = ModelWatch(settings.model, settings.follow_every_s)
    if isinstance(predictor, Advisor):
        watch.begin(partial(_renewed, predictor, settings, console))
    try:
        yield predictor
    finally:
        watch.end()


def _renewed(advisor: Advisor, settings: TuneSettings, console: Console) -> None:
    """Renews; whatever hinders that, such as a folder that it may not enter, later models are followed."""
    if failure := failure_of(advisor.renew):
        warn([f"the model before goes on, since that in {settings.model} cannot be taken: {failure}"], console)
    else:
        console.print(f"Another model lies in {settings.model}: it proposes from now on.", soft_wrap=True)
