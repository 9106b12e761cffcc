"""Drawing an arm's pairs: by seed, in doses, up to a number of tokens."""

from random import Random

import pytest

from selftrain.ablation.arms import Arm
from selftrain.ablation.draw import Slot, in_order, sum_tokens, within_budget
from selftrain.config import Config, CurateConfig


def slots(kind: str, *sizes: int) -> list[Slot]:
    return [Slot(kind, number, size) for number, size in enumerate(sizes)]


def many(kind: str, count: int) -> list[Slot]:
    random = Random(kind)
    return slots(kind, *(random.randint(30, 120) for _ in range(count)))


BOTH = {"verified": many("verified", 400), "wrong": many("wrong", 400)}

SEVEN = Config(seed=7)


@pytest.mark.parametrize("percent", [1, 10, 33, 50, 90, 99])
@pytest.mark.parametrize("budget", [500, 3_000, 10_000])
def test_a_dose_is_wrong_in_that_share_but_for_rounding(percent: int, budget: int) -> None:
    taken = within_budget(in_order(Arm(f"noise-{percent}", None), BOTH, SEVEN), budget)
    wrong = sum(slot.kind == "wrong" for slot in taken)
    assert abs(wrong - len(taken) * percent / 100) < 1


def test_a_dose_ends_where_one_of_its_kinds_does() -> None:
    order = in_order(Arm("noise-50", None), {**BOTH, "wrong": slots("wrong", 40, 50, 60)}, SEVEN)
    assert [slot.kind for slot in order] == ["verified", "wrong"] * 3 + ["verified"]


def test_a_dose_has_pairs_of_the_verified_arm_in_its_order() -> None:
    verified = in_order(Arm("verified", None), BOTH, SEVEN)
    dosed = [
        slot for slot in in_order(Arm("noise-10", None), BOTH, SEVEN) if slot.kind == "verified"
    ]
    assert dosed == verified[: len(dosed)]


def test_another_seed_draws_in_another_order() -> None:
    arm = Arm("wrong", None)
    assert in_order(arm, BOTH, SEVEN) == in_order(arm, BOTH, SEVEN) != in_order(arm, BOTH, Config())


def test_pairs_that_come_middle_first_keep_their_order() -> None:
    config = Config(curate=CurateConfig(choose="middle_first"))
    assert in_order(Arm("wrong", None), BOTH, config) == BOTH["wrong"]


def test_unverified_pairs_are_shuffled_whatever_comes_first_elsewhere() -> None:
    config = Config(curate=CurateConfig(choose="middle_first"))
    some = {"unverified": many("unverified", 40)}
    arm = Arm("unverified", None)
    assert in_order(arm, some, config) == in_order(arm, some, Config()) != some["unverified"]


def test_no_pair_is_taken_twice() -> None:
    for budget in range(300, 4_000, 37):
        taken = within_budget(in_order(Arm("noise-50", None), BOTH, SEVEN), budget)
        assert len(set(taken)) == len(taken)


def test_a_budget_of_all_takes_all() -> None:
    some = slots("wrong", 10, 20, 30)
    assert within_budget(some, 60) == some
    assert within_budget(some, 70) == some


def test_one_more_pair_is_taken_where_that_comes_nearer() -> None:
    assert sum_tokens(within_budget(slots("wrong", 50, 50, 50, 50), 140)) == 150
    assert sum_tokens(within_budget(slots("wrong", 50, 50, 50, 50), 110)) == 100


def test_one_pair_is_exchanged_for_a_spare_of_its_kind_where_that_comes_nearer() -> None:
    order = [*slots("wrong", 50, 50, 90, 53), Slot("verified", 0, 55)]
    taken = within_budget(order, 103)
    assert sorted(slot.num_tokens for slot in taken) == [50, 53]
    assert {slot.kind for slot in within_budget(order, 105)} == {"wrong"}
