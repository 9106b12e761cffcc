"""What was said on the way, counted: right numbers worked out by hand."""

import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from refine.report.made import (
    EDIT,
    HELD,
    UNCHECKED,
    asked,
    config,
    first,
    folder,
    rejected,
    result,
    review,
    task,
    too_long,
)

from selftrain.errors import RunError
from selftrain.refine.critic.review import FieldVerdict, How
from selftrain.refine.directory import RefineDirectory
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.forward.wording import Wording
from selftrain.refine.gate.evidence import Evidence, GateReport, Status
from selftrain.refine.report.counting import NOTHING, Counts, begin, count_step, counts_to_row
from selftrain.refine.report.page import read_compared
from selftrain.refine.report.trace_tables import (
    MAX_NAMES,
    forward_table,
    invariants_table,
    rejections_table,
    reviews_table,
)
from selftrain.refine.trace import Fate, Role, Step


def counted(steps: Sequence[Step], wording: Wording = "message") -> Counts:
    counts = begin(["critic"])
    for step in steps:
        count_step(counts, step, task(step.task_id), wording)
    return counts


def update(number: int, **more: object) -> Step:
    given = {
        "task_id": "t0",
        "calls": {Role.forward: asked()},
        "candidate": Candidate("..."),
        **more,
    }
    return Step("critic", iteration=number, **given)  # type: ignore[arg-type]


REJECTED = [
    first(
        "critic", "t0", rejected(("imports", 0.25), ("examples", 2), held_seconds=0.5), Fate.current
    ),
    update(1, report=HELD, fate=Fate.best),
    update(2, report=rejected(("examples", 1)), fate=Fate.discarded),
    update(7, report=rejected(("examples", 1)), fate=Fate.discarded),
]


def test_rejections_are_counted_by_invariant_and_iteration_with_their_seconds() -> None:
    assert rejections_table(counted(REJECTED)).rows == (
        # 0.5 + 0.25 + 2 of the first, and 1 of each of the other two.
        ("critic: all of 4 checked", "1", "0", "1", "0", "1", "3", "2", "4.750"),
        ("critic: examples", "1", "0", "1", "0", "1", "3", "2", "4.000"),
        ("critic: imports", "1", "0", "0", "0", "0", "1", "0", "0.250"),
    )


def test_the_numbers_of_the_json_are_not_rounded_and_name_every_iteration() -> None:
    row = counts_to_row(counted(REJECTED))["arms"]["critic"]["by_invariant"]["examples"]
    assert row == {
        "by_iteration": {"0": 1, "2": 1, "7": 1},
        "total": 3,
        "num_discarded": 2,
        "seconds": 4.0,
    }


def test_a_candidate_of_which_nothing_could_be_evaluated_is_a_rejection_of_its_own() -> None:
    counts = counted([first("critic", "t0", UNCHECKED), first("critic", "t1", HELD)])
    assert counts.arms["critic"].by_invariant[NOTHING].by_iteration == {0: 1}
    row = counts_to_row(counts)
    assert row["unchecked"] == ["t0"]
    assert row["evaluated"] == {"num_tasks": 2, "least": 0, "median": 1.0}
    assert row["invariants"]["parses"] == {
        "held": 2,
        "failed": 0,
        "not_evaluated": 0,
        "num_tasks_vacuous": 1,
    }


def test_a_task_counts_with_its_candidate_of_which_most_was_evaluated() -> None:
    counts = counted(
        [
            first("critic", "t0", rejected()),
            update(1, report=HELD),
            first("critic", "t1", rejected()),
        ]
    )
    assert counts.evaluated == {"t0": 2, "t1": 1}
    assert not counts.unchecked


def test_many_declared_invariants_share_a_row_that_adds_them_up() -> None:
    names = [f"declared:{i:02}" for i in range(MAX_NAMES + 3)]
    counts = counted([first("critic", "t0", rejected(*((name, 1.0) for name in names)))])
    *_, rest = rejections_table(counts).rows
    assert rest == ("critic: (3 others)", "3", "0", "0", "0", "0", "3", "0", "3.000")
    # The same three, and `parses`, which held.
    assert invariants_table(counts.invariants).rows[-1] == ("(4 others)", "1", "3", "0", "0")


def test_reviews_are_counted_by_how_they_were_read() -> None:
    said = FieldVerdict.failed
    steps = [
        update(1, review=review(said, EDIT, EDIT, num_dropped=4), calls={Role.critic: asked()}),
        update(2, review=review(said, how=How.mended), calls={Role.critic: asked("length"), Role.forward: asked("length")}),
        update(3, review=review(said, how=How.nothing), calls={Role.critic: asked("content_filter")}),
        update(4, review=review(said, how=How.lines), calls={Role.probes: asked("length"), Role.critic: asked()}),
    ]  # fmt: skip
    # Read: 1 as JSON, 1 mended, 1 by lines, 1 not at all; one edit (twice the same), four dropped;
    # cut are one review and one reply about calls, the forward model's is not among them.
    assert reviews_table(counted(steps)).rows == (
        ("critic", "4", "1", "1", "1", "1", "1", "4", "2", "1", "0"),
    )


def test_replies_without_a_program_are_counted_by_the_reason() -> None:
    steps = [
        update(1, candidate=Candidate(None, "empty")),
        update(2, candidate=Candidate(None, "cut"), calls={Role.forward: asked("length")}),
        update(3, candidate=Candidate(None, "refused"), calls={Role.forward: asked("content_filter")}),
        update(4, candidate=Candidate(None, "cut"), calls={Role.forward: asked("length"), Role.critic: asked("length")}),
        update(5, candidate=Candidate("..."), calls={Role.forward: asked("length")}),
        update(6, candidate=None, calls={Role.critic: asked()}),
    ]  # fmt: skip
    table = forward_table(counted(steps, "continue"))
    assert dict(zip(table.columns, table.rows[0], strict=True)) == {
        "Arm": "critic",
        "Replies": "5",
        "No program: cut": "2",
        "No program: empty": "1",
        "No program: refused": "1",
        "Cut": "3",
        "Refused": "1",
        "Too long": "0",
        "Proofs asked": "0",
        "Given": "0",
        "Missing": "0",
    }


def test_prompts_that_were_never_sent_are_no_replies_and_ask_for_no_proof() -> None:
    counts = counted(
        [
            update(1, candidate=Candidate(None, "prompt_too_long"), calls={Role.forward: too_long()}),
            update(2, candidate=None, review=review(FieldVerdict.unknown, how=How.nothing), calls={Role.critic: too_long()}),
        ]
    )  # fmt: skip
    assert forward_table(counts).rows == (("critic", "0", "0", "0", "1", "0", "0", "0"),)
    assert reviews_table(counts).rows == (
        ("critic", "0", "0", "0", "0", "0", "0", "0", "0", "0", "1"),
    )


def test_declared_invariants_are_cut_last() -> None:
    names = [f"declared:{i:02}" for i in range(MAX_NAMES - 1)]
    steps = [update(i, report=rejected(("imports", 1), ("examples", 1))) for i in (1, 2)]
    counts = counted([*steps, update(3, report=rejected(*((name, 1) for name in names)))])
    shown = [row[0] for row in invariants_table(counts.invariants).rows]
    assert shown == ["parses", *names, "(2 others)"]
    shown = [row[0] for row in rejections_table(counts).rows]
    assert shown[1:] == ["critic: examples", *(f"critic: {n}" for n in names), "critic: (1 others)"]


def test_what_no_task_gives_anything_to_check_by_has_no_row_unless_it_is_declared() -> None:
    nothing = [Evidence(name, Status.not_evaluated) for name in ("solved", "declared:x")]
    report = GateReport((Evidence("parses", Status.held), *nothing))
    shown = invariants_table(counted([update(1, report=report)]).invariants).rows
    assert [row[0] for row in shown] == ["declared:x", "parses"]


def test_proofs_that_a_message_asks_for_and_a_reply_lacks_are_missing() -> None:
    # Asked a reply: signature, imports, streams, examples. Blank ones and others do not count.
    proofs = (
        ("signature", "two of them"),
        ("signature", "again"),
        ("imports", " "),
        ("beauty", "yes"),
    )
    row = counts_to_row(counted([update(1, candidate=Candidate("...", proofs=proofs)), update(2)]))
    assert row["arms"]["critic"]["proofs"] == {"asked": 8, "given": 1, "missing": 7}


def test_a_trace_of_other_tasks_is_refused(tmp_path: Path) -> None:
    done = folder(tmp_path, [result("critic", "t0", True)], [first("critic", "another", HELD)])
    with pytest.raises(RunError, match=r"trace.jsonl: task 'another' in the arm critic is none of"):
        read_compared(done, config("critic"), [task("t0")])


def test_memory_does_not_grow_with_the_trace(tmp_path: Path) -> None:
    some = [task("t0"), task("t1")]

    def made(num_steps: int) -> RefineDirectory:
        path = tmp_path / str(num_steps)
        path.mkdir()
        steps = (
            update(i, task_id=f"t{i % 2}", edits=(EDIT,), candidate=Candidate("x" * 20000), report=rejected(("examples", 1)))
            for i in range(num_steps)
        )  # fmt: skip
        return folder(path, [result("critic", one.task_id, True) for one in some], list(steps))

    def peak(directory: RefineDirectory) -> int:
        tracemalloc.start()
        read_compared(directory, config("critic"), some)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    read_compared(made(1), config("critic"), some)  # So that imports are not measured.
    assert peak(made(150)) < peak(made(20)) + 130 * 2000
