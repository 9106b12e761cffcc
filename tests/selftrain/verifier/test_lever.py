"""`selftrain lever` over task files: it goes on where it stopped, refuses what cannot be, ranks."""

import json
import math
from pathlib import Path

import pytest

from selftrain.cli import main
from selftrain.config import Config
from selftrain.config_file import load_config
from selftrain.errors import UsageError
from selftrain.files import Row, read_rows, write_rows
from selftrain.verifier.lever import lever
from selftrain.verifier.rank_file import rank_file

DIFFER = ("timings.jsonl", "log.txt", ".lock")


def task(number: int, split: str) -> Row:
    """A task that asks for a number, with one right candidate, a wrong one and one that errs."""

    def candidate(program: str, result: str, right: bool) -> Row:
        return {
            "program": f"def g():\n    return {program}",
            "sum_logprob": -1.0 - number % 3,
            "num_tokens": 9,
            "result": result,
            "label": right,
        }

    return {
        "task_id": f"{split}-{number}",
        "task": f"def f(x: int):\n    return x == {number}",
        "candidates": [
            candidate(str(number), str(number), True),
            candidate("0", "0", False),
            candidate("1 / 0", "ERROR: raised: ZeroDivisionError: division by zero", False),
        ],
    }


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, Path]:
    numbers = {"train": range(100, 112), "dev": range(200, 204), "test": range(300, 306)}
    paths = {}
    for split, some in numbers.items():
        paths[split] = tmp_path / f"{split}.jsonl"
        write_rows(paths[split], (task(number, split) for number in some))
    return paths


@pytest.fixture
def config(sources: dict[str, Path], tiny_model: Path) -> Config:
    return load_config(
        None,
        [
            *(f"lever.{split}={path}" for split, path in sources.items()),
            f"verifier.model.name={tiny_model}",
            "verifier.model.device=cpu",
            "verifier.steps=4",
            "verifier.check_every=2",
            "verifier.max_tokens=96",
            "lever.arms=[full]",
            "judge.num_workers=1",
        ],
    )


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in DIFFER)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_second_start_goes_on_and_ends_with_the_same_bytes(
    config: Config, tmp_path: Path
) -> None:
    assert lever(config, tmp_path / "a", evaluate=True) == 0
    whole = contents(tmp_path / "a")
    for name in ("lever.json", "3-scores/full-test.jsonl", "2-verifiers/full/model.safetensors"):
        assert name in whole
    (tmp_path / "a" / "lever.json").unlink()
    (tmp_path / "a" / "3-scores" / "full-test.jsonl").unlink()
    assert lever(config, tmp_path / "a", evaluate=True) == 0
    assert contents(tmp_path / "a") == whole


def test_another_folder_has_the_same_bytes(config: Config, tmp_path: Path) -> None:
    for name in ("a", "b"):
        lever(config, tmp_path / name, evaluate=True)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_train_ends_before_anything_is_measured(
    config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lever(config, tmp_path / "a", evaluate=False)
    assert (tmp_path / "a" / "2-verifiers" / "full" / "calibrator.json").exists()
    assert not (tmp_path / "a" / "lever.json").exists()
    assert "selftrain lever rank" in capsys.readouterr().out


def test_another_seed_is_another_folder(config: Config, tmp_path: Path) -> None:
    lever(config, tmp_path / "a", evaluate=False)
    with pytest.raises(UsageError, match="made with another configuration"):
        lever(config.model_copy(update={"seed": 1}), tmp_path / "a", evaluate=False)


def test_splits_that_share_a_task_are_refused(
    config: Config, sources: dict[str, Path], tmp_path: Path
) -> None:
    with sources["test"].open("a") as file:
        file.write(json.dumps(task(100, "train")) + "\n")
    with pytest.raises(UsageError, match="train-100"):
        lever(config, tmp_path / "a", evaluate=False)


def test_ranking_asks_for_no_label_and_looks_at_none(
    config: Config, sources: dict[str, Path], tmp_path: Path
) -> None:
    lever(config, tmp_path / "a", evaluate=False)
    ranked = []
    for label in (True, False, None):
        rows = list(read_rows(sources["test"]))
        for row in rows:
            for candidate in row["candidates"]:
                # What errs is never right, so its label cannot be flipped.
                if candidate["label"] is not None and "ERROR" not in candidate["result"]:
                    candidate["label"] = label
        write_rows(tmp_path / "unknown.jsonl", rows)
        output = tmp_path / f"ranked-{label}.jsonl"
        rank_file(config, tmp_path / "a", None, str(tmp_path / "unknown.jsonl"), output)
        ranked.append(output.read_bytes())
    assert ranked[0] == ranked[1] == ranked[2]
    rows = [json.loads(line) for line in ranked[0].splitlines()]
    assert [row["task_id"] for row in rows] == [f"test-{number}" for number in range(300, 306)]
    assert all(len(row["candidates"]) == 3 for row in rows)
    assert all(0 <= one["probability"] <= 1 for row in rows for one in row["candidates"])


def test_without_log_probabilities_nothing_is_scored_jointly(
    config: Config, sources: dict[str, Path], tmp_path: Path
) -> None:
    lever(config, tmp_path / "a", evaluate=False)
    rows = list(read_rows(sources["test"]))
    rows[2]["candidates"][1]["sum_logprob"] = None
    write_rows(tmp_path / "some.jsonl", rows)
    with pytest.raises(UsageError, match="no log-probabilities"):
        rank_file(config, tmp_path / "a", None, str(tmp_path / "some.jsonl"), None)


def test_a_verifier_of_types_ranks_without_groups(
    config: Config, sources: dict[str, Path], tmp_path: Path
) -> None:
    types = config.model_copy(
        update={"verifier": config.verifier.model_copy(update={"results": "type"})}
    )
    rankers = []
    for number, one in enumerate((config, types)):
        lever(one, tmp_path / f"{number}", evaluate=False)
        output = tmp_path / f"{number}.jsonl"
        rank_file(one, tmp_path / f"{number}", None, str(sources["test"]), output)
        rankers.append({row["ranker"] for row in read_rows(output)})
    assert rankers == [{"joint with groups"}, {"joint"}]


def test_permuted_test_labels_leave_the_calibrator_unchanged(
    config: Config, sources: dict[str, Path], tmp_path: Path
) -> None:
    lever(config, tmp_path / "a", evaluate=False)
    rows = list(read_rows(sources["test"]))
    for row in rows:
        first, second, _ = row["candidates"]
        first["label"], second["label"] = second["label"], first["label"]
    write_rows(sources["test"], rows)
    lever(config, tmp_path / "b", evaluate=False)
    here, there = (
        tmp_path / name / "2-verifiers" / "full" / "calibrator.json" for name in ("a", "b")
    )
    assert here.read_bytes() == there.read_bytes()


def test_an_arm_that_was_not_trained_is_named(config: Config, tmp_path: Path) -> None:
    lever(config, tmp_path / "a", evaluate=False)
    with pytest.raises(UsageError, match="no verifier 'no-program', but full"):
        rank_file(config, tmp_path / "a", "no-program", "tasks.jsonl", None)
    with pytest.raises(UsageError, match="holds no verifier"):
        rank_file(config, tmp_path, None, "tasks.jsonl", None)


def test_rank_goes_by_the_configuration_that_its_verifier_was_made_with(
    config: Config, sources: dict[str, Path], tmp_path: Path
) -> None:
    by_mean = config.verifier.model_copy(update={"likelihood": "mean"})
    lever(config.model_copy(update={"verifier": by_mean}), tmp_path / "a", evaluate=False)
    output = tmp_path / "ranked.jsonl"
    asked = ["lever", "rank", str(tmp_path / "a"), str(sources["test"]), "--no-groups"]
    assert main([*asked, "--output", str(output)]) == 0
    likelihood = {f"test-{number}": -1.0 - number % 3 for number in range(300, 306)}
    for row in read_rows(output):
        for one in row["candidates"]:
            of_right = -math.log1p(math.exp(-one["log_odds"]))
            assert one["score"] == pytest.approx(likelihood[row["task_id"]] / 9 + of_right)


def test_what_cannot_be_scored_jointly_is_refused_before_a_program_runs(
    config: Config, sources: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lever(config, tmp_path / "a", evaluate=False)
    rows = list(read_rows(sources["test"]))
    rows[-1]["candidates"][0] |= {"sum_logprob": None, "result": None}
    write_rows(tmp_path / "some.jsonl", rows)
    monkeypatch.setattr("selftrain.verifier.rank_file.complete", None)
    with pytest.raises(UsageError, match="no log-probabilities"):
        rank_file(config, tmp_path / "a", None, str(tmp_path / "some.jsonl"), tmp_path / "out")
    assert not list(tmp_path.glob("out*"))
