"""Refinement in the rounds of a run: what it adds, what it may not touch, and killed anywhere."""

import json
from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from killing import run_program
from refine.killed_in_rounds import POINTS, Revising
from refine_script import read_asked
from scripted import few_held_out, few_train, scripted_run, write_puzzles

from puzzles import puzzle_from_source
from selftrain import models
from selftrain.cli import main
from selftrain.config import Config, CurateConfig, ModelConfig
from selftrain.config_file import load_config
from selftrain.curate import curate
from selftrain.experiment import Experiment
from selftrain.files import Row, read_json, read_rows
from selftrain.judge import NOT_JUDGED, Judged, is_attempt
from selftrain.plan.show import show_plan
from selftrain.progress import Progress
from selftrain.refine.gains import count_gains
from selftrain.refine.in_rounds import (
    RETRIED,
    Unsolved,
    further_candidate,
    in_one_definition,
    joined,
    unsolved_of,
)
from selftrain.refine.trace import Refined, Result, Stop
from selftrain.run import run
from selftrain.run_directory import RoundDirectory, RunDirectory
from selftrain.sampling import Completion, FinishReason, Request
from selftrain.solve import Candidate
from selftrain.verifier.rounds.in_rounds import whole_tasks
from selftrain.verifier.tasks.tried_puzzles import named_of_run

ATTEMPTS = 3
TOKENS = 2500
SMALL = (
    "rounds=1",
    "propose.num_proposals=32",
    "propose.shard_size=16",
    f"solve.num_attempts={ATTEMPTS}",
    "solve.num_few_shot=0",
    "judge.num_workers=1",
    "evaluate.num_samples=2",
    "evaluate.k=[1]",
    "finetune.block_tokens=128",
    "finetune.learning_rate=1e-2",
    "diversity.embeddings=false",
    "model.device=cpu",
    "model.batch_size=4",
    "refine.wording=continue",
    f"refine.tokens={TOKENS}",
)
PUZZLE = puzzle_from_source("def f(x: int, a=7):\n    return x == 2 * a", name="001-000000")


@dataclass(frozen=True)
class Killed:
    """What became of a run that was killed again and again, and of one that was not."""

    result: dict[str, Any]
    undisturbed: RunDirectory
    num_asked: int
    """Distinct questions that models were asked in both."""
    num_again: int
    """How often a model was asked for what it had answered."""


def settings(folder: Path, model: Path) -> list[str]:
    # Without reference solutions, which each of many starts would judge.
    train = [replace(puzzle, solutions=()) for puzzle in few_train()]
    held_out = [replace(puzzle, solutions=()) for puzzle in few_held_out()]
    return [
        *SMALL,
        f"puzzles.train={write_puzzles(folder / 'train.jsonl', train)}",
        f"puzzles.held_out={write_puzzles(folder / 'held_out.jsonl', held_out)}",
        f"model.name={model}",
    ]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Killed:
    root = tmp_path_factory.mktemp("killed")
    program = Path(__file__).with_name("killed_in_rounds.py")
    result = run_program(program, root, *settings(root, tiny_model), "refine.enabled=true")
    asked, num_again = read_asked(root / "answers.jsonl")
    undisturbed = RunDirectory(root / "undisturbed")
    return Killed(result, undisturbed, len(asked), num_again)


@pytest.fixture(scope="module")
def here(killed: Killed) -> RoundDirectory:
    """Give a round that refined, to be looked at only."""
    return killed.undisturbed.round(1)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> RoundDirectory:
    """Give the same round of a run that refines nothing."""
    folder = tmp_path_factory.mktemp("plain")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scripted.ScriptedSampler", Revising)
        scripted_run(folder, tiny_model, settings(folder, tiny_model))
    return RunDirectory(folder / "run").round(1)


def by_puzzle(here: RoundDirectory) -> dict[str, list[Row]]:
    rows = read_rows(here.candidates)
    return {name: list(group) for name, group in groupby(rows, lambda row: row["puzzle_id"])}


def further(here: RoundDirectory) -> list[Row]:
    return [row for row in read_rows(here.candidates) if not is_attempt(row)]


def experiment_of(config: Config, run: RunDirectory | None = None) -> Experiment:
    def load(_: object) -> Any:
        raise AssertionError("no model is loaded here")

    return Experiment(config, run or RunDirectory(Path()), [], [], Progress(), load, load)


def test_killed_in_every_part_of_it_a_run_ends_with_the_same_bytes(killed: Killed) -> None:
    assert killed.result["killed_at"] == list(POINTS)
    assert (killed.result["again"], killed.result["differing"]) == (0, [])
    assert {"round-001/3-refined.jsonl", "round-001/3-candidates.jsonl"} <= set(
        killed.result["files"]
    )


def test_no_answer_is_asked_for_again_after_a_kill(killed: Killed) -> None:
    assert killed.num_again == 0
    assert killed.num_asked > 50


def test_the_puzzles_that_no_attempt_solved_go_one_of_both_ways(here: RoundDirectory) -> None:
    unsolved = [
        puzzle_id
        for puzzle_id, rows in by_puzzle(here).items()
        if not any(row["passed"] for row in rows if is_attempt(row))
    ]
    rows = list(read_rows(here.refined))
    assert [row["puzzle_id"] for row in rows] == unsolved
    assert {row["result"]["arm"] for row in rows} == {"self_critic", "resample"}


def test_a_refinement_begins_with_the_first_attempt_that_holds_a_g(here: RoundDirectory) -> None:
    candidates = by_puzzle(here)
    without = 0
    for row in read_rows(here.refined):
        gs = [one["g"] for one in candidates[row["puzzle_id"]] if is_attempt(one)]
        begun = row["steps"][0]
        assert begun["candidate"]["source"] == next((g for g in gs if g is not None), None)
        assert begun["calls"] == {}
        without += gs[0] is None
    assert without > 0


def test_a_way_ends_with_what_the_gate_accepts_though_the_critic_may_want_more(
    here: RoundDirectory,
) -> None:
    for row in read_rows(here.refined):
        fates = [step["fate"] for step in row["steps"]]
        assert "best" not in fates[:-1]
        assert (fates[-1] == "best") is row["result"]["accepted"]
        assert (row["result"]["stop"] == "gate_passed") is row["result"]["accepted"]


def test_what_the_gate_accepts_is_a_further_candidate_behind_the_attempts(
    here: RoundDirectory,
) -> None:
    accepted = [r["puzzle_id"] for r in read_rows(here.refined) if r["result"]["accepted"]]
    assert [row["puzzle_id"] for row in further(here)] == accepted
    assert len(accepted) > 3
    for rows in by_puzzle(here).values():
        assert [row["index"] for row in rows] == list(range(len(rows)))
        assert len(rows) == ATTEMPTS + sum(not is_attempt(row) for row in rows)


def test_a_further_candidate_is_written_as_its_model_replied(here: RoundDirectory) -> None:
    replies = {
        (row["puzzle_id"], call["reply"])
        for row in read_rows(here.refined)
        for step in row["steps"]
        for call in step["calls"].values()
    }
    for row in further(here):
        assert (row["puzzle_id"], row["text"]) in replies
        assert row["num_tokens"] > 0


def test_its_pairs_are_trained_on_and_count_no_attempt_as_right(here: RoundDirectory) -> None:
    examples = [row for row in read_rows(here.examples) if row["index"] == ATTEMPTS]
    assert {(row["num_attempts"], row["num_correct"]) for row in examples} == {(ATTEMPTS, 0)}
    passed = {(row["puzzle_id"], row["g"]) for row in further(here) if row["passed"]}
    assert {(row["puzzle_id"], row["g"]) for row in examples} <= passed
    assert all(row["prompt"] + row["completion"] for row in examples)


def test_solve_rates_are_those_of_attempts(here: RoundDirectory) -> None:
    rows = {row["puzzle_id"]: row for row in read_rows(here.difficulties)}
    assert {row["num_attempts"] for row in rows.values()} == {ATTEMPTS}
    assert {rows[row["puzzle_id"]]["difficulty"] for row in further(here)} == {1.0}


def test_the_funnel_counts_attempts_alone_and_all_that_is_solved(here: RoundDirectory) -> None:
    metrics = read_json(here.metrics)
    attempts = [row for row in read_rows(here.candidates) if is_attempt(row)]
    outcomes = sum(value for key, value in metrics.items() if key.startswith("outcome/"))
    assert outcomes == len(attempts) == ATTEMPTS * metrics["funnel/non_trivial"]
    assert metrics["cost/solution_tokens"] == sum(row["num_tokens"] for row in attempts)
    solved = {row["puzzle_id"] for row in attempts if row["passed"]}
    gained = metrics["refine/refined/solved"] + metrics["refine/resampled/solved"]
    assert gained > 0
    assert metrics["funnel/solved"] == len(solved) + gained


def test_metrics_say_what_the_file_holds(here: RoundDirectory) -> None:
    metrics = read_json(here.metrics)
    for name, arm in (("refined", "self_critic"), ("resampled", "resample")):
        rows = [row for row in read_rows(here.refined) if row["result"]["arm"] == arm]
        used = [one for row in rows for one in row["result"]["used"].values()]
        tokens = sum(one["prompt"] + one["completion"] for one in used)
        solved = sum(row["result"]["solved"] for row in rows)
        got = {key: metrics[f"refine/{name}/{key}"] for key in ("puzzles", "solved", "tokens")}
        assert got == {"puzzles": len(rows), "solved": solved, "tokens": tokens}
        assert metrics[f"refine/{name}/pairs_per_1000_tokens"] == 1000 * solved / tokens
        stops = Counter(row["result"]["stop"] for row in rows)
        assert {s: metrics[f"refine/{name}/stop/{s}"] for s in stops} == dict(stops)
    critic = [row["result"]["used"].get("critic", {"prompt": 0, "completion": 0}) for row in
              read_rows(here.refined)]  # fmt: skip
    total = sum(one["prompt"] + one["completion"] for one in critic)
    assert metrics["refine/refined/critic_tokens"] == total > 0
    assert metrics["refine/resampled/critic_tokens"] == 0


def test_no_call_begins_beyond_the_tokens_of_a_puzzle(here: RoundDirectory) -> None:
    num_spent = 0
    for row in read_rows(here.refined):
        used = 0
        for step in row["steps"]:
            if "forward" in step["calls"]:
                before = used + sum(_total(c) for r, c in step["calls"].items() if r != "forward")
                assert before < TOKENS
            used += sum(map(_total, step["calls"].values()))
        num_spent += row["result"]["stop"] == "tokens"
    assert num_spent > 0


def _total(call: Row) -> int:
    return int(call["used"]["prompt"] + call["used"]["completion"])


def test_refinement_changes_no_proposal_and_no_attempt(
    here: RoundDirectory, plain: RoundDirectory
) -> None:
    assert here.proposals.read_bytes() == plain.proposals.read_bytes()
    assert here.difficulties.read_bytes() == plain.difficulties.read_bytes()
    attempts = [row for row in read_rows(here.candidates) if is_attempt(row)]
    assert attempts == list(read_rows(plain.candidates))


def test_without_it_nothing_of_it_is_written(plain: RoundDirectory) -> None:
    assert not plain.refined.exists()
    assert not [key for key in read_json(plain.metrics) if key.startswith("refine")]
    run = RunDirectory(plain.path.parent)
    assert "efinement" not in run.report_markdown.read_text()
    assert not [row for row in read_rows(run.timings) if row["stage"] == "refine"]


def test_a_verifier_learns_from_attempts_alone(here: RoundDirectory) -> None:
    run = RunDirectory(here.path.parent)
    tasks = whole_tasks(experiment_of(load_config(run.config), run), here, 1000)
    gained = {row["puzzle_id"] for row in further(here)}
    labels = {
        one.label for task in tasks if task.task_id in gained for one in task.candidates
    }  # fmt: skip
    assert gained <= {task.task_id for task in tasks}
    assert labels == {False}


def test_tasks_of_a_run_hold_attempts_alone(here: RoundDirectory) -> None:
    named = named_of_run(here.path.parent, held_out=False)
    assert {len(rows) for _, _, rows in named} == {ATTEMPTS}


def test_why_tells_of_the_refinement(
    here: RoundDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    example = next(
        row
        for row in read_rows(here.examples)
        if row["index"] == ATTEMPTS
        and any(
            r["puzzle_id"] == row["puzzle_id"] and r["result"]["arm"] == "self_critic"
            for r in read_rows(here.refined)
        )
    )
    assert main(["why", str(here.path.parent), f"{example['name']}/{ATTEMPTS}"]) == 0
    said = capsys.readouterr().out
    assert f"0 of {ATTEMPTS} attempts passed, then self_critic solved it, 1 trained on" in said
    assert "After all attempts had failed: self_critic" in said
    assert "edit of iteration 1: the return: return twice x" in said
    assert f"1.00 [0.44, 1.00]: 0 of {ATTEMPTS} attempts right" in said


def test_the_report_has_both_ways_beside_each_other(here: RoundDirectory) -> None:
    text = RunDirectory(here.path.parent).report_markdown.read_text()
    assert "## Refinement" in text
    assert "| Round 1, refined |" in text
    assert "| Round 1, drawn again |" in text


def test_with_no_share_to_draw_again_all_are_refined_by_the_critic_named(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scripted.ScriptedSampler", Revising)
    own = ("refine.enabled=true", "refine.arms=[critic]", "refine.critic=rules")
    every = [*settings(tmp_path, tiny_model), *own, "refine.resample_share=0"]
    scripted_run(tmp_path, tiny_model, [*every, "propose.num_proposals=16"])
    done = RunDirectory(tmp_path / "run").round(1)
    rows = list(read_rows(done.refined))
    assert {row["result"]["arm"] for row in rows} == {"critic"}
    assert read_json(done.metrics)["refine/resampled/pairs_per_1000_tokens"] is None
    assert any(row["result"]["solved"] for row in rows)


@pytest.mark.parametrize("wording", ["message", "continue"])
def test_a_critic_of_its_own_reviews_and_the_solver_revises(
    wording: str, tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[int, Revising] = {}

    def load(config: ModelConfig, *_: object) -> Revising:
        return asked.setdefault(config.batch_size, Revising())

    monkeypatch.setattr(models, "load_sampler", load)
    every = [
        *settings(tmp_path, tiny_model),
        f"puzzles.train={write_puzzles(tmp_path / 'shown.jsonl', few_train())}",
        "propose.num_proposals=16",
        "solve.num_few_shot=1",
        f"solve.model={{name: {tiny_model}, batch_size: 5}}",
        f"refine.critic={{name: {tiny_model}, batch_size: 3}}",
        "refine.enabled=true",
        f"refine.wording={wording}",
        "refine.resample_share=0.3",
    ]
    assert run(load_config(None, every), tmp_path / "run") == 0
    reviews = {n: [r for r in one.requests if is_review(r)] for n, one in asked.items()}
    assert {n for n, found in reviews.items() if found} == {3}
    assert len(reviews[3]) == len(asked[3].requests)
    assert any("1. the return: return twice x" in r.prompt for r in asked[5].requests)
    done = RunDirectory(tmp_path / "run").round(1)
    solved = Counter(
        row["result"]["arm"] for row in read_rows(done.refined) if row["result"]["solved"]
    )
    assert set(solved) == {"critic", "resample"}
    for row in read_rows(done.examples):
        assert row["prompt"] + row["completion"] == f"{row['f']}\n\n{row['g']}\n\nassert f(g())"


def is_review(request: Request) -> bool:
    return request.message is not None and request.message.schema is not None


# Its parts by themselves.


def judged(index: int, g: str | None, *, passed: bool = False, outcome: str = "x") -> Judged:
    completion = Completion("text", FinishReason.STOP, 5, None)
    candidate = Candidate(PUZZLE.id, PUZZLE.f, index, completion, g, "" if g else "syntax", "")
    return Judged(candidate, "passed" if passed else outcome, passed, None, "", 0)


def refined(source: str) -> Refined:
    return Refined(Result("critic", PUZZLE.name, source, True, Stop.gate_passed, 1, {}), ())


RIGHT = "def g(a=7):\n    return 2 * a"
WRONG = "def g(a=7):\n    return a"


def test_a_puzzle_judged_until_enough_had_passed_is_not_unsolved() -> None:
    spared = judged(0, WRONG, outcome=NOT_JUDGED)
    assert unsolved_of([PUZZLE], [spared, judged(1, RIGHT, passed=True)]) == []
    (one,) = unsolved_of([PUZZLE], [judged(0, None), judged(1, WRONG)])
    assert one.first.source == WRONG


def test_without_any_g_the_first_attempt_says_why_there_is_none() -> None:
    first = Unsolved(PUZZLE, [judged(0, None), judged(1, None)]).first
    assert (first.source, first.no_source) == (None, "syntax")


@pytest.mark.parametrize(
    ("source", "g"),
    [
        (RIGHT, RIGHT),
        ("def g(a = 7) -> int:\n    return 2 * a", RIGHT),
        (
            "import math\n\n\ndef g(a=7):\n    return math.prod([2, a])\n\n\nprint(g())",
            "def g(a=7):\n    import math\n    return math.prod([2, a])",
        ),
        (
            "def g(a=7):\n    return twice(a)\n\n\ndef twice(x):\n    return 2 * x",
            "def g(a=7):\n\n    def twice(x):\n        return 2 * x\n    return twice(a)",
        ),
    ],
)
def test_an_answer_becomes_one_definition_under_the_head_of_examples(source: str, g: str) -> None:
    one = Unsolved(PUZZLE, [judged(0, WRONG), judged(1, WRONG)])
    candidate = further_candidate(one, refined(source))
    assert (candidate.g, candidate.index) == (g, 2)


def test_what_is_one_definition_keeps_every_character() -> None:
    source = "def g(a=7):\n    # twice\n    return  2*a\n\nassert f(g())"
    assert in_one_definition(source) == source
    assert in_one_definition("def g(") == "def g("


def test_further_candidates_stand_behind_the_attempts_at_their_puzzle() -> None:
    assert list(joined(["a1", "a2", "b1", "c1"], ["b9", "c8", "c9"], lambda one: one[0])) == [
        "a1",
        "a2",
        "b1",
        "b9",
        "c1",
        "c8",
        "c9",
    ]


def chosen(config: CurateConfig, candidates: list[Judged]) -> list[tuple[str, int, int]]:
    examples = curate([PUZZLE], candidates, config, 0, 1)
    return [(one.g, one.num_attempts, one.num_correct) for one in examples]


def test_unverified_pairs_are_attempts_alone() -> None:
    candidates = [judged(0, WRONG), replace(judged(1, RIGHT, passed=True), way="critic")]
    assert chosen(CurateConfig(verdicts="unverified"), candidates) == [(WRONG, 1, 0)]
    assert chosen(CurateConfig(verdicts="wrong"), candidates) == [(WRONG, 1, 0)]
    assert chosen(CurateConfig(), candidates) == [(RIGHT, 1, 0)]


def test_what_refinement_solved_is_no_puzzle_that_was_always_solved() -> None:
    candidates = [judged(0, WRONG), replace(judged(1, RIGHT, passed=True), way="critic")]
    config = CurateConfig(drop_always_solved=True)
    assert chosen(config, candidates) == [(RIGHT, 1, 0)]
    assert chosen(config, [judged(0, RIGHT, passed=True)]) == []


def test_a_row_keeps_all_that_became_of_a_puzzle(here: RoundDirectory) -> None:
    for row in read_rows(here.refined):
        assert json.loads(json.dumps(RETRIED.to_row(RETRIED.from_row(row)))) == row


def test_pairs_that_are_not_trained_on_are_not_counted_as_examples(here: RoundDirectory) -> None:
    retried = [RETRIED.from_row(row) for row in read_rows(here.refined)]
    gains = count_gains(retried, set())
    assert sum(one.num_solved for one in gains.values()) > 0
    assert [one.num_examples for one in gains.values()] == [0, 0]


def test_a_critic_of_its_own_is_loaded_only_where_rounds_refine() -> None:
    def critic(*overrides: str) -> object:
        config = load_config(None, ["refine.critic={name: other}", *overrides])
        return experiment_of(config).critic

    assert critic() is None
    assert critic("refine.enabled=true") is not None
    rules = ("refine.critic=rules", "refine.arms=[critic]")
    assert critic("refine.enabled=true", *rules) is None


def test_a_plan_says_what_refinement_may_take(
    tmp_path: Path, tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def planned(*more: str) -> str:
        every = [*settings(tmp_path, tiny_model), *more]
        assert show_plan(load_config(None, every), Path("a.yaml"), [], False) == 0
        return " ".join(capsys.readouterr().out.split())

    # 32 proposals, all of them kept and none solved.
    said = "2,500 tokens and little more of each puzzle that no attempt solves, at most 80,000 in"
    assert said in planned("refine.enabled=true")
    assert "refinement" not in planned()
