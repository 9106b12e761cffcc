"""The story of a proposal: what became of it, and all that it came from, down to the prompt.

Held-out puzzles have theirs in held_out.py; the prompts are rebuilt in origin.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selftrain.config import Config
from selftrain.difficulty import interval
from selftrain.files import Row
from selftrain.filter import is_spared
from selftrain.judge import NOT_JUDGED, is_attempt
from selftrain.run_directory import RoundDirectory, RunDirectory
from selftrain.why.find import Found, rounds_of, rows_with
from selftrain.why.origin import proposal_origin, solution_origin
from selftrain.why.refinement import refinement_lines, what_refinement_did
from selftrain.why.text import block, headed, short, table


@dataclass(frozen=True, slots=True)
class Fate:
    """All that a run knows of one proposal."""

    here: RoundDirectory
    """Its round."""
    proposal: Row
    candidates: Sequence[Row]
    """The attempts at it, in order, and what refinement came to."""
    refined: Row | None
    """How it was refined or drawn again, where no attempt solved it and rounds do that."""
    removed: dict[int, Row]
    """By attempt, what lay too near a held-out puzzle."""
    trained: dict[int, list[int]]
    """By attempt, the rounds that trained on it."""
    examples: dict[int, Row]
    """By attempt, the examples as trained on."""

    @property
    def attempts(self) -> list[Row]:
        """Give the attempts alone."""
        return [row for row in self.candidates if is_attempt(row)]

    @property
    def num_passed(self) -> int:
        """Count the attempts that passed."""
        return sum(row["passed"] for row in self.attempts)


def puzzle_story(run: RunDirectory, config: Config, found: Found) -> Iterator[str]:
    """Tell of one proposal, line by line; of one attempt at it where `found` names one."""
    fate = _fate(run, found)
    yield from _headline(fate)
    attempt = _attempt_shown(fate, found.attempt)
    if attempt is not None:
        yield from _attempt(fate, attempt)
    if fate.proposal["f"] is not None:
        yield from headed("Puzzle", block(fate.proposal["f"]))
    yield from _filter(fate, config)
    if fate.candidates:
        yield from _attempts(fate)
        yield from _difficulty(fate)
    if fate.refined is not None:
        yield from refinement_lines(fate.refined)
    yield from proposal_origin(run, config, fate.here, fate.proposal)
    if attempt is not None:
        yield from solution_origin(run, config, fate.here, attempt)


def _fate(run: RunDirectory, found: Found) -> Fate:
    assert found.round_number is not None, "of proposals only"
    here = run.round(found.round_number)
    (proposal,) = rows_with(here.proposals, "id", found.name)
    candidates: list[Row] = []
    removed: dict[int, Row] = {}
    trained: dict[int, list[int]] = {}
    examples: dict[int, Row] = {}
    refined: Row | None = None
    if found.puzzle_id is not None:
        candidates = list(rows_with(here.candidates, "puzzle_id", found.puzzle_id))
        refined = next(rows_with(here.refined, "puzzle_id", found.puzzle_id), None)
        removed = {row["index"]: row for row in rows_with(here.removed, "name", found.name)}
        for later in rounds_of(run):
            for row in rows_with(later.examples, "name", found.name):
                trained.setdefault(row["index"], []).append(later.number)
                examples[row["index"]] = row
    return Fate(here, proposal, candidates, refined, removed, trained, examples)


def _headline(fate: Fate) -> Iterator[str]:
    proposal = fate.proposal
    yield f"{proposal['id']}: {_what_became(fate)}"
    if proposal["puzzle_id"]:
        yield f"puzzle {proposal['puzzle_id']}"
    yield ""


def _what_became(fate: Fate) -> str:
    rejection = fate.proposal["rejection"]
    if rejection:
        return f"a proposal of round {fate.here.number} that was rejected ({rejection['reason']})"
    said = f"a puzzle of round {fate.here.number}"
    if not fate.candidates:
        return f"{said} that nothing was tried on"
    attempts = fate.attempts
    num_judged = sum(row["outcome"] != NOT_JUDGED for row in attempts)
    said += f"; {fate.num_passed} of {num_judged} attempts passed"
    if num_judged < len(attempts):
        said += f", {len(attempts) - num_judged} were not judged"
    if fate.refined is not None:
        said += f", then {what_refinement_did(fate.refined)}"
    return f"{said}, {len(fate.trained)} trained on"


def _attempt_shown(fate: Fate, asked: int | None) -> Row | None:
    """Give the attempt asked about, else the first that was trained on."""
    chosen = asked if asked is not None else min(fate.trained, default=None)
    return next((row for row in fate.candidates if row["index"] == chosen), None)


def _attempt(fate: Fate, row: Row) -> Iterator[str]:
    number = row["index"]
    example = fate.examples.get(number)
    if example is not None:
        text = example["prompt"] + example["completion"]
        yield from headed(f"Example (attempt {number}), as trained on", block(text))
    else:
        yield from headed(f"Attempt {number}, not trained on", block(row["g"] or row["text"]))
    verdict = [f"{row['outcome']}, {row['fuel']:,} instructions"]
    verdict += [f"answer: {short(row['answer'])}"] if row["answer"] is not None else []
    verdict += [f"detail: {short(row['detail'])}"] if row["detail"] else []
    yield from headed("Verdict", [*verdict, *_decontamination(fate, number)])


def _decontamination(fate: Fate, number: int) -> list[str]:
    if number in fate.removed:
        removed = fate.removed[number]
        near = f"near the held-out {removed['held_out']}"
        return [f"removed before training, {removed['reason']}, {near}: {removed['detail']}"]
    if number in fate.trained:
        rounds = ", ".join(map(str, fate.trained[number]))
        return [f"too near to no held-out puzzle; trained on in round {rounds}"]
    return []


def _filter(fate: Fate, config: Config) -> Iterator[str]:
    rejection = fate.proposal["rejection"]
    if rejection:
        said = [f"rejected, {rejection['reason']}: {rejection['detail']}"]
    elif not fate.proposal["prompt_puzzles"]:
        said = ["kept: well-formed; nothing else is asked of puzzles that are given"]
    elif config.filter.mode == "paper" and is_spared(fate.proposal["id"], config.seed):
        said = ["kept by filter.mode=paper, which spared it the checks of type and triviality"]
    else:
        said = [f"kept by every check of filter.mode={config.filter.mode}"]
    yield from headed("Filter", said)


def _attempts(fate: Fate) -> Iterator[str]:
    first: dict[str, int] = {}
    rows = []
    for row in fate.candidates:
        same = first.setdefault(row["g"], row["index"]) if row["g"] is not None else row["index"]
        became = f"same as {same}" if same != row["index"] else _became(fate, row)
        answer = short(row["answer"] if row["answer"] is not None else row["detail"] or None)
        number = str(row["index"]) if is_attempt(row) else f"{row['index']}, {row['way']}"
        rows.append((number, row["outcome"], f"{row['fuel']:,}", answer, became))
    head = ("attempt", "outcome", "fuel", "answer", "what became of it")
    yield from headed("Attempts", table(head, rows))


def _became(fate: Fate, row: Row) -> str:
    number = row["index"]
    if number in fate.trained:
        return f"trained on in round {', '.join(map(str, fate.trained[number]))}"
    if number in fate.removed:
        return f"removed, {fate.removed[number]['reason']}: near {fate.removed[number]['held_out']}"
    return "passed, not chosen" if row["passed"] else "not chosen"


def _difficulty(fate: Fate) -> Iterator[str]:
    """Give one minus the solve rate; a file of pairs tells of attempts that it does not hold.

    Where a verifier spared attempts their verdict, those judged tell no rate.
    """
    if fate.candidates[0].get("ordered", False):
        return
    example = next(iter(fate.examples.values()), None)
    total = example["num_attempts"] if example else len(fate.attempts)
    correct = example["num_correct"] if example else fate.num_passed
    low, high = interval(total - correct, total)
    said = f"{1 - correct / total:.2f} [{low:.2f}, {high:.2f}]: {correct} of {total} attempts right"
    yield from headed("Difficulty", [said])
