"""Whose a folder is: other work in it is named and left as it is, a refused start claims none."""

from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from selftrain.ablation.ablate import ablate
from selftrain.claim import ABLATION, LEVER, REFINE, RUN, SWEEP, Work, claim, refuse_foreign
from selftrain.cli import main
from selftrain.config import Config
from selftrain.config_file import load_config, save_config
from selftrain.errors import RunError, UsageError
from selftrain.files import write_json
from selftrain.refine.refine import refine
from selftrain.run import run
from selftrain.run_directory import RunDirectory
from selftrain.sweep import sweep

MADE_WITH: dict[str, Any] = {
    key: {} for key in ("judge", "puzzles", "data", "model", "proposer", "solver", "packages")
}
OTHER_GUEST: dict[str, Any] = {**MADE_WITH, "judge": {"guest": "another"}}
STAGES = {
    "a run": "round-000/metrics.json",
    "an ablation": "1-pools/seed-0/1-proposals.jsonl",
    "a sweep": "temperature-0.8.jsonl",
    "a comparison of refinements": "2-calls.jsonl",
}
"""A file of each kind of work, by the work's name."""
START: dict[str, Callable[[Config, Path], int]] = {
    "a run": run,
    "an ablation": ablate,
    "a sweep": lambda config, folder: sweep(config, [0.8], folder),
    "a comparison of refinements": refine,
}
OTHERS = list(permutations((RUN, ABLATION, SWEEP, REFINE), 2))


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def begun(work: Work, folder: Path) -> dict[str, bytes]:
    """Lay out work under way, as its command leaves it; give its files."""
    write_json(folder / STAGES[work.name], {})
    save_config(Config(), RunDirectory(folder).config)
    write_json(RunDirectory(folder).provenance, MADE_WITH)
    return files(folder)


@pytest.mark.parametrize(("ours", "theirs"), OTHERS)
def test_other_work_is_refused_by_name_and_left_as_it_is(
    tmp_path: Path, ours: Work, theirs: Work
) -> None:
    before = begun(theirs, tmp_path)
    with (
        pytest.raises(UsageError, match=f"holds {theirs.name}. Choose another folder with --"),
        claim(ours, RunDirectory(tmp_path), Config(), MADE_WITH),
    ):
        pass
    assert files(tmp_path) == before


@pytest.mark.parametrize("work", [RUN, ABLATION, SWEEP])
def test_work_made_with_another_judge_is_refused_and_left_as_it_is(
    tmp_path: Path, work: Work
) -> None:
    before = begun(work, tmp_path)
    with (
        pytest.raises(UsageError, match=r"made with another judge\.guest \(None, now another\)"),
        claim(work, RunDirectory(tmp_path), Config(), OTHER_GUEST),
    ):
        pass
    assert files(tmp_path) == before


def test_a_finished_shard_is_work_too(tmp_path: Path) -> None:
    write_json(tmp_path / "temperature-0.8" / "shards" / "evaluate" / "000000.jsonl", {})
    with pytest.raises(UsageError, match="holds a sweep"):
        refuse_foreign(RUN, RunDirectory(tmp_path), Config())


@pytest.mark.parametrize(("ours", "theirs"), OTHERS)
def test_each_command_refuses_the_folder_of_another(
    tmp_path: Path, ours: Work, theirs: Work
) -> None:
    before = begun(theirs, tmp_path)
    config = load_config(None, ["puzzles.num_dev=3", "ablate.arms=[base]"])
    with pytest.raises(UsageError, match=f"holds {theirs.name}"):
        START[ours.name](config, tmp_path)
    assert files(tmp_path) == before


def fail(work: Work, folder: Path, after: Callable[[], object]) -> None:
    """Claim a folder, do something, and fail."""
    with claim(work, RunDirectory(folder), Config(), MADE_WITH):
        after()
        raise RunError("nothing was scored")


@pytest.mark.parametrize("work", [RUN, ABLATION, SWEEP])
def test_what_fails_before_anything_is_made_claims_nothing(tmp_path: Path, work: Work) -> None:
    written: list[str] = []
    with pytest.raises(RunError):
        fail(work, tmp_path, lambda: written.extend(files(tmp_path)))
    assert sorted(written) == ["config.yaml", "run.json"]
    assert files(tmp_path) == {}


def test_what_fails_after_something_was_made_keeps_the_claim(tmp_path: Path) -> None:
    with pytest.raises(RunError):
        fail(RUN, tmp_path, lambda: write_json(tmp_path / STAGES["a run"], {}))
    assert {"config.yaml", "run.json"} <= files(tmp_path).keys()


def test_a_configuration_that_was_there_before_is_neither_written_nor_removed(
    tmp_path: Path,
) -> None:
    (tmp_path / "config.yaml").write_text("seed: 0  # mine\n")
    with pytest.raises(RunError):
        fail(RUN, tmp_path, lambda: None)
    assert files(tmp_path) == {"config.yaml": b"seed: 0  # mine\n"}


@pytest.fixture
def claimed(tmp_path: Path) -> Iterator[RunDirectory]:
    directory = RunDirectory(tmp_path)
    with claim(SWEEP, directory, Config(), MADE_WITH):
        yield directory


@pytest.mark.parametrize(
    ("setting", "may_change"),
    [("limits.hours=5", ()), ("evaluate.k=[2]", ("evaluate.k",))],
)
def test_limits_and_what_is_named_may_change(
    claimed: RunDirectory, setting: str, may_change: tuple[str, ...]
) -> None:
    refuse_foreign(SWEEP, claimed, load_config(None, [setting]), may_change)


def test_a_setting_whose_name_only_begins_like_one_that_may_change_is_refused(
    claimed: RunDirectory,
) -> None:
    with pytest.raises(UsageError, match=r"configuration \(evaluate.temperature 0.8, now 0.5\)"):
        refuse_foreign(
            SWEEP, claimed, load_config(None, ["evaluate.temperature=0.5"]), ("evaluate.temp",)
        )


@pytest.mark.parametrize("command", ["report", "why", "export", "diversity"])
def test_what_is_for_runs_says_what_a_folder_holds_instead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (tmp_path / "a" / "1-pools").mkdir(parents=True)
    (tmp_path / "a" / "config.yaml").write_text("seed: 0\n")
    assert main([command, str(tmp_path / "a"), *(["x"] if command == "why" else [])]) == 2
    assert "holds an ablation; its tables are in" in capsys.readouterr().err
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"1-pools", "config.yaml"}


def test_what_several_kinds_write_is_no_sign_of_one(tmp_path: Path) -> None:
    for name in ("results.jsonl", "config.yaml", "run.json", "timings.jsonl", "log.txt"):
        (tmp_path / name).write_text("{}")
    assert not any(work.is_begun(tmp_path) for work in (RUN, ABLATION, LEVER, REFINE, SWEEP))
