"""What a report says of a run's verifiers, from numbers written down here."""

from pathlib import Path
from typing import Any

from selftrain.files import Row, write_json
from selftrain.report.blocks import Paragraph, Table
from selftrain.report.rankers import meanings
from selftrain.report.reading import Round, Run
from selftrain.report.verifier import verifier_section
from selftrain.run_directory import RunDirectory


def estimate(value: float) -> Row:
    return {"value": value, "low": value - 0.1, "high": value + 0.1}


def choice(accuracy: float, efficiency: float, gain: float) -> Row:
    difference = {"difference": gain, "low": gain - 0.05, "high": gain + 0.05}
    return {
        "accuracy": estimate(accuracy),
        "efficiency": estimate(efficiency),
        "differences": {"LM sum": difference},
    }


def calibration(share: float, ece: float) -> Row:
    return {
        "share_right": estimate(share),
        "auroc": estimate(0.8),
        "auroc_within": None,
        "ece_equal_mass": estimate(ece),
        "nll": estimate(0.6),
    }


def calls(saved: float) -> Row:
    return {
        "num_candidates": 40,
        "num_kept": 12,
        "least_calls": 14,
        "saved": estimate(saved),
        "random_saved": estimate(0.3),
    }


def counts(num_puzzles: int, num_calls: int, num_not_judged: int) -> Row:
    return {
        "num_puzzles": num_puzzles,
        "num_programs": 50,
        "num_calls": num_calls,
        "num_not_judged": num_not_judged,
        "num_passed": 12,
        "fuel": 100_000_000,
    }


HELD_OUT: Row = {
    "num_tasks": 209,
    "num_samples": 16,
    "choices": {
        "random": choice(0.3, 0.0, -0.1),
        "LM sum": choice(0.4, 0.2, 0.0),
        "joint": choice(0.5, -0.25, 0.1),
        "joint with groups": choice(0.6, 0.75, 0.2),
        "oracle": choice(0.7, 1.0, 0.3),
    },
    "calibration": {"before": calibration(0.31, 0.2), "after": calibration(0.31, 0.05)},
}
OWN: Row = {
    "ranker": "joint with groups",
    "calls": {"joint with groups": calls(0.6), "LM sum": calls(0.5)},
    "earlier_calibration": {"before": calibration(0.4, 0.3), "after": calibration(0.4, 0.1)},
    "judged": {"whole": counts(10, 40, 0), "ordered": counts(30, 30, 10)},
}


def tables(folder: Path, *worth: Row) -> tuple[list[str], list[Table]]:
    """Give the paragraphs and tables about rounds 1, 2, ... of this worth."""
    directory = RunDirectory(folder)
    for number, found in enumerate(worth, start=1):
        write_json(directory.round(number).verifier_worth, {"reads": "value", **found})
    rounds: Any = tuple(Round(number, {}, ()) for number in range(len(worth) + 1))
    section = verifier_section(Run(0, len(worth), "m", 0.8, rounds, ()), directory)
    assert section is not None
    said = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    return said, [block for block in section.blocks if isinstance(block, Table)]


def test_the_choice_of_each_ranker_stands_beside_the_gap_that_is_closed(tmp_path: Path) -> None:
    _, (choices, closed, _) = tables(tmp_path, HELD_OUT)
    assert choices.columns == closed.columns == ("Ranker", "Round 1")
    assert dict(choices.rows) == {
        "random": "30.0 [20.0, 40.0]",
        "LM sum": "40.0 [30.0, 50.0]",
        "joint": "50.0 [40.0, 60.0]",
        "joint with groups": "60.0 [50.0, 70.0]",
        "oracle": "70.0 [60.0, 80.0]",
    }
    assert dict(closed.rows) == {
        "LM sum": "20.0 [10.0, 30.0]",
        "joint": "\u221225.0 [\u221235.0, \u221215.0]",
        "joint with groups": "75.0 [65.0, 85.0]",
        "joint with groups \u2212 LM sum, in points": "+20.0 [+15.0, +25.0]",
    }


def test_where_no_result_is_read_the_choice_is_without_groups(tmp_path: Path) -> None:
    _, (_, closed, _) = tables(tmp_path, {**HELD_OUT, "reads": "none"})
    assert closed.rows[-1] == ("joint \u2212 LM sum, in points", "+10.0 [+5.0, +15.0]")


def test_the_rankers_shown_are_defined_as_in_lever_evaluate(tmp_path: Path) -> None:
    said, _ = tables(tmp_path, HELD_OUT)
    assert meanings(list(HELD_OUT["choices"])) in said


def test_few_held_out_puzzles_are_warned_of(tmp_path: Path) -> None:
    said, _ = tables(tmp_path, {**HELD_OUT, "num_tasks": 29})
    assert "Intervals over fewer than 30 puzzles say little." in said


def test_where_no_order_can_save_a_call_it_is_said_in_place_of_zeros(tmp_path: Path) -> None:
    none = {ranker: {**calls(0), "least_calls": 40} for ranker in OWN["calls"]}
    said, found = tables(tmp_path, HELD_OUT, {**HELD_OUT, **OWN, "calls": none})
    assert not any("Order" in table.columns for table in found)
    assert any(text.startswith("In round 2 no order could save a call") for text in said)


def test_calls_saved_stand_beside_those_of_the_generators_order_and_of_chance(
    tmp_path: Path,
) -> None:
    _, found = tables(tmp_path, HELD_OUT, HELD_OUT | OWN)
    (saved,) = [table for table in found if table.columns == ("Order", "Round 2")]
    assert dict(saved.rows) == {
        "random order": "30.0 [20.0, 40.0]",
        "LM sum": "50.0 [40.0, 60.0]",
        "joint with groups": "60.0 [50.0, 70.0]",
        "right ones first": "65.0",
        "programs": "40",
        "pairs kept": "12",
    }
    assert "what is saved is calls of the checker f" in saved.note


def test_where_no_result_is_read_whole_judge_calls_are_saved(tmp_path: Path) -> None:
    _, found = tables(tmp_path, HELD_OUT, {**HELD_OUT, **OWN, "reads": "none"})
    (saved,) = [table for table in found if table.columns == ("Order", "Round 2")]
    assert "what is saved is whole judge calls, of g and f" in saved.note


def test_calls_in_fact_spared_are_told_of_puzzles_judged_in_order(tmp_path: Path) -> None:
    _, found = tables(tmp_path, HELD_OUT, HELD_OUT | OWN)
    (spared,) = [table for table in found if "Calls" in table.columns]
    assert spared.rows == (
        ("Round 2, judged whole", "10", "50", "40 (100.0%)", "12", "2.0"),
        ("Round 2, in the verifier's order", "30", "50", "30 (75.0%)", "12", "2.0"),
    )


def test_calibration_is_told_of_each_generators_candidates(tmp_path: Path) -> None:
    *_, table = tables(tmp_path, HELD_OUT, HELD_OUT | OWN)[1]
    assert [row[0] for row in table.rows] == [
        "Round 1: held-out puzzles, by its own verifier",
        "Round 2: its own puzzles, by the verifier of round 1",
        "Round 2: held-out puzzles, by its own verifier",
    ]
    assert table.rows[0][1:] == ("31.0", "0.800", "—", "20.0", "5.0", "0.600", "0.600")


def test_a_round_without_a_verifier_is_told(tmp_path: Path) -> None:
    said, found = tables(tmp_path, {})
    assert "Round 1 has no verifier" in said[0]
    assert found == []


def test_a_run_without_verifiers_has_no_such_section(tmp_path: Path) -> None:
    run = Run(0, 1, "m", 0.8, (Round(0, {}, ()), Round(1, {}, ())), ())
    assert verifier_section(run, RunDirectory(tmp_path)) is None
