"""The report's tables of epochs, dev puzzles and difficulty, on files written here."""

from pathlib import Path

import pytest

from selftrain.errors import RunError
from selftrain.files import Row, write_json, write_rows
from selftrain.report import final_table
from selftrain.report.blocks import Table
from selftrain.report.choices import choices_section
from selftrain.report.difficulty import difficulty_section
from selftrain.report.reading import read_run
from selftrain.run_directory import RunDirectory
from selftrain.statistics import evaluation_metrics

CONFIG = "seed: 0\nrounds: 2\nmodel:\n  name: a\nevaluate:\n  temperature: 0.8\n  k: [1]\n"


def row(name: str, num_correct: int) -> Row:
    return {
        "name": name, "family": "", "known_family": False, "category": "", "difficulty": "",
        "n": 4, "num_correct": num_correct, "outcomes": {"passed": num_correct},
        "greedy_passed": False,
    }  # fmt: skip


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    """Write a run whose held-out and dev puzzles disagree on the best round."""
    run = RunDirectory(tmp_path)
    run.config.write_text(CONFIG)
    for number, held_out, dev in ((0, 1, 0), (1, 2, 4), (2, 4, 2)):
        here = run.round(number)
        metrics = evaluation_metrics([row("a", held_out)], [1], 0)
        epochs = {"train/epoch": 2, "dev/epoch-01/pass@1": 0.0, "dev/epoch-02/pass@1": dev / 4}
        chosen = {"funnel/examples": 3, **epochs} if number else {"dev/pass@1": dev / 4}
        write_json(here.metrics, {"round": number, **metrics, **chosen})
        write_rows(here.evaluation, [row("a", held_out)])
        tried = [(1, 0), (2, dev)] if number else [(0, dev)]
        write_rows(here.dev, ({"epoch": epoch, **row("d", right)} for epoch, right in tried))
    rates = [0.0, 0.1, 0.25, 0.9, 1.0, 1.0]
    write_rows(run.round(1).difficulties, ({"difficulty": rate} for rate in rates))
    return run


def test_the_best_round_is_chosen_on_dev_not_on_held_out(directory: RunDirectory) -> None:
    best = read_run(directory).best_on_dev
    assert best is not None
    assert best.number == 1
    assert final_table(directory).endswith("best on the dev puzzles: round 1, Pass@1 100.0% there")


def test_every_epoch_has_a_row_and_the_chosen_one_a_mark(directory: RunDirectory) -> None:
    section = choices_section(read_run(directory), directory)
    assert section is not None
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert [line[0] for line in table.rows] == [
        "0 (base)",
        "1, epoch 1",
        "1, epoch 2 *",
        "2, epoch 1",
        "2, epoch 2 *",
    ]


def test_puzzles_are_counted_by_difficulty(directory: RunDirectory) -> None:
    (table,) = difficulty_section(read_run(directory), directory).blocks
    assert isinstance(table, Table)
    assert {line[0]: line[1] for line in table.rows} == {
        "0: every attempt passed": "1 (16.7%)",
        "over 0, up to 0.25": "2 (33.3%)",
        "over 0.25, up to 0.5": "0 (0.0%)",
        "over 0.5, up to 0.75": "0 (0.0%)",
        "over 0.75, below 1": "1 (16.7%)",
        "1: none passed": "2 (33.3%)",
        "All": "6",
    }


def test_metrics_of_another_round_are_damage(directory: RunDirectory) -> None:
    write_json(directory.round(1).metrics, {})
    with pytest.raises(RunError, match=r"metrics\.json: damaged \(it is not of round 1\)"):
        read_run(directory)
