"""The loop with scripted models: when it stops, what it keeps, what its prompts hold."""

import json
from collections.abc import Sequence

import pytest
from refine_script import ALL_PASS, FAIL, Script, block, verdicts

from selftrain.config import JudgeConfig, RefineConfig
from selftrain.config.refine import Arm
from selftrain.judge import judging_in_evaluation
from selftrain.refine.arms import WAYS
from selftrain.refine.asking import Speaker
from selftrain.refine.gate.gate import Gate
from selftrain.refine.loop import refine
from selftrain.refine.means import Means
from selftrain.refine.tasks.task import Example, Growth, Invariant, Kind, RefineTask
from selftrain.refine.trace import Fate, Refined, Role, Stop
from selftrain.sampling import Completion, FinishReason
from selftrain.sampling.completion import Message

RIGHT = "def double(x):\n    return 2 * x"
WRONG = "def double(x):\n    return x"
OTHER_WRONG = "def double(x):\n    return x + 1"
TASK = RefineTask(
    task_id="double",
    kind=Kind.function,
    statement='def double(x):\n    """Give twice x."""\n',
    entry_point="double",
    parameters="x",
    examples=(Example("((3,), {})", "6"),),
    source="tasks",
)


def run(
    arm: Arm,
    forward: Script,
    critic: Script | None = None,
    task: RefineTask = TASK,
    budget: int | None = None,
    told: list[float] | None = None,
    **settings: object,
) -> Refined:
    config = RefineConfig(**{"iterations": 2, **settings})  # type: ignore[arg-type]
    judging = judging_in_evaluation(JudgeConfig(num_workers=1))
    speaker = None if critic is None else Speaker(critic, 0.0, 100, Message("{}"))
    means = Means(
        config=config,
        forward=Speaker(forward, 0.7, 100, Message()),
        critics={"forward": Speaker(forward, 0.0, 100, Message("{}")), "configured": speaker},
        gate=Gate(judging, config.allowed_imports),
        judging=judging,
        count=lambda texts: [len(text.split()) for text in texts],
        few_shot=(),
        seed=0,
        place=("refine",),
    )
    budgets = None if budget is None else {task.task_id: budget}
    (done,) = refine(
        [task],
        WAYS[arm],
        means,
        budgets=budgets,
        advance=[].append if told is None else told.append,
    )
    return done


def fates(done: Refined) -> list[str | None]:
    return [step.fate for step in done.steps]


def rejected_by(done: Refined, iteration: int) -> list[str]:
    report = done.steps[iteration].report
    assert report is not None
    return [failure.invariant for failure in report.failures]


def test_all_pass_and_gate_stop_at_the_first_review() -> None:
    forward, critic = Script([block(RIGHT)]), Script([ALL_PASS])
    done = run("critic", forward, critic)
    assert (done.result.stop, done.result.accepted) == (Stop.all_pass, True)
    assert (len(forward.requests), len(critic.requests)) == (1, 1)
    assert done.steps[-1].iteration == 1


def test_a_review_that_passes_what_the_gate_rejects_does_not_end_it() -> None:
    forward, critic = Script([block(WRONG), block(RIGHT)]), Script([ALL_PASS])
    done = run("critic", forward, critic)
    assert (done.result.stop, done.result.accepted) == (Stop.all_pass, True)
    assert len(forward.requests) == 2


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_what_always_fails_stops_after_all_updates(iterations: int) -> None:
    sources = iter(f"def double(x):\n    return {n}" for n in range(100, 200))
    forward = Script(lambda _: block(next(sources)))
    done = run("critic", forward, Script([FAIL]), iterations=iterations)
    assert (done.result.stop, done.result.accepted) == (Stop.iterations, False)
    assert len(forward.requests) == iterations + 1
    assert done.result.source == "def double(x):\n    return 100\n"


def test_edits_are_numbered_in_order_each_once() -> None:
    review = verdicts(
        ("efficiency", "the loop", "use a sum"),
        ("correctness", "line 2", "return 2 * x"),
        ("correctness", "Line 2 ", "return  2 * x"),
        ("completeness", "the head", "keep the name"),
    )
    forward = Script([block(WRONG), block(RIGHT)])
    run("critic", forward, Script([review]), iterations=1)
    lines = [
        line for line in forward.prompts[1].splitlines() if line[:2] in ("1.", "2.", "3.", "4.")
    ]
    assert lines == [
        "1. line 2: return 2 * x",
        "2. the loop: use a sum",
        "3. the head: keep the name",
    ]


REGRESSIONS = {
    "examples": OTHER_WRONG,
    "signature": "def double(y):\n    return 2 * y",
    "imports": "import socket\n\n\ndef double(x):\n    return 2 * x",
    "resources": "def double(x):\n    while True:\n        pass",
}


@pytest.mark.parametrize("invariant", REGRESSIONS)
def test_a_regressing_update_is_rejected_by_name(invariant: str) -> None:
    forward = Script([block(RIGHT), block(REGRESSIONS[invariant])])
    done = run("critic", forward, Script([FAIL]), iterations=1)
    assert fates(done) == [Fate.best, Fate.discarded]
    assert invariant in rejected_by(done, 1)
    assert (done.result.source, done.result.accepted) == (f"{RIGHT}\n", True)


def test_a_slower_update_is_rejected_by_the_declared_bound() -> None:
    fast = "def biggest(a):\n    return max(a)"
    growth = Growth("([0] * n + [1],)", (20, 40, 80), 1.4)
    task = RefineTask(
        task_id="biggest",
        kind=Kind.function,
        statement="Give the biggest.",
        entry_point="biggest",
        examples=(Example("(([1, 3, 2],), {})", "3"),),
        invariants=(Invariant("linear", predicate="answer == 1", growth=growth),),
    )
    slow = "def biggest(a):\n    return [x for x in a if [y for y in a if y > x] == []][0]"
    forward = Script([block(fast), block(slow)])
    done = run("critic", forward, Script([FAIL]), task=task, iterations=1)
    assert fates(done) == [Fate.best, Fate.discarded]
    assert rejected_by(done, 1) == ["declared:linear"]


def test_why_an_update_was_rejected_is_an_edit_of_the_next() -> None:
    forward = Script([block(RIGHT), block(OTHER_WRONG), block("def double(x):\n    return x + x")])
    done = run("critic", forward, Script([FAIL]))
    assert fates(done) == [Fate.best, Fate.discarded, Fate.best]
    assert "examples" not in {edit.location for edit in done.steps[1].edits}
    assert done.steps[2].edits[-1].location == "examples"
    assert done.steps[2].edits[-1].action in forward.prompts[2]


def test_without_an_accepted_one_work_goes_on_from_the_last() -> None:
    forward = Script([block(WRONG), block(OTHER_WRONG), block(RIGHT)])
    done = run("critic", forward, Script([FAIL]))
    assert fates(done) == [Fate.current, Fate.current, Fate.best]
    assert "return x + 1" in forward.prompts[2]


def test_in_paper_mode_a_failing_update_is_discarded_and_not_spoken_of() -> None:
    forward = Script([block(WRONG), block(OTHER_WRONG), block(RIGHT)])
    done = run("critic", forward, Script([FAIL]), mode="paper")
    assert fates(done) == [Fate.current, Fate.discarded, Fate.best]
    assert "return x + 1" not in forward.prompts[2]
    assert [edit.location for edit in done.steps[2].edits] == ["the return"]


def test_in_paper_mode_the_critic_alone_ends_it() -> None:
    forward = Script([block(WRONG)])
    done = run("critic", forward, Script([ALL_PASS]), mode="paper")
    assert (done.result.stop, done.result.accepted) == (Stop.all_pass, False)
    assert len(forward.requests) == 1


@pytest.mark.parametrize("proof", ["", "Proof (examples): it is so.\nProof (signature): read it."])
def test_another_proof_text_changes_no_decision(proof: str) -> None:
    told = [block(WRONG), block(OTHER_WRONG, proof), block(RIGHT, proof)]
    done = run("critic", Script(told), Script([FAIL]))
    assert fates(done) == [Fate.current, Fate.current, Fate.best]
    assert (done.result.stop, done.result.source) == (Stop.iterations, f"{RIGHT}\n")
    candidate = done.steps[2].candidate
    assert candidate is not None and len(candidate.proofs) == (2 if proof else 0)


def test_what_was_written_before_ends_it() -> None:
    done = run("critic", Script([block(WRONG)]), Script([FAIL]))
    assert (done.result.stop, done.result.num_updates) == (Stop.no_change, 1)


def test_what_was_written_long_before_ends_it_too() -> None:
    forward = Script([block(WRONG), block(OTHER_WRONG), block(WRONG), block(RIGHT)])
    done = run("critic", forward, Script([FAIL]), iterations=3)
    assert (done.result.stop, len(forward.requests)) == (Stop.no_change, 3)


def test_all_arms_begin_at_the_same_candidate_and_ask_with_the_same_seeds() -> None:
    firsts, seeds = set(), []
    for arm in WAYS:
        forward, critic = Script([block(WRONG), block(OTHER_WRONG)]), Script([FAIL])
        run(arm, forward, critic, budget=100)
        firsts.add((forward.requests[0].prompt, forward.requests[0].seed))
        if WAYS[arm].critic == "configured":
            seeds.append([request.seed for request in forward.requests])
            reviews = [r.seed for r in critic.requests if r.message == Message("{}")]
            seeds[-1] += reviews
    assert len(firsts) == 1
    shortest = min(map(len, seeds))
    assert shortest >= 2
    assert all(one[0] == seeds[0][0] for one in seeds)


def test_in_paper_mode_a_gate_without_a_critic_edits_what_is_there() -> None:
    both = "import socket\n\n\ndef double(x):\n    return 2 * x"
    forward = Script([block(WRONG), block(both), block(RIGHT)])
    done = run("gate_no_critic", forward, mode="paper")
    assert [[edit.location for edit in step.edits] for step in done.steps[1:]] == [["examples"]] * 2


def test_without_a_gate_the_last_is_the_answer_though_it_was_written_before() -> None:
    forward = Script([block(WRONG), block(RIGHT), block(WRONG)])
    done = run("critic_no_gate", forward, Script([FAIL]), iterations=4)
    assert (done.result.stop, done.result.source) == (Stop.no_change, f"{WRONG}\n")


def test_a_program_that_reviews_passes_no_empty_reply() -> None:
    forward = Script([UNUSABLE["empty"], block(RIGHT)])
    done = run("critic_no_gate", forward, iterations=1)
    assert (done.result.num_updates, done.result.source) == (1, f"{RIGHT}\n")


def test_a_program_that_reviews_without_a_gate_is_told_nothing_of_it() -> None:
    done = run("critic_no_gate", Script([block(WRONG), block(RIGHT)]))
    assert not any("not 6" in edit.action for step in done.steps for edit in step.edits)
    done = run("critic", Script([block(WRONG), block(RIGHT)]))
    assert any("not 6" in edit.action for step in done.steps for edit in step.edits)


def test_without_edits_and_failures_there_is_no_gradient() -> None:
    done = run("critic", Script([block(RIGHT)]), Script(["I like it."]))
    assert (done.result.stop, done.result.accepted) == (Stop.no_gradient, True)


def test_an_unreadable_review_leaves_what_the_gate_found() -> None:
    forward = Script([block(WRONG), block(RIGHT)])
    done = run("critic", forward, Script(["I do not like it."]))
    assert [edit.location for edit in done.steps[1].edits] == ["examples"]
    assert done.result.accepted


def test_forward_alone_asks_once_and_no_gate() -> None:
    forward = Script([block(WRONG), block(RIGHT)])
    done = run("forward", forward)
    assert (done.result.stop, len(forward.requests)) == (Stop.one_try, 1)
    assert done.steps[0].report is None and not done.result.accepted


@pytest.mark.parametrize("mode", ["best", "paper"])
def test_a_gate_without_a_critic_asks_for_its_own_edits(mode: str) -> None:
    forward = Script([block(WRONG), block(RIGHT)])
    done = run("gate_no_critic", forward, mode=mode)
    assert (done.result.stop, done.result.num_updates) == (Stop.gate_passed, 1)
    assert [edit.location for edit in done.steps[1].edits] == ["examples"]


def test_without_a_gate_the_last_is_the_answer_and_the_critic_is_told_of_none() -> None:
    forward, critic = Script([block(RIGHT), block(WRONG)]), Script([FAIL, ALL_PASS])
    done = run("critic_no_gate", forward, critic)
    assert (done.result.stop, done.result.source) == (Stop.all_pass, f"{WRONG}\n")
    assert not any("What a machine found" in prompt for prompt in critic.prompts)
    assert all(step.report is None for step in done.steps)


def test_drawing_again_with_the_gate_ends_with_what_passes() -> None:
    forward = Script([block(WRONG), block(OTHER_WRONG), block(RIGHT)])
    done = run("resample", forward, budget=10_000)
    assert (done.result.stop, done.result.source) == (Stop.gate_passed, f"{RIGHT}\n")
    assert len(set(forward.prompts)) == 1
    assert len({request.seed for request in forward.requests}) == 3


def test_drawing_again_ends_with_its_tokens() -> None:
    forward = Script([block(WRONG)])
    one = run("forward", Script([block(WRONG)])).result.used[Role.forward].total
    done = run("resample", forward, budget=3 * one + 1)
    assert (done.result.stop, done.result.used[Role.forward].num_calls) == (Stop.tokens, 4)


def test_a_budget_ends_a_refinement_before_another_update() -> None:
    forward = Script([block(WRONG), block(RIGHT)])
    done = run("critic", forward, Script([FAIL]), budget=120)
    assert (done.result.stop, len(forward.requests)) == (Stop.tokens, 1)


def test_a_critic_with_code_sees_what_its_calls_gave() -> None:
    forward = Script([block(WRONG), block(RIGHT)])
    critic = Script(["double(21)\nimport os\ndouble(open('x'))\n", FAIL])
    done = run("critic_code", forward, critic, iterations=1)
    assert [(probe.call, probe.result) for probe in done.steps[1].probes] == [("double(21)", "21")]
    assert "double(21) -> 21" in critic.prompts[1]
    assert critic.requests[0].message == Message() and critic.requests[1].message == Message("{}")
    assert set(done.result.used) == set(Role)


UNUSABLE: dict[str, Completion] = {
    "empty": Completion("", FinishReason.STOP, 1, None),
    "refused": Completion("I can't.", FinishReason.CONTENT_FILTER, 3, None),
    "cut": Completion("```python\ndef double(x):\n    return", FinishReason.LENGTH, 9, None),
    "no_code": Completion("Sure! Doubling is easy.", FinishReason.STOP, 5, None),
}


@pytest.mark.parametrize("reason", UNUSABLE)
def test_a_reply_without_a_program_is_written_down_and_tried_again(reason: str) -> None:
    forward = Script([UNUSABLE[reason], block(RIGHT)])
    done = run("critic", forward, Script([FAIL]), iterations=1)
    first = done.steps[0].candidate
    assert first is not None and (first.source, first.no_source) == (None, reason)
    assert rejected_by(done, 0) == ["parses"]
    assert done.steps[0].calls[Role.forward].finish_reason == UNUSABLE[reason].finish_reason
    assert done.result.accepted


@pytest.mark.parametrize("reason", UNUSABLE)
def test_an_update_without_a_program_loses_nothing(reason: str) -> None:
    done = run("critic", Script([block(RIGHT), UNUSABLE[reason]]), Script([FAIL]), iterations=1)
    assert (done.result.source, done.result.accepted) == (f"{RIGHT}\n", True)


LINES = "correctness: pass\nformat: pass\nefficiency: pass\ncompleteness: pass"


@pytest.mark.parametrize("cut", [json.dumps({})[:1], FAIL[:40], ALL_PASS[:-40], LINES])
def test_a_review_that_is_cut_is_no_pass(cut: str) -> None:
    critic = Script([Completion(cut, FinishReason.LENGTH, 9, None)])
    done = run("critic", Script([block(RIGHT)]), critic, iterations=1)
    assert done.result.stop is not Stop.all_pass
    assert done.result.accepted


def test_a_review_in_lines_that_is_whole_is_a_pass() -> None:
    done = run("critic", Script([block(RIGHT)]), Script([LINES]), iterations=1)
    assert done.result.stop is Stop.all_pass


def test_a_reply_without_a_program_is_no_edit_of_the_next() -> None:
    forward = Script([block(WRONG), UNUSABLE["empty"], block(RIGHT)])
    done = run("critic", forward, Script(["I do not like it."]))
    assert [edit.location for edit in done.steps[2].edits] == ["examples"]
    assert "holds no program" not in forward.prompts[2]


@pytest.mark.parametrize("arm", WAYS)
def test_progress_comes_to_one_a_task(arm: Arm) -> None:
    told: list[float] = []
    forward, critic = Script([block(WRONG), block(OTHER_WRONG), block(RIGHT)]), Script([FAIL])
    run(arm, forward, critic, budget=100, told=told)
    assert sum(told) == pytest.approx(1)
    assert all(part >= 0 for part in told)


def test_a_prompt_without_room_ends_it() -> None:
    too_long = Completion("", FinishReason.PROMPT_TOO_LONG, 0, 0.0)
    done = run("critic", Script([block(WRONG), too_long]), Script([FAIL]))
    assert (done.result.stop, done.result.used[Role.forward].num_calls) == (Stop.too_long, 1)
    # It was never sent, so there is no second candidate.
    assert done.result.num_updates == 0


def test_tokens_of_all_roles_are_counted_by_one_tokenizer() -> None:
    forward, critic = Script([block(WRONG), block(RIGHT)]), Script([FAIL])
    done = run("critic", forward, critic, iterations=1)
    for role, script in ((Role.forward, forward), (Role.critic, critic)):
        assert done.result.used[role].prompt == sum(len(p.split()) for p in script.prompts)
    replies: Sequence[str] = [block(WRONG), block(RIGHT)]
    assert done.result.used[Role.forward].completion == sum(len(r.split()) for r in replies)
