"""A library of response curves is checked, survives its file, and forgets a family when asked to."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError
from tests.models.conftest import without_family

from poolpilot.errors import ArtefactError
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves


def test_library_survives_its_file(curves: ResponseCurves, tmp_path: Path) -> None:
    path = tmp_path / "curves.json"
    path.write_text(curves.as_json(), encoding="utf-8")
    read = ResponseCurves.load(path)
    assert (read, read.digest) == (curves, curves.digest)


def test_every_family_weighs_the_same(curves: ResponseCurves) -> None:
    np.testing.assert_allclose(curves.prior, [0.25, 0.25, 0.5])


def test_a_library_without_a_family_has_another_digest(curves: ResponseCurves) -> None:
    rest = without_family(curves, "wait")
    assert [curve.name for curve in rest.curves] == ["compute-1"]
    assert rest.digest != curves.digest


def test_curve_of_another_grid_is_refused(curves: ResponseCurves, make_curve: Callable[..., ResponseCurve]) -> None:
    short = make_curve("short", "wait", 8.0).model_copy(update={"log_worth": (1.0, 2.0)})
    with pytest.raises(ValidationError, match="the curve of short does not have one value"):
        ResponseCurves(grid=curves.grid, source="tests", curves=(short,))


@pytest.mark.parametrize("content", ["", "{}", '{"grid": {}, "source": "x", "curves": []}', "[1]"])
def test_file_that_holds_no_library_is_one_sentence(tmp_path: Path, content: str) -> None:
    path = tmp_path / "curves.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ArtefactError, match=r"curves\.json holds no response curves: .*fit them again"):
        ResponseCurves.load(path)


def test_number_that_is_not_finite_is_refused(curves: ResponseCurves, tmp_path: Path) -> None:
    path = tmp_path / "curves.json"
    path.write_text(curves.as_json().replace(str(curves.curves[0].log_worth[0]), "1e999", 1), encoding="utf-8")
    with pytest.raises(ArtefactError, match="finite"):
        ResponseCurves.load(path)


def test_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="cannot read the response curves"):
        ResponseCurves.load(tmp_path / "none.json")
