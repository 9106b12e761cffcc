"""A file of pairs trains a model: what is read of it, what is refused, what the run holds."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from scripted import ScriptedSampler, few_held_out, few_train, write_puzzles

from puzzles import Rejection
from selftrain import models
from selftrain.cli import main
from selftrain.config_file import load_config
from selftrain.errors import RunError, UsageError
from selftrain.files import Row, read_json, read_rows, write_rows
from selftrain.pairs import Given, candidates_of, describe, read_pairs
from selftrain.run_directory import RunDirectory
from selftrain.train_pairs import train_pairs

F = "def f(x: int, a=3):\n    return x == a + 1"
G = "def g(a=3):\n    return a + 1"
HARD = "def f(s: str):\n    return s == 'ab' * 3"
SMALL = (
    "rounds=3",
    "solve.num_few_shot=0",
    "judge.num_workers=1",
    "evaluate.num_samples=2",
    "evaluate.k=[1, 2]",
    "finetune.block_tokens=128",
    "finetune.learning_rate=1e-2",
    "model.device=cpu",
    "diversity.embeddings=false",
)


def write(folder: Path, *rows: Any) -> Path:
    path = folder / "pairs.jsonl"
    write_rows(path, rows)
    return path


def only(path: Path, split: str | None = None) -> Given:
    (given,) = read_pairs(path, split)
    return given


def cut(tmp_path: Path, g: str, f: str = F) -> str | tuple[str, str]:
    """Give the candidate that is cut from a pair, or why there is none."""
    (candidate,) = candidates_of(only(write(tmp_path, {"f": f, "g": g})))
    return candidate.g if candidate.g is not None else (candidate.no_g, candidate.detail)


def test_a_whole_g_is_taken_as_it_is(tmp_path: Path) -> None:
    assert cut(tmp_path, G) == G


@pytest.mark.parametrize(
    "g",
    [
        "def g(a = 3) -> int:\n    return a + 1",
        "def g(a=99):\n    return a + 1\n\nassert f(g())",
        "\ndef g(\n    a=3,\n):\n    return a + 1\n",
    ],
)
def test_a_g_stands_under_the_head_that_its_f_asks_for(tmp_path: Path, g: str) -> None:
    assert cut(tmp_path, g) == G


def test_a_body_stands_under_the_head_that_its_f_asks_for(tmp_path: Path) -> None:
    row = {"f": F, "bodies": [["\n    return a + 1\n", 2], [" return 4", 1]]}
    candidates = candidates_of(only(write(tmp_path, row)))
    assert [one.g for one in candidates] == [G, "def g(a=3): return 4"]


@pytest.mark.parametrize(
    ("g", "reason"),
    [
        ("def g(n=5):\n    return n", "signature"),
        ("import math\ndef g(a=3):\n    return 4", "no_definition"),
        ("def g(a=3):\n    return (", "syntax"),
        ("def g(a=3):\n    return '\ud800'", "syntax"),
        ("", "no_definition"),
    ],
)
def test_a_text_that_is_no_g_of_its_f_has_a_reason(tmp_path: Path, g: str, reason: str) -> None:
    said = cut(tmp_path, g)
    assert said[0] == reason
    assert said[1]


def test_programs_of_one_puzzle_are_gathered_from_all_over_the_file(tmp_path: Path) -> None:
    twin = "def f(y: int, a=3):  # the same\n    return y == a + 1"
    rows = [{"f": F, "g": "1"}, {"f": HARD, "g": "2"}, {"f": twin, "g": "3"}, {"f": F, "g": "1"}]
    first, second = read_pairs(write(tmp_path, *rows))
    assert [(one.text, one.count) for one in first.programs] == [("1", 2), ("3", 1)]
    assert (first.name, first.num_attempts) == ("line-000001", 3)
    assert (second.name, [one.text for one in second.programs]) == ("line-000002", ["2"])


def test_an_f_whose_inputs_alone_have_other_names_is_a_duplicate(tmp_path: Path) -> None:
    other = "def f(x: int, b=3):\n    return x == b + 1"
    _, second = read_pairs(write(tmp_path, {"f": F, "g": G}, {"f": other, "g": G}))
    assert isinstance(second.result, Rejection)
    assert second.result.reason == "duplicate"


def test_names_are_the_file_s_own_and_each_is_given_once(tmp_path: Path) -> None:
    rows = [{"f": F, "g": G, "p3_name": "Study_1:0"}, {"f": HARD, "g": G, "name": "Study_1:0"}]
    assert [one.name for one in read_pairs(write(tmp_path, *rows))] == [
        "Study_1:0",
        "Study_1:0-000002",
    ]


def test_what_is_refused_is_counted_with_a_sentence_a_kind(tmp_path: Path) -> None:
    rows = [
        {"f": F, "g": G},
        {"f": "def f(x):\n    return x == 1", "g": G, "name": "untyped"},
        {"f": "def f(x: dict):\n    return x == {}", "g": G},
        {"f": "def f(", "g": G},
        {"f": HARD, "bodies": [], "name": "bare"},
    ]
    assert list(describe(read_pairs(write(tmp_path, *rows)))) == [
        "2 puzzles with 1 distinct programs",
        "1 of the puzzles come without a program, such as 'bare'",
        "2 refused, answer_type: of the first, 'untyped': the answer x has no annotation",
        "1 refused, syntax: of the first, 'line-000004': it does not parse: line 1: '(' was never "
        "closed",
    ]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ([], "line 1: found a list instead of a JSON object"),
        ({"g": G}, "line 1: there is no text 'f'"),
        ({"f": F}, "line 1: there is no text 'g'"),
        ({"f": F, "bodies": ["return 4"]}, "line 1: 'bodies' is no list of pairs"),
        ({"f": F, "bodies": [["\n    return 4", 0]]}, "line 1: 'bodies' is no list of pairs"),
        ({"f": F, "bodies": [["\n    return 4", 3]], "n": 2}, "line 1: 'n' is 2, and 3 programs"),
    ],
)
def test_a_row_that_is_no_pair_ends_the_command(tmp_path: Path, row: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as caught:
        read_pairs(write(tmp_path, row))
    assert "\n" not in str(caught.value)


def test_one_split_is_read_where_one_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, {"f": F, "g": G, "split": "train"}, {"f": HARD, "g": G, "split": "test"})
    assert only(path, "train").f == F
    with pytest.raises(UsageError, match="no row has the split 'dev'; there is 'test', 'train'"):
        read_pairs(path, "dev")


def test_published_samples_of_p3_are_read_whole(p3_folder: Path) -> None:
    given = read_pairs(p3_folder / "codex_cushman_med.jsonl.gz", "train")
    assert list(describe(given)) == [
        "155 puzzles with 3,071 distinct programs",
        "60 of the puzzles come without a program, such as 'Study_7:0'",
    ]
    assert {one.num_attempts for one in given} == {1000}
    assert all(one.g is not None for each in given for one in candidates_of(each))


@pytest.fixture(scope="module")
def held_out_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_puzzles(tmp_path_factory.mktemp("puzzles") / "held_out.jsonl", few_held_out())


def settings(held_out: Path, model: Path, *more: str) -> list[str]:
    return [*SMALL, f"puzzles.held_out={held_out}", f"model.name={model}", *more]


def sample_rows() -> list[Row]:
    """Give solved train puzzles as published samples, and one held-out puzzle among them."""
    rows = [
        {
            "f": puzzle.f,
            "p3_name": puzzle.name,
            "split": "train",
            "n": 10,
            "bodies": [
                [puzzle.solutions[0].removeprefix(f"def g({puzzle.inputs}):"), 4],
                ["\n    return 0", 1],
            ],
        }
        for puzzle in few_train()[:6]
    ]
    leaked = few_held_out()[0]
    body = leaked.solutions[0].removeprefix(f"def g({leaked.inputs}):")
    return [*rows, {"f": leaked.f, "p3_name": "leaked", "split": "train", "bodies": [[body, 1]]}]


@pytest.fixture(scope="module")
def pairs_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "samples.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in sample_rows())
    return path


@pytest.fixture(scope="module")
def trained(
    tmp_path_factory: pytest.TempPathFactory,
    held_out_file: Path,
    tiny_model: Path,
    pairs_file: Path,
) -> RunDirectory:
    """Give a whole run of the command, to be looked at only."""
    folder = tmp_path_factory.mktemp("runs") / "pairs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "load_sampler", lambda *_: ScriptedSampler())
        command = ["train", str(pairs_file), "--split", "train", "--run-dir", str(folder)]
        assert main([*command, *settings(held_out_file, tiny_model)]) == 0
    return RunDirectory(folder)


def test_a_file_of_pairs_gives_a_run_of_one_round(trained: RunDirectory) -> None:
    base, after = [read_json(here.metrics) for here in trained.complete_rounds()]
    assert {"eval/pass@1", "eval/pass@2"} <= set(base) & set(after)
    assert (trained.round(1).model / "model.safetensors").exists()
    assert trained.report_markdown.exists()
    assert after["funnel/completions"] == 7


def test_programs_that_pass_become_examples_with_the_counts_of_the_file(
    trained: RunDirectory,
) -> None:
    here = trained.round(1)
    candidates = list(read_rows(here.candidates))
    assert len(candidates) == 13
    passed = {(row["f"], row["g"]) for row in candidates if row["passed"]}
    examples = list(read_rows(here.examples))
    assert {(row["f"], row["g"]) for row in examples} < passed
    assert {row["name"] for row in examples} == {puzzle.name for puzzle in few_train()[:6]}
    by_name = {row["name"]: (row["num_attempts"], row["num_correct"]) for row in examples}
    # Where 0 solves the puzzle too, all five of the programs given are right.
    assert set(by_name.values()) <= {(10, 4), (10, 5)}
    assert (10, 4) in by_name.values()


def test_a_pair_of_a_held_out_puzzle_is_removed(trained: RunDirectory) -> None:
    removed = list(read_rows(trained.round(1).removed))
    assert {row["name"] for row in removed} == {"leaked"}
    assert {row["held_out"] for row in removed} == {few_held_out()[0].name}


def test_why_says_that_a_pair_was_given(
    trained: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    row = next(read_rows(trained.round(1).examples))
    assert main(["why", str(trained.path), f"{row['name']}/{row['index']}"]) == 0
    said = capsys.readouterr().out
    assert "no model proposed it; it was given:" in said
    assert "0.60 [0.31, 0.83]: 4 of 10 attempts right" in said
    assert "Solved by" not in said


def test_why_says_which_held_out_puzzle_a_removed_pair_lay_near(
    trained: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(trained.path), "leaked/0"]) == 0
    said = capsys.readouterr().out
    assert f"removed before training, text, near the held-out {few_held_out()[0].name}" in said


def test_an_export_says_that_the_pairs_were_given(trained: RunDirectory, tmp_path: Path) -> None:
    assert main(["export", str(trained.path), "--output", str(tmp_path / "out")]) == 0
    card = (tmp_path / "out" / "dataset" / "README.md").read_text(encoding="utf-8")
    assert "The pairs were given in a file" in card
    assert "| pairs | a file that was given | not known to this program" in card
    assert "too near to a held-out puzzle: 1 text." in card


def test_a_finished_training_run_again_changes_nothing(
    trained: RunDirectory, held_out_file: Path, tiny_model: Path, pairs_file: Path
) -> None:
    paths = [path for path in trained.path.rglob("*") if path.is_file() and path != trained.log]
    before = {path: path.read_bytes() for path in paths}
    config = load_config(None, settings(held_out_file, tiny_model))
    assert train_pairs(config, pairs_file, "train", trained.path) == 0
    assert {path: path.read_bytes() for path in paths} == before


def test_other_pairs_are_another_run(
    trained: RunDirectory, held_out_file: Path, tiny_model: Path, tmp_path: Path
) -> None:
    other = write(tmp_path, *sample_rows()[:3])
    config = load_config(None, settings(held_out_file, tiny_model))
    with pytest.raises(UsageError, match=r"was made with another data\.pairs"):
        train_pairs(config, other, None, trained.path)


def test_a_paused_training_goes_on_and_ends_with_the_same_bytes(
    trained: RunDirectory,
    held_out_file: Path,
    tiny_model: Path,
    pairs_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(models, "load_sampler", lambda *_: ScriptedSampler())
    for limit in ("limits.disk_gb=1e-6", "limits.disk_gb=20e-6", "limits.disk_gb=null"):
        config = load_config(None, settings(held_out_file, tiny_model, limit))
        assert train_pairs(config, pairs_file, "train", tmp_path / "run") == 0
    for path in sorted(trained.round(1).path.rglob("*.json*")):
        assert (tmp_path / "run" / path.relative_to(trained.path)).read_bytes() == path.read_bytes()


def test_a_file_without_a_program_is_refused_before_anything_is_measured(
    held_out_file: Path, tiny_model: Path, tmp_path: Path
) -> None:
    config = load_config(None, settings(held_out_file, tiny_model))
    path = write(tmp_path, {"f": F, "bodies": []})
    with pytest.raises(UsageError, match="nothing to train on"):
        train_pairs(config, path, None, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("row", "more"),
    [
        ({"f": F, "g": "def g(a=3):\n    return 5"}, "1 wrong_answer"),
        ({"f": F, "g": G}, "curate.drop_always_solved=true"),
    ],
)
def test_pairs_of_which_none_is_left_end_the_run_with_the_counts(
    held_out_file: Path,
    tiny_model: Path,
    tmp_path: Path,
    row: Row,
    more: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(models, "load_sampler", lambda *_: ScriptedSampler())
    setting = [more] if "=" in more else []
    config = load_config(None, settings(held_out_file, tiny_model, *setting))
    said = "1 passed" if setting else more
    with pytest.raises(RunError, match=rf"nothing was left to train on \({said}\)"):
        train_pairs(config, write(tmp_path, row), None, tmp_path / "run")
