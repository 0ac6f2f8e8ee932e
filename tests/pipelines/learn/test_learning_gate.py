"""The gate says why not, for every server and everything it was compared with."""

from dataclasses import replace

from poolpilot.pipelines.learn.learning_gate import objections_to_learned
from poolpilot.pipelines.learn.replayed_regret import RegretDifference

SAME = RegretDifference("native", 10, 5, 0.05, 0.05, -0.01, 0.01)
DIGEST = "ab" * 32


def test_as_good_as_what_is_there_passes() -> None:
    assert objections_to_learned([("what ships", [SAME])], 0.0, DIGEST, ()) == ()
    assert objections_to_learned([("what ships", [replace(SAME, mean=0.06)])], 0.01, DIGEST, ()) == ()


def test_each_server_and_each_rival_may_object() -> None:
    worse = replace(SAME, server="mariadb", mean=0.08)
    found = objections_to_learned([("what ships", [SAME, worse]), ("what is in force", [worse])], 0.01, DIGEST, ())
    assert len(found) == 2
    assert found[0] == "on mariadb its mean regret is 8.0%, more than 1.0% above the 5.0% of what ships"
    assert found[1].endswith("of what is in force")


def test_what_cannot_be_judged_or_was_rolled_back_does_not_pass() -> None:
    assert "judged on 0 held-out" in objections_to_learned([("what ships", [])], 0.01, DIGEST, ())[0]
    few = replace(SAME, workloads=2)
    assert "judged on 2 held-out" in objections_to_learned([("what ships", [few])], 0.01, DIGEST, ())[0]
    assert "was rolled back" in objections_to_learned([("what ships", [SAME])], 0.01, DIGEST, {DIGEST})[0]
    broken = replace(SAME, mean=float("nan"))
    assert objections_to_learned([("what ships", [broken])], 0.01, DIGEST, ()) != ()
