"""Pictures are written, whatever the folder."""

from pathlib import Path

from matplotlib.image import imread

from poolpilot.pipelines.bench.climbing.cells import Noise
from poolpilot.pipelines.bench.climbing.curve_suite import CurveSuite
from poolpilot.pipelines.bench.climbing.plots import draw
from poolpilot.pipelines.bench.climbing.reference_controllers import BASELINES, SPECTRAL
from poolpilot.pipelines.bench.climbing.suite import run_suite
from poolpilot.pipelines.bench.climbing.summary import Comparison


def test_pictures_of_all_controllers_are_images_in_a_folder_that_is_made(tmp_path: Path) -> None:
    suite = CurveSuite(
        controllers=(SPECTRAL, *BASELINES),
        shapes=("arch",),
        scales=(8, 32),
        noises=(Noise(0.0), Noise(0.05), Noise(0.05, 0.9)),
        starts=("one",),
        shift_scales=(),
        seeds=2,
        samples=60,
        price_of_thread=0.02,
        variants={},
    )
    folder = tmp_path / "deep" / "plots"
    paths = draw(Comparison.of(suite, run_suite(suite, 1, None), 0.02), folder)
    assert paths
    assert sorted(folder.iterdir()) == sorted(paths)
    for path in paths:
        picture = imread(path)
        assert min(picture.shape[:2]) > 200
        assert picture.std() > 0.0
