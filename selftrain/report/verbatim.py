"""What the models wrote, word for word: numbers alone never show a model gaming a judge.

Rows are streamed and drawn by a seeded reservoir, so memory does not grow with a run. Candidates of
one puzzle lie together in their file, and are read as one group. All text is hostile: it is made
visible and shortened here, and escaped where it is set.
"""

import random
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, TypeVar

from selftrain.evaluate import GREEDY
from selftrain.files import Row
from selftrain.judge import is_attempt
from selftrain.report.blocks import Block, Heading, Paragraph, Passage, Section, Verbatim, plain
from selftrain.report.reading import Run, rows_if_written
from selftrain.run_directory import RoundDirectory, RunDirectory
from selftrain.seeds import derive_seed

MAX_CHARACTERS = 1_500
MAX_LINES = 40
MAX_TITLE = 120
NUM_SHOWN = 5


Item = TypeVar("Item")


class Reservoir(Generic[Item]):
    """Keep `size` items of a stream, each with the same chance (algorithm R, Vitter 1985)."""

    def __init__(self, size: int, seed: int) -> None:
        self.kept: list[Item] = []
        self._size = size
        self._num_seen = 0
        self._random = random.Random(seed)

    def add(self, item: Item) -> None:
        """Take the next item of the stream, and keep it or not."""
        self._num_seen += 1
        if len(self.kept) < self._size:
            self.kept.append(item)
            return
        place = self._random.randrange(self._num_seen)
        if place < self._size:
            self.kept[place] = item


@dataclass(frozen=True, slots=True)
class Tried:
    """All candidates of one puzzle, of which one is shown."""

    shown: Row
    """The shortest that passed; where none did, the first."""
    num_attempts: int
    """How many there were; what refinement came to is none."""
    num_passed: int
    """How many passed."""

    @property
    def is_solved(self) -> bool:
        """Tell whether a candidate passed, an attempt or what refinement came to."""
        return bool(self.shown["passed"])


def verbatim_section(run: Run, directory: RunDirectory) -> Section:
    """Draw puzzles, proposals and candidates from the last rounds that have them."""
    rounds = [directory.round(number) for number in range(run.num_rounds + 1)]
    proposed = _last([round_ for round_ in rounds if round_.proposals.exists()])
    tried = _last([round_ for round_ in rounds if round_.candidates.exists()])
    evaluated = _last([round_ for round_ in rounds if round_.evaluation_candidates.exists()])
    blocks: list[Block] = []
    if tried:
        blocks += _puzzles(tried, run.seed)
    if proposed:
        blocks += _rejected(proposed, run.seed)
    if evaluated:
        blocks += _held_out(evaluated, run.seed)
    return Section("Verbatim", tuple(blocks or [Paragraph("No model has written anything yet.")]))


def passage(label: str, text: str) -> Passage:
    """Shorten a text, and spell out what cannot be seen in it."""
    lines = text[:MAX_CHARACTERS].split("\n")
    kept = "\n".join(lines[:MAX_LINES])
    note = (
        f"Shortened: {len(kept):,} of {len(text):,} characters are shown."
        if len(kept) < len(text)
        else ""
    )
    return Passage(label, visible(kept), note)


def visible(text: str) -> str:
    """Spell as escapes what shows nothing, and lone surrogates; keep newline and tab."""
    return "".join(
        character
        if character in "\n\t" or _shows(character)
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def _shows(character: str) -> bool:
    return unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def read_attempts(rows: Iterable[Row], key: str) -> Iterator[Tried]:
    """Group the candidates of each puzzle, which lie together, while they stream by."""
    for _, group in groupby(rows, key=lambda row: row[key]):
        shown: Row = {}
        num_attempts = num_passed = 0
        for row in group:
            num_attempts += is_attempt(row)
            num_passed += row["passed"] and is_attempt(row)
            if not shown or (
                row["passed"] and (not shown["passed"] or _length(row) < _length(shown))
            ):
                shown = row
        yield Tried(shown, num_attempts, num_passed)


def _length(row: Row) -> int:
    return len(row["g"] or row["text"])


def _last(rounds: list[RoundDirectory]) -> RoundDirectory | None:
    return rounds[-1] if rounds else None


def _puzzles(directory: RoundDirectory, seed: int) -> list[Block]:
    place = (directory.number, "report")
    solved: Reservoir[Tried] = Reservoir(NUM_SHOWN, derive_seed(seed, *place, "solved"))
    unsolved: Reservoir[Tried] = Reservoir(NUM_SHOWN, derive_seed(seed, *place, "unsolved"))
    for attempts in read_attempts(rows_if_written(directory.candidates), "puzzle_id"):
        (solved if attempts.is_solved else unsolved).add(attempts)
    return [
        Heading(f"Accepted puzzles of round {directory.number}, each with its shortest solution"),
        *_or_none([_attempts(attempts, attempts.shown["puzzle_id"]) for attempts in solved.kept]),
        Heading(
            f"Puzzles of round {directory.number} kept and not solved, each with its first attempt"
        ),
        *_or_none([_attempts(attempts, attempts.shown["puzzle_id"]) for attempts in unsolved.kept]),
    ]


def _rejected(directory: RoundDirectory, seed: int) -> list[Block]:
    by_reason: dict[str, Reservoir[Row]] = {}
    for row in rows_if_written(directory.proposals):
        if row["rejection"] is not None:
            reason = row["rejection"]["reason"]
            if reason not in by_reason:
                by_reason[reason] = Reservoir(
                    1, derive_seed(seed, directory.number, "report", "rejected", reason)
                )
            by_reason[reason].add(row)
    shown = []
    for reason in sorted(by_reason):
        row = by_reason[reason].kept[0]
        what = (
            passage("completion", row["text"]) if row["f"] is None else passage("puzzle", row["f"])
        )
        detail = row["rejection"]["detail"]
        shown.append(Verbatim(_title(f"{reason}: {row['id']}"), (what, *_given("detail", detail))))
    return [
        Heading(f"Rejected proposals of round {directory.number}, one a reason"),
        *_or_none(shown),
    ]


def _held_out(directory: RoundDirectory, seed: int) -> list[Block]:
    right: Reservoir[Tried] = Reservoir(
        NUM_SHOWN, derive_seed(seed, directory.number, "report", "right")
    )
    wrong: dict[str, Reservoir[Row]] = {}
    everything = rows_if_written(directory.evaluation_candidates)
    sampled = (row for row in everything if row["index"] != GREEDY)
    for attempts in read_attempts(_noting_wrong(sampled, wrong, seed), "name"):
        if attempts.num_passed:
            right.add(attempts)
    failed = [(outcome, wrong[outcome].kept[0]) for outcome in sorted(wrong)]
    return [
        Heading(f"Right candidates for held-out puzzles, round {directory.number}"),
        *_or_none([_attempts(attempts, attempts.shown["name"]) for attempts in right.kept]),
        Heading(f"Wrong candidates for held-out puzzles, round {directory.number}, one an outcome"),
        *_or_none(
            [Verbatim(_title(f"{outcome}: {row['name']}"), _pair(row)) for outcome, row in failed]
        ),
    ]


def _noting_wrong(
    rows: Iterable[Row], wrong: dict[str, Reservoir[Row]], seed: int
) -> Iterator[Row]:
    """Pass rows on, and keep one of each outcome but passed."""
    for row in rows:
        if not row["passed"]:
            outcome = row["outcome"]
            if outcome not in wrong:
                wrong[outcome] = Reservoir(1, derive_seed(seed, "report", "wrong", outcome))
            wrong[outcome].add(row)
        yield row


def _attempts(attempts: Tried, name: str) -> Verbatim:
    fate = f"{attempts.num_passed} of {attempts.num_attempts} attempts passed"
    if attempts.is_solved and not attempts.num_passed:
        fate += f", this came after them, by {attempts.shown['way']}"
    elif not attempts.num_passed:
        fate += f", this one is {attempts.shown['outcome']}"
    return Verbatim(_title(f"{name}: {fate}"), _pair(attempts.shown))


def _pair(row: Row) -> tuple[Passage, ...]:
    label = "solution" if row["passed"] else "candidate"
    what = passage("completion", row["text"]) if row["g"] is None else passage(label, row["g"])
    return (
        passage("puzzle", row["f"]),
        what,
        *_given("answer", row["answer"]),
        *_given("detail", row["detail"]),
    )


def _given(label: str, text: str | None) -> tuple[Passage, ...]:
    return (passage(label, text),) if text else ()


def _title(text: str) -> str:
    spelt = visible(plain(text))
    return spelt if len(spelt) <= MAX_TITLE else f"{spelt[: MAX_TITLE - 1]}…"


def _or_none(shown: list[Verbatim]) -> list[Block]:
    return [*shown] if shown else [Paragraph("None.")]
