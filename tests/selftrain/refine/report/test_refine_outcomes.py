"""What arms solve, gain, lose and cost: right numbers worked out by hand."""

import pytest
from refine.report.made import results, task

from selftrain.config.refine import Arm
from selftrain.refine.report.outcomes import Against, ArmOutcome, Gated, measure_arms
from selftrain.refine.report.reading import Ended
from selftrain.refine.report.strata import arm_strata
from selftrain.refine.trace import Result, Role, Stop, Used


def ended(some: list[Result]) -> dict[Arm, list[Ended]]:
    found: dict[Arm, list[Ended]] = {}
    for one in some:
        assert one.solved is not None
        slim = Ended(
            one.task_id, one.solved, one.accepted, one.outcome, one.stop, one.num_updates, one.used
        )
        found.setdefault(one.arm, []).append(slim)  # type: ignore[call-overload]
    return found


def measured(solved: dict[str, str]) -> dict[str, ArmOutcome]:
    return {one.arm: one for one in measure_arms(ended(results(solved)))}


def test_gained_and_lost_are_tasks_that_one_arm_alone_solves() -> None:
    found = measured({"forward": "++--", "critic": "-+++"})
    # 2 * (C(3,0) + C(3,1)) / 2^3 = 1.
    assert found["critic"].against == {"forward": Against(2, 1, 1.0, 1.0)}


def test_p_is_mcnemars_exact_and_holm_corrects_over_all_arms() -> None:
    solved = {
        "forward": "-" * 8,
        "critic": "+" * 8,
        "self_critic": "+" * 6 + "--",
        "gate_no_critic": "-" * 8,
    }
    found = measured(solved)
    # Exact: 2 / 2^8, 2 / 2^6 and 1; Holm: times 3, times 2, times 1.
    assert {arm: one.against.get("forward") for arm, one in found.items()} == {
        "forward": None,
        "critic": Against(8, 0, pytest.approx(1 / 128), pytest.approx(3 / 128)),  # type: ignore[arg-type]
        "self_critic": Against(6, 0, pytest.approx(1 / 32), pytest.approx(2 / 32)),  # type: ignore[arg-type]
        "gate_no_critic": Against(0, 0, 1.0, 1.0),
    }


def test_forward_is_not_compared_with_resampling_a_second_time() -> None:
    found = measured({"forward": "-", "critic": "+", "resample": "+", "resample_no_gate": "-"})
    assert {arm: list(one.against) for arm, one in found.items()} == {
        "forward": [],
        "critic": ["forward", "resample"],
        "resample": ["forward"],
        "resample_no_gate": ["forward", "resample"],
    }


def test_the_interval_is_wilsons() -> None:
    # z = 1.959964: (p + z2/2n -+ z sqrt(p(1-p)/n + z2/4n2)) / (1 + z2/n), with p = 0.3, n = 10.
    one = measured({"forward": "+++-------"})["forward"]
    assert (one.low, one.high) == (
        pytest.approx(0.10779, abs=1e-5),
        pytest.approx(0.60322, abs=1e-5),
    )


def test_the_gate_is_wrong_where_hidden_tests_say_otherwise() -> None:
    accepted = results({"critic": "++-"}, accepted=True)
    rejected = results({"critic": "..."}, accepted=False)[:2]
    found = measure_arms(ended([*accepted, *rejected, *results({"critic": "+"})]))
    # Accepted: three, one of which fails. Rejected: three, one of which passes.
    assert found[0].gated == Gated(3, 1, 1)


def test_an_arm_without_a_gate_accepts_nothing_and_rejects_nothing() -> None:
    assert measured({"critic_no_gate": "+"})["critic_no_gate"].gated is None


def test_tokens_are_those_of_all_roles_a_task_and_a_task_solved() -> None:
    used = {
        Role.forward: Used(100, 20, 2),
        Role.critic: Used(50, 10, 1),
        Role.probes: Used(15, 5, 1),
    }
    some = results({"critic_code": "+---"}, used=used, num_updates=1, stop=Stop.iterations)
    (found,) = measure_arms(ended(some))
    assert found.used[Role.forward] == Used(400, 80, 8)
    assert (found.num_tokens, found.tokens_per_task, found.tokens_per_solved) == (800, 200, 800)
    assert (found.stops, found.updates) == ({Stop.iterations: 4}, {1: 4})


def test_nothing_solved_has_no_tokens_a_solved_task() -> None:
    assert measured({"forward": "--"})["forward"].tokens_per_solved is None


def test_strata_have_numerators_and_denominators_an_arm_and_unlabelled_tasks_come_last() -> None:
    labels = ["hard", "", "easy", "", "medium"] + ["easy"] * 9
    tasks = [task(f"t{i}", difficulty=label) for i, label in enumerate(labels)]
    solved = {"forward": "+----" "+--------", "critic": "-++--" "+++------"}  # fmt: skip
    found = arm_strata(tasks, ended(results(solved)), "difficulty")
    assert [(one.label, one.num_tasks, one.num_solved) for one in found] == [
        ("easy", 10, {"forward": 1, "critic": 4}),
        ("medium †", 1, {"forward": 0, "critic": 0}),
        ("hard †", 1, {"forward": 1, "critic": 0}),
        ("(unlabelled) †", 2, {"forward": 0, "critic": 1}),
    ]
