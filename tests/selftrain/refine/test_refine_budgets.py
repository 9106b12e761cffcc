"""Which arms there are, which one is set against the others, and what arms that draw again may use."""

import pytest
from refine_script import Script, block

from selftrain.config import JudgeConfig, RefineConfig
from selftrain.config.refine import Arm
from selftrain.judge import judging_in_evaluation
from selftrain.refine.arms import WAYS, reference, ways_of
from selftrain.refine.asking import Speaker
from selftrain.refine.gate.gate import Gate
from selftrain.refine.loop import refine
from selftrain.refine.means import Means
from selftrain.refine.refine import budgets_of, within
from selftrain.refine.tasks.task import Kind, RefineTask
from selftrain.refine.trace import Asked, Refined, Result, Role, Step, Stop, Used
from selftrain.sampling import Request
from selftrain.sampling.completion import Message


def spent(task_id: str, first: int, more: int) -> Refined:
    calls = {Role.forward: Asked(0, "", "stop", Used(first, 0, 1))}
    used = {Role.forward: Used(first, 0, 1), Role.critic: Used(more, 0, 1)}
    result = Result("critic", task_id, None, False, Stop.iterations, 0, used)
    return Refined(result, (Step("critic", task_id, 0, calls),))


SPENT = [spent("a", 10, 0), spent("b", 10, 50)]


def means_of(forward: Script) -> Means:
    config = RefineConfig(iterations=2)
    judging = judging_in_evaluation(JudgeConfig(num_workers=1))
    return Means(
        config=config,
        forward=Speaker(forward, 0.7, 100, Message()),
        critics={},
        gate=Gate(judging, ()),
        judging=judging,
        count=lambda texts: [len(text.split()) for text in texts],
        few_shot=(),
        seed=0,
        place=("refine",),
    )


def test_with_the_gate_a_task_has_what_was_spent_on_it() -> None:
    assert budgets_of(WAYS["resample"], SPENT) == {"a": 10, "b": 60}


@pytest.mark.parametrize("arm", ["critic", "resample_no_gate"])
def test_other_arms_have_no_budget(arm: Arm) -> None:
    assert budgets_of(WAYS[arm], SPENT) is None


def test_without_the_gate_every_task_is_drawn_as_often_as_the_tokens_allow() -> None:
    means = means_of(Script([""]))
    # 70 tokens were spent, and two first candidates took 20: that is 3.5 of each, rounded to even.
    assert within(WAYS["resample_no_gate"], means, SPENT).config.iterations == 3
    assert within(WAYS["resample_no_gate"], means, [spent("a", 10, 0)]).config.iterations == 0


def test_how_long_a_draw_is_does_not_decide_whether_it_is_the_answer() -> None:
    """Half the draws are short, half are long; drawn until a budget is crossed, most answers are
    long."""

    def reply(request: Request) -> str:
        return block("x = 1\n" * (1 if request.seed % 2 else 200))

    tasks = [RefineTask(f"task {n}", Kind.program, "Write it.") for n in range(60)]
    means = within(WAYS["resample_no_gate"], means_of(Script(reply)), SPENT)
    done = refine(tasks, WAYS["resample_no_gate"], means, advance=lambda _: None)
    long = sum(len(one.result.source or "") > 100 for one in done)
    assert {one.result.num_updates for one in done} == {3}
    assert 18 <= long <= 42  # within three standard deviations of the half


def test_the_arm_that_is_set_against_the_others_is_the_papers_critic() -> None:
    critic = {"name": "critic", "server": "http://127.0.0.1:9/v1"}
    config = RefineConfig.model_validate({"critic": critic})
    chosen = reference(ways_of(config))
    assert chosen is not None and chosen.name == "critic"


def test_a_forward_model_that_is_its_own_critic_has_one_such_arm() -> None:
    names = [way.name for way in ways_of(RefineConfig())]
    assert "self_critic" in names and "critic" not in names
    assert names[-2:] == ["resample", "resample_no_gate"]


def test_rules_have_no_arm_with_code() -> None:
    names = [way.name for way in ways_of(RefineConfig(critic="rules"))]
    assert "critic" in names and "critic_code" not in names
