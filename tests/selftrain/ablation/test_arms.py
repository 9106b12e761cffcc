"""The arms of an ablation: what their names mean, and what is refused before any work."""

from dataclasses import replace

import pytest
from scripted import few_train

from selftrain.ablation.arms import Arm, arms_of, check_arms, curating
from selftrain.config import Config, CurateConfig
from selftrain.config_file import load_config
from selftrain.errors import UsageError

BOTH = "ablate.generators=[{name: org/small, server: http://a/v1}, {name: org/large, server: http://a/v1}]"


def configured(*settings: str) -> Config:
    return load_config(None, settings)


def refusal(*settings: str) -> str:
    config = configured(*settings)
    with pytest.raises(UsageError) as caught:
        check_arms(config, arms_of(config), few_train())
    return str(caught.value)


def test_arms_come_in_the_order_in_which_they_are_named() -> None:
    arms = arms_of(configured("ablate.arms=[noise-10, base, verified]"))
    assert [arm.name for arm in arms] == ["noise-10", "base", "verified"]


def test_arms_that_draw_on_generators_come_once_for_each() -> None:
    arms = arms_of(configured("ablate.arms=[base, human, verified]", BOTH))
    assert [arm.name for arm in arms] == [
        "base",
        "human",
        "verified, from org/small",
        "verified, from org/large",
    ]
    assert [arm.folder for arm in arms][2:] == [
        "verified-from-org-small",
        "verified-from-org-large",
    ]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("base", ()),
        ("human", ("human",)),
        ("unverified", ("unverified",)),
        ("noise-90", ("verified", "wrong")),
    ],
)
def test_an_arm_draws_from_its_kinds_of_pairs(name: str, kinds: tuple[str, ...]) -> None:
    assert Arm(name, None).kinds == kinds


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("verifed", "'verifed' is no arm. Did you mean verified?"),
        ("unverifed", "'unverifed' is no arm. Did you mean unverified?"),
        ("humans", "Did you mean human?"),
        ("zzz", "'zzz' is no arm. There is base, human, verified, unverified, wrong, noise-50."),
        ("noise-0", "noise-0 is the arm verified"),
        ("noise-100", "noise-100 is the arm wrong"),
        ("noise-200", "from 1 to 99"),
        ("noise-05", "from 1 to 99"),
        ("noise", "from 1 to 99"),
    ],
)
def test_a_name_that_is_no_arm_is_refused(name: str, told: str) -> None:
    assert told in refusal(f"ablate.arms=[base, {name}]")


def test_an_arm_named_twice_is_refused() -> None:
    assert "verified twice" in refusal("ablate.arms=[verified, base, verified]")


def test_two_generators_of_one_name_are_refused() -> None:
    same = "ablate.generators=[{name: a/b, server: http://a/v1}, {name: a-b, server: http://b/v1}]"
    assert "no table could tell apart" in refusal(same)


def test_a_generator_that_is_no_model_is_refused() -> None:
    assert "no folder './none'" in refusal("ablate.generators=[{name: ./none}]")


def test_generators_beside_a_proposer_are_refused() -> None:
    told = refusal(BOTH, "propose.model={name: org/other, server: http://a/v1}")
    assert "both say who makes the data" in told


def test_verdicts_of_the_configuration_are_refused_as_each_arm_has_its_own() -> None:
    assert "curate.verdicts is wrong" in refusal("curate.verdicts=wrong")


def test_measuring_every_epoch_is_refused_as_the_table_has_one() -> None:
    assert "Set finetune.epochs to the one you want, and evaluate.epochs=last" in refusal(
        "evaluate.epochs=all"
    )


BY_RATE = CurateConfig(drop_always_solved=True, choose="middle_first", max_pairs=9)


@pytest.mark.parametrize("kind", ["verified", "wrong"])
def test_pairs_of_known_verdicts_are_chosen_by_solve_rate_where_asked(kind: str) -> None:
    assert curating(kind, BY_RATE) == BY_RATE.model_copy(update={"verdicts": kind})


def test_unverified_pairs_are_as_many_but_not_chosen_by_solve_rate() -> None:
    assert curating("unverified", BY_RATE) == CurateConfig(verdicts="unverified", max_pairs=9)


def test_all_reference_solutions_are_taken() -> None:
    assert curating("human", BY_RATE) == CurateConfig()


def test_a_server_cannot_be_trained() -> None:
    assert "cannot be a server's" in refusal("model.name=org/m", "model.server=http://a/v1")


def test_human_without_a_reference_solution_is_refused() -> None:
    bare = [replace(puzzle, solutions=()) for puzzle in few_train()]
    config = configured("ablate.arms=[base, human]")
    with pytest.raises(UsageError, match="human trains on reference solutions"):
        check_arms(config, arms_of(config), bare)


def test_arms_of_equal_tokens_hold_none_back() -> None:
    assert refusal("finetune.held_back=0.1").startswith(
        "finetune.held_back is 0.1, but arms are matched by the tokens"
    )
