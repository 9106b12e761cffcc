"""What went wrong with a large share of replies or tasks is said, the worst first, with its counts."""

from collections.abc import Sequence

import pytest
from refine.report.made import HELD, UNCHECKED, asked, first, review, task, too_long

from selftrain.config import Config, ModelConfig, RefineConfig
from selftrain.refine.critic.review import FieldVerdict, How
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.report.counting import begin, count_step
from selftrain.refine.report.troubles import Calls, note_calls, nothing_was_asked, troubles_of
from selftrain.refine.trace import Asked, Role, Step, Used

SELF = Config(refine=RefineConfig(max_new_tokens=64, critic_max_new_tokens=80))


def said(steps: Sequence[Step], c: Config = SELF) -> list[str]:
    calls, counts = Calls(), begin(["forward", "critic"])
    for step in steps:
        note_calls(calls, step)
        count_step(counts, step, task(step.task_id), "message")
    return [one.said for one in troubles_of(calls, counts, c)]


def reply(number: int, call: Asked, candidate: Candidate | None = None) -> Step:
    return Step("critic", "t0", number, {Role.forward: call}, candidate=candidate)


def reviewed(number: int, call: Asked, how: How = How.json) -> Step:
    return Step(
        "critic", "t0", number, {Role.critic: call}, review=review(FieldVerdict.failed, how=how)
    )


def test_all_is_well_where_all_was_asked_answered_and_read() -> None:
    steps = [first("critic", "t0", HELD), reviewed(1, asked()), reply(1, asked(), Candidate("x"))]
    assert said(steps) == []


def test_less_than_a_fifth_is_not_worth_a_sentence() -> None:
    def replies(number: int) -> list[Step]:
        cut = reply(1, asked("length"), Candidate(None, "cut"))
        return [cut, *(reply(i, asked(), Candidate("x")) for i in range(2, number + 1))]

    assert said(replies(6)) == []
    assert said(replies(5)) == [
        "1 of 5 replies of the forward model are cut at 64 tokens: raise refine.max_new_tokens."
    ]


def test_the_first_prompt_of_a_task_is_counted_once_for_all_arms() -> None:
    steps = [
        Step(arm, name, 0, {Role.forward: too_long() if name == "t0" else asked()}, candidate=Candidate("x"))
        for arm in ("forward", "critic")
        for name in ("t0", "t1", "t2")
    ]  # fmt: skip
    (sentence,) = said(steps)
    assert sentence.startswith("1 of 3 first prompts do not fit in the model's context")
    calls = Calls()
    for step in steps:
        note_calls(calls, step)
    assert not nothing_was_asked(calls)


@pytest.mark.parametrize(
    ("step", "begins"),
    [
        (reply(1, too_long()), "1 of 1 prompts for a later candidate do not fit"),
        (reply(1, asked("content_filter"), Candidate(None, "refused")), "1 of 1 replies of the forward model are refusals"),
        (reply(1, asked(), Candidate(None, "no_code")), "1 of 1 replies of the forward model hold no program (no_code 1)"),
        (reviewed(1, too_long(), How.nothing), "1 of 1 prompts of the critic do not fit"),
        (reviewed(1, asked(), How.nothing), "1 of 1 reviews could not be read, which is no pass."),
        (reviewed(1, asked("length"), How.nothing), "1 of 1 reviews could not be read, which is no pass; 1 are cut: raise refine.critic_max_new_tokens."),
        (first("critic", "t0", UNCHECKED), "1 of 1 tasks that the gate examined have nothing that tells"),
    ],
)  # fmt: skip
def test_each_thing_that_goes_wrong_is_said_once(step: Step, begins: str) -> None:
    (sentence,) = said([step])
    assert sentence.startswith(begins)


def test_a_refusal_of_the_critic_is_one_and_no_review_either() -> None:
    found = said([reviewed(1, asked("content_filter"), How.nothing)])
    assert found == [
        "1 of 1 replies of the critic are refusals (content_filter).",
        "1 of 1 reviews could not be read, which is no pass.",
    ]


def test_the_worst_comes_first() -> None:
    steps = [
        reply(1, asked("length"), Candidate(None, "cut")),
        reply(2, asked(), Candidate("x")),
        reviewed(1, asked(), How.nothing),
    ]
    assert [one[:6] for one in said(steps)] == ["1 of 1", "1 of 2"]


def test_what_a_program_says_as_critic_is_no_reply_of_a_model() -> None:
    program = Asked(0, "{}", "stop", Used())
    found = said([reviewed(i, program) for i in range(9)] + [reviewed(9, asked(), How.nothing)])
    assert found == ["1 of 1 reviews could not be read, which is no pass."]


def test_the_setting_to_change_is_that_of_the_model_that_was_asked() -> None:
    c = Config(
        solve=SELF.solve.model_copy(update={"model": ModelConfig(name="other", context_tokens=128)}),
        refine=SELF.refine.model_copy(update={"critic": ModelConfig(name="critic", context_tokens=256)}),
    )  # fmt: skip
    forward, critic = said([reply(1, too_long()), reviewed(1, too_long())], c)
    assert "in 128 tokens" in forward and "raise solve.model.context_tokens" in forward
    assert "in 256 tokens" in critic and "raise refine.critic.context_tokens" in critic
