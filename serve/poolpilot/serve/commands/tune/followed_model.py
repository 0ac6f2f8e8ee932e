"""What proposes to a tuner, loaded again when another model lies where it was told to find one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from rich.console import Console

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.output import warn
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.commands.tune.tuner_parts import predictor_for
from poolpilot.serve.service.served_models import ServedModels, failure_of
from poolpilot.serve.service.watch.model_watch import ModelWatch


class FollowedPredictor:
    """Answers by the latest model that could be loaded; `renew` may be called by another thread.

    Args:
        load: Loads the model that is to answer.

    Raises:
        ArtefactError: The first one is missing or damaged.
    """

    def __init__(self, load: Callable[[], Predictor]) -> None:
        self._models = ServedModels(load(), load)

    def renew(self) -> None:
        """Loads the model again; while that takes, and where it fails, the one before answers.

        Raises:
            ArtefactError: It is missing or damaged, or answers otherwise than when it was saved.
        """
        self._models.renew()

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """See `Predictor.predict`."""
        return self._models.predictor.predict(windows, limits, objective)


@contextmanager
def followed_model(settings: TuneSettings, console: Console) -> Iterator[Predictor]:
    """What proposes tuples, for as long as a tuner runs; it follows the folder of `--model`, where one is given.

    Raises:
        ArtefactError: The model or the curves are missing or damaged.
        SettingError: The model is a network, and none knows such servers; or the service's address is of no use.
    """
    watch = ModelWatch(settings.model, settings.follow_every_s)
    predictor = FollowedPredictor(partial(predictor_for, settings))
    watch.begin(partial(_renewed, predictor, settings, console))
    try:
        yield predictor
    finally:
        watch.end()


def _renewed(predictor: FollowedPredictor, settings: TuneSettings, console: Console) -> None:
    """Renews; whatever hinders that, such as a folder that it may not enter, later models are followed."""
    if failure := failure_of(predictor.renew):
        warn([f"the model before goes on, since that in {settings.model} cannot be taken: {failure}"], console)
    else:
        console.print(f"Another model lies in {settings.model}: it proposes from now on.", soft_wrap=True)
