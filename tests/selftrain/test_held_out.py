"""A sample of the held-out puzzles: the measured ones, while all are kept out of training."""

from pathlib import Path
from typing import Any

import pytest
from scripted import few_held_out, few_train, scripted_run, write_puzzles

from selftrain.config import Config, PuzzlesConfig
from selftrain.config_file import load_config
from selftrain.errors import UsageError
from selftrain.files import read_json, read_rows
from selftrain.held_out import draw_measured, held_out_text
from selftrain.plan.counts import Lengths, Splits, assumed_rates, count_rounds
from selftrain.run import build
from selftrain.run_directory import RunDirectory

NAMES = [f"Puzzle_{number}" for number in range(20)]


def config(seed: int = 0, **puzzles: Any) -> Config:
    return Config(seed=seed, puzzles=PuzzlesConfig(**puzzles))


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> RunDirectory:
    """Measure two of four held-out puzzles, in a run of no rounds."""
    folder = tmp_path_factory.mktemp("sampled")
    train = write_puzzles(folder / "train.jsonl", few_train()[:6])
    settings = ["puzzles.num_held_out=2", "rounds=0", "evaluate.num_samples=2", "evaluate.k=[1]"]
    scripted_run(folder, tiny_model, [f"puzzles.train={train}", *settings])
    return RunDirectory(folder / "run")


def test_a_sample_keeps_the_order_and_is_drawn_by_the_seed() -> None:
    drawn = draw_measured(NAMES, config(num_held_out=5))
    assert len(drawn) == 5 and drawn == sorted(set(drawn), key=NAMES.index)
    assert drawn == draw_measured(NAMES, config(num_held_out=5))
    assert drawn != draw_measured(NAMES, config(seed=1, num_held_out=5))


def test_all_are_measured_unless_a_number_is_set() -> None:
    assert draw_measured(NAMES, config()) == NAMES


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(UsageError, match=r"puzzles\.num_held_out is 21, but builtin holds 20"):
        draw_measured(NAMES, config(num_held_out=21))


def test_a_run_measures_the_sample(sampled: RunDirectory) -> None:
    chosen = [puzzle.name for puzzle in draw_measured(few_held_out(), config(num_held_out=2))]
    rows = read_rows(sampled.round(0).evaluation)
    assert [row["name"] for row in rows] == chosen


def test_what_is_not_measured_is_kept_out_of_training_too(sampled: RunDirectory) -> None:
    x = build(load_config(sampled.config), sampled, few_train()[:6], few_held_out())
    assert len(x.measured) == 2
    assert x.nearness.names == [puzzle.name for puzzle in few_held_out()]


def test_run_json_and_the_report_say_how_many_of_how_many(sampled: RunDirectory) -> None:
    assert read_json(sampled.provenance)["measured"] == {"num_held_out": 4, "num_measured": 2}
    assert "2 of 4 held-out puzzles" in sampled.report_markdown.read_text()


def test_a_run_that_measures_all_names_one_number() -> None:
    all_of_them = {"measured": {"num_held_out": 228, "num_measured": 228}}
    assert held_out_text(228, all_of_them) == "228 held-out puzzles"
    assert held_out_text(10, all_of_them) == "10 of 228 held-out puzzles"
    assert held_out_text(10, {}) == "10 held-out puzzles"


def test_a_plan_counts_the_sample() -> None:
    splits = Splits(train=90, dev=0, held_out=228, same_type=5, most_same_type=9)
    lengths = Lengths(1000, 50, 500, 40, 500, 90)
    sample = config(num_held_out=10).model_copy(update={"rounds": 0})
    rates = assumed_rates(sample, 3.0)
    (base,) = count_rounds(sample, splits, lengths, rates, at_most=False)
    assert base.evaluations == 10 * (sample.evaluate.num_samples + 1)
