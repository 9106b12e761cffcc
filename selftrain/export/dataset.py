"""The parts of an exported dataset: which rows of a run, with which columns.

The held-out puzzles themselves stay out, lest somebody trains on them: their counts are there. A
row that holds one anyhow is left out; where the row tells why, only its texts are.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from selftrain.config import Config
from selftrain.export.held_out import TEXTS, HeldOut
from selftrain.export.parquet import Written, write_parquet
from selftrain.files import Row, read_rows
from selftrain.judge import NOT_JUDGED
from selftrain.run_directory import RoundDirectory, RunDirectory

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Part:
    """One configuration of the dataset, with one split."""

    name: str
    split: str
    what: str
    """What a row is, for the card."""
    columns: dict[str, str]
    """Type of each column, as pyarrow names it."""


PARTS = (
    Part(
        "examples",
        "train",
        "what the model was trained on: `prompt` + `completion` is the text",
        {
            "round": "int64", "name": "string", "index": "int64", "puzzle_id": "string",
            "prompt": "string", "completion": "string", "f": "string", "g": "string",
            "answer": "string", "num_attempts": "int64", "num_correct": "int64",
        },
    ),
    Part(
        "puzzles",
        "train",
        "a puzzle that the filter kept",
        {
            "round": "int64", "id": "string", "name": "string", "f": "string",
            "answer_type": "string", "inputs": "string", "category": "string", "family": "string",
            "origin": "string",
        },
    ),
    Part(
        "proposals",
        "train",
        "a completion that was to be a puzzle, and why it was rejected, where it was",
        {
            "round": "int64", "id": "string", "prompt_puzzles": "list", "text": "string",
            "finish_reason": "string", "num_tokens": "int64", "sum_logprob": "double",
            "f": "string", "puzzle_id": "string", "reason": "string", "detail": "string",
        },
    ),
    Part(
        "candidates",
        "train",
        "an attempt at a puzzle with its verdict; `passed` is null where it was not judged",
        {
            "round": "int64", "puzzle_id": "string", "index": "int64", "f": "string",
            "g": "string", "text": "string", "finish_reason": "string", "num_tokens": "int64",
            "sum_logprob": "double", "outcome": "string", "passed": "bool", "answer": "string",
            "detail": "string", "fuel": "int64",
        },
    ),
    Part(
        "removed",
        "train",
        "an example that was left out as too near to a held-out puzzle, with the reason",
        {
            "round": "int64", "name": "string", "index": "int64", "puzzle_id": "string",
            "f": "string", "g": "string", "held_out": "string", "reason": "string",
            "detail": "string",
        },
    ),
    Part(
        "evaluation",
        "test",
        "the counts of a held-out puzzle after a round, round 0 being the base model",
        {
            "round": "int64", "name": "string", "puzzle_id": "string", "family": "string",
            "category": "string", "difficulty": "string", "n": "int64", "num_correct": "int64",
            "greedy_passed": "bool",
        },
    ),
)  # fmt: skip


BLANKED = {"proposals", "removed"}
"""Parts whose rows stay without their texts, since they say why something was not kept."""


def write_dataset(
    run: RunDirectory, config: Config, number: int, folder: Path
) -> dict[str, Written]:
    """Write what led to the model of a round as a folder a part; say how much each one has.

    A part without rows has no file.
    """
    held_out = HeldOut(run.round(number))
    return {
        part.name: _write(part, _rows(run, config, number, part.name), held_out, folder)
        for part in PARTS
    }


def _write(part: Part, rows: Iterable[Row], held_out: HeldOut, folder: Path) -> Written:
    num_withheld = 0

    def shown() -> Iterator[Row]:
        nonlocal num_withheld
        for row in rows:
            if part.name == "evaluation" or not held_out.is_in(row):
                yield row
                continue
            num_withheld += 1
            if part.name in BLANKED:
                yield {**row, **dict.fromkeys(TEXTS)}

    written = write_parquet(folder / part.name, part.split, shown(), _schema(part))
    return replace(written, num_withheld=num_withheld)


def _schema(part: Part) -> "pa.Schema":
    import pyarrow as pa

    types = {"list": pa.list_(pa.string())}
    return pa.schema(
        [(name, types.get(kind) or pa.type_for_alias(kind)) for name, kind in part.columns.items()]
    )


def _rows(run: RunDirectory, config: Config, number: int, part: str) -> Iterator[Row]:
    if part == "examples":
        yield from examples(run, config, number)
        return
    for here in map(run.round, range(0 if part == "evaluation" else 1, number + 1)):
        for row in _read(_file(here, part)):
            spared = {"passed": None} if row.get("outcome") == NOT_JUDGED else {}
            yield {"round": here.number, **row, **(row.get("rejection") or {}), **spared}


def examples(run: RunDirectory, config: Config, number: int) -> Iterator[Row]:
    """Stream all that the model of a round has learnt from, earlier rounds' examples first."""
    if config.finetune.start == "base":
        yield from read_rows(run.round(number).examples)
        return
    for earlier in range(1, number + 1):
        yield from read_rows(run.round(earlier).examples)


def _file(here: RoundDirectory, part: str) -> Path:
    return {
        "puzzles": here.puzzles,
        "proposals": here.proposals,
        "candidates": here.candidates,
        "removed": here.removed,
        "evaluation": here.evaluation,
    }[part]


def _read(path: Path) -> Iterable[Row]:
    return read_rows(path) if path.exists() else ()
