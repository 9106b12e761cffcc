"""No reference solution reaches a prompt or an example; the few-shot examples alone are shown."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from scripted import ScriptedSampler, few_held_out, few_train, write_puzzles

from puzzles import Puzzle
from selftrain import models
from selftrain.config_file import load_config
from selftrain.files import read_rows
from selftrain.run import run
from selftrain.run_directory import RunDirectory

SETTINGS = (
    "rounds=1",
    "puzzles.num_dev=2",
    "propose.num_proposals=20",
    "propose.shard_size=10",
    "solve.num_attempts=2",
    "solve.num_few_shot=2",
    "judge.num_workers=1",
    "evaluate.num_samples=2",
    "evaluate.k=[1, 2]",
    "finetune.block_tokens=128",
    "model.device=cpu",
)


def marked(puzzle: Puzzle) -> Puzzle:
    """Write a mark of the puzzle's own into every line of its reference solutions."""
    mark = mark_of(puzzle)
    solutions = []
    for source in puzzle.solutions:
        head, *body = source.split("\n")
        lines = [head, f"    {mark} = 0", *(f"{line}  # {mark}" for line in body)]
        solutions.append("\n".join(lines))
    return replace(puzzle, solutions=tuple(solutions))


def mark_of(puzzle: Puzzle) -> str:
    return f"reference_{puzzle.id}"


@dataclass
class Ran:
    """What a run with marked reference solutions asked for and trained on."""

    requests: list[str]
    """Every prompt."""
    examples: list[str]
    """Every text that was trained on."""
    marks: set[str]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Ran:
    """Run a round; what the script solves with is not marked."""
    folder = tmp_path_factory.mktemp("leak")
    train, held_out = map(marked, few_train()[::2]), map(marked, few_held_out())
    puzzles = [list(train), list(held_out)]
    settings = [
        f"puzzles.train={write_puzzles(folder / 'train.jsonl', puzzles[0])}",
        f"puzzles.held_out={write_puzzles(folder / 'held_out.jsonl', puzzles[1])}",
        f"model.name={tiny_model}",
    ]
    sampler = ScriptedSampler()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "load_sampler", lambda *_: sampler)
        assert run(load_config(None, [*SETTINGS, *settings]), folder / "run") == 0
    directory = RunDirectory(folder / "run")
    rows = list(read_rows(directory.round(1).examples))
    return Ran(
        [request.prompt for request in sampler.requests],
        [row["prompt"] + row["completion"] for row in rows],
        {mark_of(puzzle) for split in puzzles for puzzle in split if puzzle.solutions},
    )


def found(marks: Iterable[str], texts: Iterable[str]) -> set[str]:
    """Give the marks that stand in one of the texts."""
    whole = "\n".join(texts)
    return {mark for mark in marks if mark in whole}


def test_no_example_has_a_line_of_a_reference_solution(ran: Ran) -> None:
    assert len(ran.examples) > 3
    assert found(ran.marks, ran.examples) == set()


def test_a_prompt_to_propose_has_no_line_of_a_reference_solution(ran: Ran) -> None:
    proposing = [prompt for prompt in ran.requests if prompt.endswith("(")]
    assert len(proposing) == 20
    assert found(ran.marks, proposing) == set()


def test_a_prompt_to_solve_has_only_the_few_shot_examples(ran: Ran) -> None:
    solving = [prompt for prompt in ran.requests if prompt.endswith(":")]
    assert len(solving) > 20
    shown = [found(ran.marks, [prompt]) for prompt in solving]
    assert len(shown[0]) == 2
    assert all(marks == shown[0] for marks in shown)
    assert len(ran.marks) > 10
