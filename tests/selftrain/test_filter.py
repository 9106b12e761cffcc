"""The filter: every reason is given, in order of cost, and a resumed filter goes on alike."""

from collections.abc import Sequence

import pytest

from judge import Limits
from puzzles import Puzzle, puzzle_from_source
from puzzles.near import NearIndex
from puzzles.seen import Seen
from selftrain.config import FilterConfig, JudgeConfig
from selftrain.filter import (
    Filtered,
    filter_proposals,
    filtered_from_row,
    filtered_to_row,
    is_spared,
    kept_puzzles,
    remember,
)
from selftrain.judge import Judging
from selftrain.propose import Proposal
from selftrain.sampling import Completion, FinishReason

HELD_OUT = puzzle_from_source(
    "def f(x: int, nums=[4, 9, 1], total=170):\n    return x * max(nums) + sum(nums) - min(nums) == total",
    name="held-out",
)
TRAIN = puzzle_from_source("def f(x: int):\n    return x + 600 == 900", name="train")
LIMITS = Limits(fuel=2_000_000_000)

BY_REASON = {
    "syntax": "x: int):\n    return x +",
    "no_return": "x: int):\n    pass",
    "generator": "x: int):\n    yield x == 5",
    "signature": "x: int, y):\n    return x == y",
    "answer_type": "x: dict):\n    return x == {}",
    "answer_unused": "x: int, a=500):\n    return a == 500",
    "duplicate": "n: int):\n    return n + 600 == 900",
    "too_close": "x: int, nums=[4, 9, 1], total=170):\n    return x * max(nums) + sum(nums) - min(nums) >= total",
    "does_not_run": "x: int, a=1 / 0):\n    return x == a",
    "trivial": "x: int):\n    return x == 3",
}
"""A proposal for each reason that `filter` may give."""
KEPT = "x: int):\n    return x + 601 == 999"
ONLY_CONSTANTS = (
    "x: int, nums=[5, 8, 2], total=901):\n    return x * max(nums) + sum(nums) - min(nums) == total"
)


def proposals(texts: Sequence[str], start: int = 0) -> list[Proposal]:
    return [
        Proposal(
            f"001-{start + i:06d}",
            ("a", "b"),
            Completion(f"{text}\n\ndef", FinishReason.STOP, 9, -1.0),
        )
        for i, text in enumerate(texts)
    ]


def judging(num_workers: int = 1) -> Judging:
    return Judging(LIMITS, "strict", False, JudgeConfig(num_workers=num_workers))


def filtered(
    made: Sequence[Proposal], seen: Seen | None = None, num_workers: int = 1
) -> list[Filtered]:
    return list(
        filter_proposals(
            made,
            seen if seen is not None else Seen([TRAIN, HELD_OUT]),
            NearIndex([HELD_OUT]),
            FilterConfig(),
            judging(num_workers),
            0,
            advance=lambda _: None,
        )
    )


def reason(one: Filtered) -> str:
    return "" if isinstance(one.result, Puzzle) else one.result.reason


@pytest.mark.parametrize("expected", BY_REASON)
def test_a_proposal_is_rejected_for_its_reason(expected: str) -> None:
    (one,) = filtered(proposals([BY_REASON[expected]]))
    assert reason(one) == expected


@pytest.mark.parametrize("text", [KEPT, ONLY_CONSTANTS])
def test_a_new_puzzle_is_kept_under_its_number(text: str) -> None:
    (one,) = filtered(proposals([text]))
    assert isinstance(one.result, Puzzle)
    assert (one.result.name, one.result.origin) == ("001-000000", "round-001/000000")


def test_a_proposal_that_repeats_an_earlier_one_is_a_duplicate() -> None:
    renamed = KEPT.replace("x", "num")
    assert [reason(one) for one in filtered(proposals([KEPT, renamed]))] == ["", "duplicate"]


def test_a_repeated_trivial_proposal_is_not_judged_twice() -> None:
    trivial = BY_REASON["trivial"]
    assert [reason(one) for one in filtered(proposals([trivial, trivial]))] == [
        "trivial",
        "duplicate",
    ]


def test_workers_filter_alike_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*BY_REASON.values(), *(KEPT.replace("999", str(n)) for n in range(900, 980))]
    made = proposals([*texts, *texts])
    alone = filtered(made)
    assert [reason(one) for one in alone[: len(texts)]] == [*BY_REASON, *[""] * 80]
    assert [one.proposal for one in alone] == made
    monkeypatch.setattr("selftrain.filter._BATCH", 64)
    assert filtered(made, num_workers=2) == alone


def test_rows_rebuild_what_was_filtered() -> None:
    found = filtered(proposals([*BY_REASON.values(), KEPT]))
    assert [filtered_from_row(filtered_to_row(one)) for one in found] == found


def test_a_resumed_filter_goes_on_like_an_undisturbed_one() -> None:
    texts = [KEPT, BY_REASON["trivial"], BY_REASON["too_close"], BY_REASON["answer_unused"]]
    first, second = proposals(texts), proposals(texts[::-1], start=4)
    undisturbed = Seen([TRAIN, HELD_OUT])
    before = filtered(first, undisturbed)
    expected = filtered(second, undisturbed)
    resumed = Seen([TRAIN, HELD_OUT])
    remember(resumed, [filtered_from_row(filtered_to_row(one)) for one in before])
    found = filtered(second, resumed)
    assert found == expected
    assert [reason(one) for one in found] == [
        "answer_unused",
        "duplicate",
        "duplicate",
        "duplicate",
    ]
    assert len(resumed) == len(undisturbed)


def test_only_what_passed_every_check_is_kept() -> None:
    found = filtered(proposals([*BY_REASON.values(), KEPT]))
    assert [puzzle.f for puzzle in kept_puzzles(found)] == [f"def f({KEPT}"]


PAPER = FilterConfig(mode="paper")
SPARED = next(i for i in range(100) if is_spared(f"001-{i:06d}", 0))
CHECKED = next(i for i in range(100) if not is_spared(f"001-{i:06d}", 0))
NEAR = (
    "x: int, nums=[4, 9, 1], total=170):\n"
    "    return x * max(nums) + sum(nums) - min(nums) == total and x > 3"
)
NAME_ERROR = "x: int):\n    return x == 601 or nothing"


def as_released(text: str, start: int, seen: Seen | None = None) -> Filtered:
    """Filter one proposal, of the number `start`, as the paper's released code does."""
    (one,) = filter_proposals(
        proposals([text], start),
        seen if seen is not None else Seen([TRAIN]),
        NearIndex([HELD_OUT]),
        PAPER,
        judging(),
        0,
        advance=lambda _: None,
    )
    return one


@pytest.mark.parametrize(
    ("text", "checked", "spared"),
    [
        (BY_REASON["syntax"], "syntax", "syntax"),
        (BY_REASON["no_return"], "no_return", "no_return"),
        (BY_REASON["signature"], "signature", "signature"),
        (BY_REASON["duplicate"], "duplicate", "duplicate"),
        (BY_REASON["does_not_run"], "does_not_run", "does_not_run"),
        (BY_REASON["answer_type"], "answer_type", ""),
        (BY_REASON["answer_unused"], "answer_unused", ""),
        (BY_REASON["trivial"], "trivial", ""),
        ("x: bool):\n    return x == 2", "trivial", ""),
        (NAME_ERROR, "trivial", ""),
        (NEAR, "", ""),
        ("x):\n    return x == 3", "answer_type", "answer_type"),
    ],
)
def test_the_papers_mode_spares_some_the_last_checks(text: str, checked: str, spared: str) -> None:
    assert reason(as_released(text, CHECKED)) == checked
    assert reason(as_released(text, SPARED)) == spared


def test_our_mode_keeps_an_f_that_raises_a_name_error_and_drops_near_duplicates() -> None:
    assert [reason(one) for one in filtered(proposals([NAME_ERROR, NEAR]))] == ["", "too_close"]


def test_one_in_twenty_is_spared_and_another_seed_spares_others() -> None:
    ids = [f"001-{i:06d}" for i in range(4000)]
    spared = {name for name in ids if is_spared(name, 0)}
    assert 150 < len(spared) < 250
    assert spared != {name for name in ids if is_spared(name, 1)}


def test_a_resumed_filter_in_the_papers_mode_knows_what_was_spared() -> None:
    for text in (BY_REASON["answer_type"], NEAR, BY_REASON["does_not_run"]):
        resumed = Seen([TRAIN])
        remember(resumed, [filtered_from_row(filtered_to_row(as_released(text, SPARED)))])
        assert reason(as_released(text, SPARED, resumed)) == "duplicate"
