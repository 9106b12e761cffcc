"""From an example back to all that it came from, on a small run of a scripted model."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted import few_held_out, scripted_run

from puzzles import from_row
from selftrain.cli import main
from selftrain.config_file import load_config
from selftrain.files import Row, read_rows, write_json, write_rows
from selftrain.prompts import propose_prompt, solve_prompt
from selftrain.puzzle_source import read_split
from selftrain.run_directory import RunDirectory

SETTINGS = (
    "rounds=2",
    "propose.num_proposals=12",
    "propose.shard_size=12",
    "solve.num_attempts=3",
    "solve.num_few_shot=1",
    "judge.num_workers=1",
    "evaluate.num_samples=2",
    "evaluate.k=[1, 2]",
    "finetune.block_tokens=128",
    "model.device=cpu",
    "diversity.embeddings=false",
)
Ask = Callable[[str], str]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> RunDirectory:
    """Give a whole run, to be looked at only."""
    folder = tmp_path_factory.mktemp("runs")
    scripted_run(folder, tiny_model, SETTINGS)
    return RunDirectory(folder / "run")


@pytest.fixture
def ask(done: RunDirectory, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Ask why, and give what is said."""

    def asked(name: str) -> str:
        assert main(["why", str(done.path), name]) == 0
        return capsys.readouterr().out

    return asked


def example(done: RunDirectory, number: int = 1) -> Row:
    return next(row for row in read_rows(done.round(number).examples) if row["round"] == number)


def shown(text: str) -> str:
    """Give a text as the story shows it, indented."""
    return "\n".join(f"      {line}" for line in text.split("\n"))


def test_an_example_is_told_with_its_text_puzzle_completion_and_prompts(
    done: RunDirectory, ask: Ask
) -> None:
    row = example(done)
    said = ask(f"{row['name']}/{row['index']}")
    proposal = next(p for p in read_rows(done.round(1).proposals) if p["id"] == row["name"])
    train = read_split("builtin", "train")
    by_name = {puzzle.name: puzzle for puzzle in train}
    names = proposal["prompt_puzzles"]
    assert shown(row["prompt"] + row["completion"]) in said
    assert shown(proposal["text"]) in said
    assert ", ".join(names) in said
    assert shown(propose_prompt([by_name[name] for name in names])) in said
    (kept,) = [p for p in read_rows(done.round(1).puzzles) if p["id"] == row["puzzle_id"]]
    assert shown(solve_prompt(from_row(kept), train[:1])) in said


def test_all_attempts_at_the_puzzle_are_listed_with_their_verdicts(
    done: RunDirectory, ask: Ask
) -> None:
    row = example(done)
    lines = ask(row["name"]).splitlines()
    first = lines.index("Attempts") + 2
    candidates = read_rows(done.round(1).candidates)
    attempts = [one for one in candidates if one["puzzle_id"] == row["puzzle_id"]]
    assert len(attempts) == 3
    for line, attempt in zip(lines[first:], attempts, strict=False):
        cells = line.split()
        assert cells[:3] == [str(attempt["index"]), attempt["outcome"], f"{attempt['fuel']:,}"]
    (kept,) = [line for line in lines[first : first + 3] if line.split()[0] == str(row["index"])]
    assert kept.endswith("trained on in round 1, 2")


def test_the_model_that_wrote_is_the_one_the_round_began_with(done: RunDirectory, ask: Ask) -> None:
    base = f"{load_config(done.config).model.name} (model.safetensors sha256 "
    assert f"the base model {base}" in ask(example(done, 1)["name"])
    first = f"the model of round 1, {done.round(1).model}, trained from {base}"
    assert first in ask(example(done, 2)["name"])


def test_a_server_that_tells_no_log_probabilities_is_told_as_such(
    done: RunDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = RunDirectory(Path(shutil.copytree(done.path, tmp_path / "run")))
    row = example(copy)
    for path in (copy.round(1).proposals, copy.round(1).candidates):
        write_rows(path, [{**one, "sum_logprob": None} for one in read_rows(path)])
    assert main(["why", str(copy.path), f"{row['name']}/{row['index']}"]) == 0
    said = capsys.readouterr().out
    assert said.count(" tokens, sum of log-probabilities not told\n") == 2


def test_difficulty_has_its_interval(done: RunDirectory, ask: Ask) -> None:
    row = next(one for one in read_rows(done.round(1).examples) if one["num_correct"] == 1)
    assert "0.67 [0.21, 0.94]: 1 of 3 attempts right" in ask(row["name"])


def test_a_rejected_proposal_is_told_with_its_reason(done: RunDirectory, ask: Ask) -> None:
    rejected = next(row for row in read_rows(done.round(1).proposals) if row["rejection"])
    said = ask(rejected["id"])
    reason, detail = rejected["rejection"]["reason"], rejected["rejection"]["detail"]
    assert f"a proposal of round 1 that was rejected ({reason})" in said
    assert f"rejected, {reason}: {detail}" in said
    assert "The prompt" in said
    assert "Attempts" not in said


def test_a_held_out_puzzle_is_told_by_round_with_its_candidates(
    done: RunDirectory, ask: Ask
) -> None:
    puzzle = few_held_out()[0]
    said = ask(puzzle.name)
    assert shown(puzzle.f) in said
    counts = [
        f"{row['num_correct']} of 2"
        for number in range(3)
        for row in read_rows(done.round(number).evaluation)
        if row["name"] == puzzle.name
    ]
    lines = said.splitlines()
    scores = lines[lines.index("Score") + 2 :][:3]
    assert [score in line for score, line in zip(counts, scores, strict=True)] == [True] * 3
    assert "Candidates of round 2" in said
    assert "  greedy " in said
    near = next(row for row in read_rows(done.round(2).near) if row["name"] == puzzle.name)
    assert f"round 2: {near['near'] or 'nothing comes near it'}" in said


def test_a_puzzle_is_found_by_its_hash_and_by_the_beginning_of_it(
    done: RunDirectory, ask: Ask
) -> None:
    row = example(done)
    by_name = ask(row["name"])
    assert ask(row["puzzle_id"]) == by_name
    assert ask(row["puzzle_id"][:10]) == by_name
    attempt = f"/{row['index']}"
    assert ask(row["puzzle_id"] + attempt) == ask(row["name"] + attempt)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("001-00000", "begins several names or ids, such as 001-000000, 001-000001, 001-000002"),
        ("001-000012", "is called '001-000012'. The nearest are 001-000001, 001-000002, 001-00001"),
        ("001-000099/1", "is called '001-000099/1'. The nearest are 001-0000"),
        ("", "is called ''. The nearest are "),
    ],
)
def test_an_id_that_is_none_is_answered_with_the_nearest(
    done: RunDirectory, capsys: pytest.CaptureFixture[str], asked: str, sentence: str
) -> None:
    assert main(["why", str(done.path), asked]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line


def test_a_train_puzzle_that_is_no_longer_there_is_said(
    done: RunDirectory, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from selftrain.why import origin

    row = example(done)
    monkeypatch.setattr(origin, "_train", lambda _: few_held_out())
    assert "it cannot be rebuilt: puzzles.train=builtin has no " in ask(row["name"])


def test_hostile_text_of_a_model_is_made_visible(
    tmp_path: Path, done: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = RunDirectory(tmp_path / "run")
    for number in (0, 1):
        copy.round(number).path.mkdir(parents=True)
    copy.config.write_bytes(done.config.read_bytes())
    write_json(copy.provenance, {"command": ["selftrain"], "model": {"name": "m", "files": {}}})
    rejection = {"reason": "syntax", "detail": "it does not parse"}
    row = {
        "id": "001-000000", "prompt_puzzles": ["gone"], "text": "\x1b[2J\ud800", "num_tokens": 1,
        "sum_logprob": -1.0, "f": None, "puzzle_id": None, "rejection": rejection,
    }  # fmt: skip
    write_rows(copy.round(1).proposals, [row])
    assert main(["why", str(copy.path), "001-000000"]) == 0
    assert "\\x1b[2J\\ud800" in capsys.readouterr().out
