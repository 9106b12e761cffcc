"""What is shown of a comparison of rankings: its sentences, its files, and what they must not say."""

import json
import re
import shutil
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from verifier.comparisons import CALIBRATOR, LABELS, compared, said, tasks

from selftrain.config import Config, LeverConfig, ModelConfig
from selftrain.errors import RunError
from selftrain.files import write_json, write_rows
from selftrain.model_source import resolve
from selftrain.verifier.calibration.calibrator import calibrator_to_row
from selftrain.verifier.directory import LeverDirectory
from selftrain.verifier.report.facts import read_trained
from selftrain.verifier.report.measure import Measured, measure
from selftrain.verifier.report.page import publish, terminal_text
from selftrain.verifier.tasks.task import Task

CONFIG = Config(lever=LeverConfig(arms=("full",)))


@pytest.fixture(scope="module")
def measured() -> Measured:
    return compared()


def test_the_terminal_has_the_one_table_in_100_columns(measured: Measured) -> None:
    lines = terminal_text(measured).splitlines()
    assert max(map(len, lines)) <= 100
    assert [line.split("  ")[0] for line in lines[1:12]] == [
        "greedy",
        "random",
        "most frequent",
        "LM sum",
        "LM mean",
        "LM sum, error-free",
        "most frequent, error-free",
        "verifier",
        "joint",
        "joint with groups",
        "oracle",
    ]


def make_folder(path: Path, made: dict, strength: float = 9) -> LeverDirectory:  # type: ignore[type-arg]
    """Make what publish reads: a trained verifier's log and tokenizer, and what it said."""
    directory = LeverDirectory(path)
    folder = directory.verifier("full")
    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(Path(resolve("builtin:tiny")) / name, folder)
    reads = {"results": "value", "programs": True, "max_tokens": 64}
    write_json(folder / "verifier.json", {"reads": reads})
    write_json(folder / "calibrator.json", calibrator_to_row(CALIBRATOR))
    learnt = {"num_examples": 6, "num_right": 3, "num_gold": 1}
    losses = [0.7, None, 0.4, None, 0.4, 0.5]
    rows = [{"step": step, "dev_loss": loss} for step, loss in enumerate(losses)]
    write_rows(folder / "training.jsonl", [rows[0] | {"train": learnt}, *rows[1:]])
    one = said(made, strength)
    for split, found in (("dev", one.dev), ("test", one.test)):
        scores = zip(made[split], found, strict=True)
        write_rows(
            directory.scores("full", split),
            ({"task_id": task.task_id, "log_odds": odds} for task, odds in scores),
        )
    return directory


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[LeverDirectory, str]:
    """Give a published folder, and what was printed."""
    directory = make_folder(tmp_path_factory.mktemp("lever"), tasks())
    with redirect_stdout(StringIO()) as printed:
        publish(directory, CONFIG, tasks())
    return directory, printed.getvalue()


def test_publish_writes_all_numbers_and_names_its_files(
    published: tuple[LeverDirectory, str],
) -> None:
    directory, printed = published
    assert printed.endswith(
        "".join(f"{directory.path}/lever.{x}\n" for x in ("json", "md", "html"))
    )
    outcome = json.loads(directory.outcome.read_text())
    assert outcome["splits"]["test"]["num_candidates"] == sum(map(len, LABELS))
    assert outcome["choice"]["rankers"][-1]["num_correct"] == 11
    assert outcome["confidence"]["calibrator"]["slope"] == CALIBRATOR.slope


def test_the_page_needs_nothing_else_and_says_that_the_checker_was_withheld(
    published: tuple[LeverDirectory, str],
) -> None:
    html = published[0].report_html.read_text()
    assert html.count("<svg") == 5
    assert "with the checker at hand there is nothing to rank" in html
    assert not re.search(r"https?://|<script|src=", html)


def test_publish_again_gives_the_same_bytes(published: tuple[LeverDirectory, str]) -> None:
    directory, _ = published
    files = (directory.outcome, directory.report_markdown, directory.report_html)
    before = [file.read_bytes() for file in files]
    publish(directory, CONFIG, tasks())
    assert [file.read_bytes() for file in files] == before


def test_scores_of_other_tasks_are_refused(tmp_path: Path) -> None:
    made = tasks()
    directory = make_folder(tmp_path, made)
    with pytest.raises(
        RunError, match=r"full-test.jsonl: it is not of the tasks in .*1-tasks-test"
    ):
        publish(directory, CONFIG, {**made, "test": made["test"][::-1]})


def test_the_step_told_is_the_first_with_the_lowest_dev_loss(tmp_path: Path) -> None:
    made = tasks()
    trained = read_trained(
        make_folder(tmp_path, made).verifier("full"), made["test"], ModelConfig()
    )
    assert (trained.chosen_step, trained.steps) == (2, 5)
    assert (trained.first_dev_loss, trained.dev_loss) == (0.7, 0.4)


def test_what_the_verifier_could_not_read_is_counted(tmp_path: Path) -> None:
    made = tasks()
    folder = make_folder(tmp_path, made).verifier("full")
    long: list[Task] = [replace(task, task="word " * 500) for task in made["test"][:1]]
    # Two candidates of the long task, and one of a short one.
    trained = read_trained(folder, [*long, made["test"][9]], ModelConfig())
    assert trained.cut == {"task": 2 / 3, "program": 0, "result": 0}


def test_the_widest_table_has_100_columns_too() -> None:
    made = tasks(["+-"] * 12)
    wrong_first = [replace(one, candidates=one.candidates[::-1]) for one in made["test"]]
    for some in (made["test"], wrong_first):
        made["test"] = some
        found = terminal_text(measure(made, [said(made, 9)], CALIBRATOR, CONFIG))
        assert "100.0 [100.0, 100.0]" in found
        assert max(map(len, found.splitlines())) <= 100
