from dataclasses import replace

from verifier.comparisons import task

from selftrain.verifier.ranking.rank import Scored
from selftrain.verifier.ranking.strata import by_family


def scored(name: str, labels: str, family: str) -> Scored:
    made = replace(task(name, labels), family=family)
    return Scored(made, tuple(9.0 if one.label else -9.0 for one in made.candidates))


def test_known_and_new_families_are_measured_apart() -> None:
    test = [scored("a", "+-", "old"), scored("b", "--", "old"), scored("c", "-+", "new")]
    known, new = by_family(test, {"old"}, ["verifier", "random"], seed=0, likelihood="sum")
    assert (known.name, known.num_tasks) == ("known families", 2)
    assert known.accuracy["verifier"].value == 0.5
    assert known.accuracy["random"].value == 0.25
    assert (new.name, new.num_tasks) == ("new families", 1)
    assert new.accuracy["verifier"].value == 1.0


def test_tasks_of_one_kind_or_without_a_family_are_not_told_apart() -> None:
    old, none = scored("a", "+-", "old"), scored("b", "+-", "")
    for some in ([old], [none], [old, none]):
        assert not list(by_family(some, {"old"}, ["random"], seed=0, likelihood="sum"))
