"""The report on contamination: removals by reason, and Pass@k on the part that nothing is near."""

from pathlib import Path

import pytest

from selftrain.files import Row, write_rows
from selftrain.report.blocks import Paragraph, Section, Table, Verbatim
from selftrain.report.contamination import contamination_section
from selftrain.report.reading import Round, Run
from selftrain.run_directory import RunDirectory

REMOVED = {
    "round": 1,
    "name": "001-000003",
    "prompt": "def f(x: int):\n    return x == 600\n\ndef g():",
    "completion": "\n    return 600\n\nassert f(g())",
    "answer": "600",
    "held_out": "p-1",
    "detail": "its answer solves the held-out p-1",
}


def evaluated(num_correct: int) -> tuple[Row, ...]:
    return tuple(
        {"name": f"p-{i}", "family": "", "n": 4, "num_correct": num_correct if i < 2 else 1}
        for i in range(6)
    )


def run_of(*rounds: Round) -> Run:
    return Run(0, 1, "tiny", 0.8, rounds, ())


METRICS = {"eval/pass@1": 0.5}
RUN = run_of(
    Round(0, METRICS, evaluated(0)), Round(1, METRICS | {"funnel/examples": 17}, evaluated(4))
)


def section(
    folder: Path, near: set[int], reasons: list[str], by_chance: int = 0, run: Run = RUN
) -> Section:
    directory = RunDirectory(folder)
    here = directory.round(1)
    write_rows(here.removed, [REMOVED | {"reason": reason} for reason in reasons])
    rows = [
        {
            "name": f"p-{i}",
            "near": "train puzzle t" if i in near else None,
            "reason": "it shares 64% of | runs" if i in near else None,
            "num_by_chance": int(i < by_chance),
        }
        for i in range(6)
    ]
    write_rows(here.near, rows)
    return contamination_section(run, directory)


def tables(made: Section) -> list[Table]:
    return [block for block in made.blocks if isinstance(block, Table)]


def test_removals_are_counted_by_reason_in_the_order_of_the_checks(tmp_path: Path) -> None:
    made = section(tmp_path, {0, 1}, ["behaviour", "text", "behaviour"])
    assert tables(made)[0].rows == (
        ("Same text", "1"),
        ("Solves the held-out puzzle", "2"),
        ("All removed", "3"),
        ("Kept", "17"),
    )


def test_pass_at_k_is_given_on_the_clean_part_with_its_number_of_puzzles(tmp_path: Path) -> None:
    parts = tables(section(tmp_path, {0, 1}, []))[1]
    assert [(row[0], row[1], row[2].split()[0]) for row in parts.rows] == [
        ("0 (base), all", "6", "16.7"),
        ("0 (base), nothing near", "4", "25.0"),
        ("0 (base), near", "2", "0.0"),
        ("1, all", "6", "50.0"),
        ("1, nothing near", "4", "25.0"),
        ("1, near", "2", "100.0"),
    ]


@pytest.mark.parametrize(
    ("near", "said"),
    [
        (set(), "So the whole held-out split is the part that nothing comes near."),
        (set(range(6)), "So there is no part that nothing comes near."),
    ],
)
def test_where_there_is_only_one_part_it_is_said(tmp_path: Path, near: set[int], said: str) -> None:
    made = section(tmp_path, near, [])
    assert said in [block.text for block in made.blocks if isinstance(block, Paragraph)]


def test_one_removed_example_a_check_is_shown_word_for_word(tmp_path: Path) -> None:
    made = section(tmp_path, set(), ["behaviour", "text", "behaviour"])
    shown = [block for block in made.blocks if isinstance(block, Verbatim)]
    assert [one.title for one in shown] == [
        "text: 001-000003, too near to p-1",
        "behaviour: 001-000003, too near to p-1",
    ]
    assert shown[0].passages[0].text == REMOVED["prompt"] + str(REMOVED["completion"])


def test_puzzles_that_behaviour_tells_nothing_of_are_counted(tmp_path: Path) -> None:
    made = section(tmp_path, set(), [], by_chance=2)
    said = [block.text for block in made.blocks if isinstance(block, Paragraph)]
    assert any(text.startswith("By behaviour nothing is told of 2 held-out") for text in said)


def test_a_run_that_trained_nothing_yet_says_so(tmp_path: Path) -> None:
    made = contamination_section(run_of(Round(0, METRICS, evaluated(0))), RunDirectory(tmp_path))
    assert made.blocks == (Paragraph("No round of self-training is complete yet."),)


def sampled(numbers: set[int]) -> Run:
    """Give the run as it is where only some of the held-out puzzles were measured."""
    rows = tuple(row for row in evaluated(4) if int(row["name"][2:]) in numbers)
    return run_of(Round(0, METRICS, rows), Round(1, METRICS | {"funnel/examples": 17}, rows))


def test_parts_have_the_puzzles_that_were_measured_and_no_others(tmp_path: Path) -> None:
    parts = tables(section(tmp_path, {0, 1}, [], run=sampled({0, 3, 4})))[1]
    assert [row[1] for row in parts.rows] == ["3", "2", "1", "3", "2", "1"]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({3, 4}, "So all that was measured is the part that nothing comes near."),
        ({0, 1}, "So there is no part that nothing comes near."),
    ],
)
def test_a_sample_of_one_part_alone_is_not_compared(
    tmp_path: Path, numbers: set[int], expected: str
) -> None:
    made = section(tmp_path, {0, 1}, [], run=sampled(numbers))
    assert Paragraph(expected) in made.blocks and len(tables(made)) == 2
