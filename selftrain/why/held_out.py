"""The story of a held-out puzzle: how each round did on it, and what in training comes near it."""

from collections.abc import Iterator

from selftrain.errors import RunError
from selftrain.evaluate import GREEDY
from selftrain.files import Row
from selftrain.run_directory import RunDirectory
from selftrain.why.find import Found, rounds_of, rows_with
from selftrain.why.text import block, headed, short, table


def held_out_story(run: RunDirectory, found: Found) -> Iterator[str]:
    """Tell of one held-out puzzle, line by line."""
    evaluated = [
        (here, row)
        for here in rounds_of(run)
        for row in rows_with(here.evaluation, "name", found.name)
    ]
    last, row = evaluated[-1]
    candidates = list(rows_with(last.evaluation_candidates, "name", found.name))
    if not candidates:
        raise RunError(
            f"{last.evaluation_candidates}: has no candidate for {found.name}, which was "
            "evaluated. The run directory is damaged; put the file back."
        )
    kinds = [f"{key} {row[key]}" for key in ("family", "category", "difficulty") if row[key]]
    yield f"{found.name}: held-out puzzle {found.puzzle_id}" + "".join(f", {k}" for k in kinds)
    yield ""
    yield from headed("Puzzle", block(candidates[0]["f"]))
    scores = [(str(here.number), *_score(row)) for here, row in evaluated]
    yield from headed("Score", table(("round", "right", "greedy"), scores))
    yield from headed(
        f"Candidates of round {last.number}",
        table(("attempt", "outcome", "fuel", "answer"), [_cells(row) for row in candidates]),
    )
    if found.attempt is not None:
        yield from _attempt(candidates, found.attempt)
    yield from headed(
        "Nearest in training",
        [
            f"round {here.number}: {_near(near)}"
            for here in rounds_of(run)
            for near in rows_with(here.near, "name", found.name)
        ]
        or ["nothing was trained on yet"],
    )


def _score(row: Row) -> tuple[str, str]:
    greedy = {True: "right", False: "wrong", None: "-"}[row["greedy_passed"]]
    return f"{row['num_correct']} of {row['n']}", greedy


def _cells(row: Row) -> tuple[str, ...]:
    attempt = "greedy" if row["index"] == GREEDY else str(row["index"])
    answer = row["answer"] if row["answer"] is not None else row["detail"]
    return attempt, row["outcome"], f"{row['fuel']:,}", short(answer or None)


def _attempt(candidates: list[Row], attempt: int) -> Iterator[str]:
    for row in candidates:
        if row["index"] == attempt:
            yield from headed(f"Attempt {attempt}", block(row["g"] or row["text"]))


def _near(near: Row) -> str:
    said = f"{near['near']}: {near['reason']}" if near["near"] else "nothing comes near it"
    if near["num_by_chance"]:
        said += f" ({near['num_by_chance']:,} examples solve it, as unrelated answers do)"
    return said
