"""The count of the house counts what it says."""

from house_counts import MANUAL, Tree, report

DECIDER = """
class Advice(BaseModel):
    seconds: float = 1.0


class Decider:
    def predict(self, windows, limits, objective):
        return None


class Kept(Protocol):
    def predict(self, windows, limits, objective): ...
"""
MANUAL_PAGE = """\
.SS poolpilot tune [OPTIONS]
.B \\-\\-mode NAME
.B \\-\\-config FILE
.SS poolpilot lab up [OPTIONS]
.B \\-\\-config FILE
"""
HOUSE = Tree(
    {
        "models/poolpilot/models/decider.py": DECIDER,
        "models/poolpilot/models/user.py": "from poolpilot.models.decider import Decider\n",
        "native_pool/pool/pool.cpp": "int a;\nint b;\n",
        "native_pool/tests/pool_test.cpp": "int c;\n",
        "tests/models/test_decider.py": "\ndef test_it() -> None: ...\n\ndef test_more() -> None: ...\n",
        "benchmarks/reports/one.json": "{}",
        MANUAL: MANUAL_PAGE,
    }
)


def test_every_count_is_that_of_the_files() -> None:
    counts = dict(HOUSE.counts())
    assert counts["Python lines of models"] == counts["Python lines of the product"] == DECIDER.count("\n") + 1
    assert (counts["C++ lines of the product"], counts["C++ lines of tests"]) == (2, 1)
    assert (counts["commands"], counts["distinct flags"]) == (2, 2)
    assert (counts["classes of settings"], counts["settings"], counts["classes"]) == (1, 1, 3)
    assert (counts["implementations of predict"], counts["modules imported by one other"]) == (1, 1)
    assert (counts["test functions in Python"], counts["bytes of reports"]) == (2, 2)


def test_before_stands_beside_now() -> None:
    lines = list(report({"modules": 1200}, {"modules": 900}))
    assert [line.split() for line in lines] == [["before", "now", "count"], ["900", "1,200", "modules"]]


def test_the_clone_is_counted() -> None:
    counts = dict(Tree.now().counts())
    assert counts["Python lines of the product"] > 10_000
    assert 0 < counts["modules imported by one other"] < counts["modules"]
