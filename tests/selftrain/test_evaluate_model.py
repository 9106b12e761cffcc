"""`selftrain evaluate`: what prompts show, what the tasks decide, and what the table says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from scripted import ScriptedSampler, few_held_out, few_train, write_puzzles

from puzzles import Puzzle
from selftrain import evaluate_model as module
from selftrain.config import Config
from selftrain.config_file import load_config
from selftrain.dev import split_dev
from selftrain.errors import RunError
from selftrain.evaluate_model import evaluate_model, fit_to_tasks
from selftrain.files import read_rows, write_rows
from selftrain.held_out import draw_measured
from selftrain.humaneval import with_room
from selftrain.prompts import few_shot_puzzles
from selftrain.sampling import Completion, FinishReason, Request

SMALL = (
    "evaluate.num_samples=2",
    "evaluate.k=[1, 2]",
    "evaluate.shard_size=3",
    "judge.num_workers=1",
)


class Endings(ScriptedSampler):
    """Ends one sample of each puzzle by length, and draws nothing for the other."""

    def _complete(self, request: Request, temperature: float) -> Completion:
        number = len(self.requests) % 2
        if not temperature:
            return Completion("\n    return 0\n", FinishReason.STOP, 5, -1.0)
        if number:
            return Completion("    return (", FinishReason.LENGTH, 150, -1.0)
        return Completion("", FinishReason.PROMPT_TOO_LONG, 0, 0.0)


@pytest.fixture
def sampler(monkeypatch: pytest.MonkeyPatch) -> ScriptedSampler:
    return used(monkeypatch, ScriptedSampler(wrong_share=0.5))


def used(monkeypatch: pytest.MonkeyPatch, sampler: ScriptedSampler) -> ScriptedSampler:
    monkeypatch.setattr(module, "load_sampler", lambda _: sampler)
    return sampler


def config(tmp_path: Path, *more: str) -> Config:
    train = write_puzzles(tmp_path / "train.jsonl", few_train())
    held_out = write_puzzles(tmp_path / "held_out.jsonl", few_held_out())
    files = (f"puzzles.train={train}", f"puzzles.held_out={held_out}")
    return load_config(None, [*SMALL, *files, *more])


def shown_in(prompt: str, puzzles: list[Puzzle]) -> set[str]:
    """Name the puzzles whose reference solutions stand in a prompt."""
    bodies = {p.name: p.solutions[0].partition("\n")[2] for p in puzzles}
    return {name for name, body in bodies.items() if body in prompt}


def test_dev_puzzles_are_not_shown(tmp_path: Path, sampler: ScriptedSampler) -> None:
    train = few_train()
    seed = next(
        seed
        for seed in range(100)
        if set(few_shot_puzzles(train, 3)) & set(split_dev(train, 5, seed)[1])
    )
    asked = config(tmp_path, f"seed={seed}", "puzzles.num_dev=5", "solve.num_few_shot=3")
    evaluate_model(asked, "builtin:tiny", None, None)
    rest, _ = split_dev(train, 5, seed)
    wanted = {puzzle.name for puzzle in few_shot_puzzles(rest, 3)}
    assert {frozenset(shown_in(r.prompt, train)) for r in sampler.requests} == {frozenset(wanted)}


def test_where_p3_is_measured_prompts_show_its_train_puzzles_unless_others_are_set() -> None:
    for tasks in ("p3", "p3-all", "p3:folder", "p3-all:folder"):
        assert fit_to_tasks(load_config(None), "m", tasks).puzzles.train == tasks
    asked = load_config(None, ["puzzles.train=builtin"])
    assert fit_to_tasks(asked, "m", "p3").puzzles.train == "builtin"
    assert fit_to_tasks(load_config(None), "m", "own.jsonl").puzzles.train == "builtin"


def test_p3_is_measured_without_a_setting_and_what_fails_is_named(
    p3_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The tutorials to show, and of the held-out split three problems, of which one's fails."""
    split = json.loads((p3_folder / "split.json").read_text())
    test = ["ExponentialCoinMoves", *split["test"][2:4]]
    some = {"train": [f"Tutorial{n}" for n in range(1, 6)], "test": test}
    (tmp_path / "split.json").write_text(json.dumps(some))
    rows = json.loads((p3_folder / "puzzles.json").read_text())
    kept = [row for row in rows if row["name"].split(":")[0] in {*some["train"], *test}]
    (tmp_path / "puzzles.json").write_text(json.dumps(kept))
    used(monkeypatch, Endings())
    asked = load_config(None, [*SMALL, "evaluate.k=[1]"])
    evaluate_model(asked, "builtin:tiny", f"p3:{tmp_path}", None)
    out, err = capsys.readouterr()
    head = f"on 3 puzzles of p3:{tmp_path}, n = 2, after 5 solved train puzzles of p3:{tmp_path}\n"
    assert head in out
    assert "1 of 3 reference solutions fail the judge" in out
    assert "left out: 'ExponentialCoinMoves:0': solution 1: too_large" in err


def test_a_shown_puzzles_failing_reference_gives_way_to_the_next(
    tmp_path: Path, sampler: ScriptedSampler, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = config(tmp_path, "solve.num_few_shot=2")
    first, *others = few_train()
    wrong = replace(first, solutions=(first.solutions[0].partition("\n")[0] + "\n    return 0.5",))
    write_puzzles(tmp_path / "train.jsonl", [wrong, *others])
    evaluate_model(asked, "builtin:tiny", None, None)
    wanted = {puzzle.name for puzzle in few_shot_puzzles(others, 2)}
    assert {frozenset(shown_in(r.prompt, others)) for r in sampler.requests} == {frozenset(wanted)}
    err = capsys.readouterr().err
    assert err.count("left out") == 1
    assert "reference solutions: 2 done" in err and "reference solutions: 1 done" in err


def test_no_score_is_given_where_no_reference_solution_passes(
    tmp_path: Path, sampler: ScriptedSampler
) -> None:
    asked = config(tmp_path, "solve.num_few_shot=0")
    f, g = "def f(x: int):\n    return x == 5", "def g():\n    return 4"
    write_rows(tmp_path / "held_out.jsonl", [{"name": "bad", "f": f, "solutions": [g]}])
    with pytest.raises(RunError, match=r"none of the 1 reference solutions of .* passes the judge"):
        evaluate_model(asked, "builtin:tiny", None, None)
    assert sampler.requests == []


def test_samples_that_were_cut_or_not_drawn_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    used(monkeypatch, Endings())
    rows = tmp_path / "rows.jsonl"
    evaluate_model(config(tmp_path, "solve.num_few_shot=0"), "builtin:tiny", None, rows)
    out = " ".join(capsys.readouterr().out.split())
    assert "4 of 8 samples were cut at 150 new tokens (solve.max_new_tokens): a higher" in out
    assert "4 of 8 samples were not drawn, and count as wrong" in out
    assert [row["num_cut"] for row in read_rows(rows)] == [1] * 4


def test_the_table_has_a_row_a_k_that_there_is_room_for(
    tmp_path: Path, sampler: ScriptedSampler, capsys: pytest.CaptureFixture[str]
) -> None:
    sampler.wrong_share = 0.0
    many = ("evaluate.num_samples=11", f"evaluate.k={list(range(1, 12))}", "solve.num_few_shot=0")
    evaluate_model(config(tmp_path, *many), "builtin:tiny", None, None)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:7] == [
        "                      % [95%]",
        "Pass@1   100.0 [100.0, 100.0]",
        "Pass@10  100.0 [100.0, 100.0]",
        "Pass@11  100.0 [100.0, 100.0]",
        "greedy   100.0 [100.0, 100.0]",
    ]


@pytest.mark.parametrize(
    ("settings", "context_tokens", "longest"),
    [
        ([], 2048, 512),
        ([], 100_000, 512),
        ([], 1024, 256),
        ([], 512, 150),
        (["solve.max_new_tokens=150"], 2048, 150),
        (["solve.max_new_tokens=900"], 2048, 900),
    ],
)
def test_functions_have_512_tokens_unless_the_setting_or_the_context_says_otherwise(
    settings: list[str], context_tokens: int, longest: int
) -> None:
    assert with_room(load_config(None, settings), context_tokens).solve.max_new_tokens == longest


def test_a_sample_of_the_tasks_is_measured_and_said_to_be_one(
    tmp_path: Path, sampler: ScriptedSampler, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "rows.jsonl"
    asked = config(tmp_path, "puzzles.num_held_out=2", "solve.num_few_shot=0")
    evaluate_model(asked, "builtin:tiny", None, output)
    drawn = [puzzle.name for puzzle in draw_measured(few_held_out(), asked)]
    assert [row["name"] for row in read_rows(output)] == drawn
    assert "builtin:tiny on 2 of 4 puzzles of " in capsys.readouterr().out
