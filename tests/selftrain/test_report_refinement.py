"""What a report says of refinement in rounds, by hand from metrics."""

import pytest

from selftrain.files import Row
from selftrain.report.blocks import ABSENT, Block, Paragraph, Section, Table
from selftrain.report.reading import Round, Run
from selftrain.report.refinement import refinement_section
from selftrain.report.stages import funnel_section
from selftrain.report.verbatim import read_attempts


def way(
    name: str, puzzles: int, solved: int, num_tokens: int, critic: int = 0, **stops: int
) -> dict[str, object]:
    """Write the metrics of a way by hand; a call has 100 tokens."""
    begin = f"refine/{name}"
    return {
        f"{begin}/puzzles": puzzles,
        f"{begin}/solved": solved,
        f"{begin}/examples": max(0, solved - 1),
        f"{begin}/calls": num_tokens // 100,
        f"{begin}/tokens": num_tokens,
        f"{begin}/critic_tokens": critic,
        f"{begin}/pairs_per_1000_tokens": 1000 * solved / num_tokens if num_tokens else None,
        **{f"{begin}/stop/{stop}": number for stop, number in stops.items()},
    }


def run_of(*metrics: Row) -> Run:
    rounds = [Round(number, one, ()) for number, one in enumerate(({}, *metrics))]
    return Run(0, len(metrics), "m", 0.8, tuple(rounds), ())


def section(*metrics: Row) -> Section:
    found = refinement_section(run_of(*metrics))
    assert found is not None
    return found


def table(found: Section, place: int) -> Table:
    tables = [block for block in found.blocks if isinstance(block, Table)]
    return tables[place]


def said(blocks: tuple[Block, ...]) -> str:
    return " ".join(block.text for block in blocks if isinstance(block, Paragraph))


FIRST = {
    **way("refined", 40, 10, 20_000, 15_000, gate_passed=10, iterations=30),
    **way("resampled", 20, 2, 40_000, gate_passed=2, tokens=18),
}
EMPTY = {**way("refined", 0, 0, 0), **way("resampled", 0, 0, 0)}


def test_a_run_that_refines_nothing_has_no_section() -> None:
    assert refinement_section(run_of({"funnel/solved": 3})) is None


def test_both_ways_stand_beside_each_other_with_wilsons_intervals() -> None:
    refined, drawn = table(section(FIRST), 0).rows
    # Wilson's interval of 10 of 40 is 14.2 to 40.2 percent, of 2 of 20 2.8 to 30.1.
    assert refined == (
        "Round 1, refined", "40", "10", "25.0 [14.2, 40.2]", "9", "20,000", "0.500 [0.284, 0.804]",
    )  # fmt: skip
    assert drawn == (
        "Round 1, drawn again", "20", "2", "10.0 [2.8, 30.1]", "1", "40,000",
        "0.050 [0.014, 0.151]",
    )  # fmt: skip


def test_a_round_in_which_all_was_solved_has_dashes() -> None:
    rows = table(section(EMPTY), 0).rows
    assert {(row[3], row[6]) for row in rows} == {(ABSENT, ABSENT)}
    assert table(section(EMPTY), 1).rows[0][3] == ABSENT


def test_calls_and_the_critics_part_are_shown() -> None:
    assert table(section(FIRST), 1).rows == (
        ("Round 1, refined", "200", "15,000 (75.0%)", "500"),
        ("Round 1, drawn again", "400", "0 (0.0%)", "2,000"),
    )


def test_reasons_are_counted_by_way() -> None:
    assert table(section(FIRST), 2).rows == (
        ("gate_passed", "10 (25.0%)", "2 (10.0%)"),
        ("iterations", "30 (75.0%)", "0 (0.0%)"),
        ("tokens", "0 (0.0%)", "18 (90.0%)"),
    )


def test_a_difference_is_claimed_only_where_the_exact_test_shows_one() -> None:
    # Fisher's two-sided p of 10/40 against 2/20 is 0.3044, of 20/40 against 0/20 below 0.0001.
    text = said(section(FIRST).blocks)
    assert "refinement solved 10 of 40 (0.500 pairs for 1,000 tokens)" in text
    assert "drawing again 2 of 20 (0.050 pairs for 1,000 tokens)" in text
    assert "could not be shown to differ by Fisher's exact test (p = 0.3044)" in text
    clear = {**way("refined", 40, 20, 20_000), **way("resampled", 20, 0, 40_000)}
    assert "solved differ by Fisher's exact test (p < 0.0001)" in said(section(clear).blocks)


def test_rounds_are_added_up_for_the_test() -> None:
    text = said(section(FIRST, FIRST, EMPTY).blocks)
    assert "refinement solved 20 of 80" in text
    assert len(table(section(FIRST, FIRST, EMPTY), 0).rows) == 6


@pytest.mark.parametrize("way_there", ["refined", "resampled"])
def test_with_one_way_alone_nothing_is_compared(way_there: str) -> None:
    one = {**EMPTY, **way(way_there, 40, 10, 20_000)}
    assert said(section(one).blocks) == ""


@pytest.mark.parametrize("refines", [True, False])
def test_the_funnel_says_what_else_is_among_the_solved(refines: bool) -> None:
    steps = ("completions", "parsed", "typed", "new", "non_trivial", "solved", "examples")
    metrics = {**{f"funnel/{step}": 9 for step in steps}, **(FIRST if refines else {})}
    note = table(funnel_section(run_of(metrics)), 0).note
    assert ("see Refinement" in note) is refines


def attempt(*, passed: bool, way: str = "") -> Row:
    row: Row = {"puzzle_id": "p", "g": "def g():\n    return 1", "passed": passed}
    return row | ({"way": way} if way else {})


def test_what_refinement_came_to_is_shown_and_counts_as_no_attempt() -> None:
    rows = [attempt(passed=False), attempt(passed=False), attempt(passed=True, way="critic")]
    (tried,) = read_attempts(rows, "puzzle_id")
    assert (tried.num_attempts, tried.num_passed, tried.is_solved) == (2, 0, True)
    assert tried.shown["way"] == "critic"
