"""What a row of a file of tasks must be, told in one sentence where it is not.

Other keys of a row are ignored; those of a candidate are refused, since a log-probability under
another name would be missed in silence. Not here: files (task_file.py), and whether a label is
right.
"""

import difflib
import json
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.verifier.tasks.results import is_error, result_key, shown
from selftrain.verifier.tasks.withheld import may_ask


def _encodable(text: str) -> str:
    """Raise ValueError, which pydantic turns into its own, where a text cannot be written."""
    text.encode()
    return text


_MOST_SAMPLES = 1_000_000
_Count = Annotated[int, Field(ge=1)]
_Text = Annotated[str, AfterValidator(_encodable)]
_Filled = Annotated[str, Field(pattern=r"\S"), AfterValidator(_encodable)]


class _Candidate(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    program: _Text
    sum_logprob: Annotated[float, Field(le=0)] | None = None
    num_tokens: _Count | None = None
    result: _Text | None = None
    label: bool | None = None
    num_samples: Annotated[int, Field(ge=1, le=_MOST_SAMPLES)] = 1


class _Task(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    task_id: _Filled
    task: _Filled
    candidates: list[_Candidate]
    greedy: _Candidate | None = None
    gold_program: _Text | None = None
    gold_result: _Text | None = None
    family: _Text | None = None
    split: _Text | None = None


_KEYS = list(_Candidate.model_fields)
_WANTED = {
    "task_id": "text that is not blank",
    "task": "text that is not blank",
    "candidates": "a list of objects",
    "greedy": "an object like a candidate, or null",
    "program": "the whole source, as text",
    "sum_logprob": "a sum of log-probabilities in nats, which is never above 0, or null",
    "num_tokens": "a whole number from 1, or null",
    "result": "a Python literal or 'ERROR: ...', as text, or null",
    "label": "true, false, or null where it is unknown",
    "num_samples": f"a whole number from 1 to {_MOST_SAMPLES:,}",
}


def check_row(row: Row, where: str) -> None:
    """Raise UsageError where a row is no task; `where` is its file and line."""
    place = f"{where}, task {row['task_id']!r}" if "task_id" in row else where
    try:
        _Task.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise UsageError(f"{place}: {_sentence(first)}") from None
    for key, candidate in _candidates(row):
        failed = candidate.get("label") and is_error(candidate.get("result"))
        # A program that asks its checker may be right, and fails where that is withheld.
        if failed and not may_ask(candidate["program"]):
            raise UsageError(
                f"{place}: {key}.label is true, but its result is an error. A program that returns "
                "nothing is never right: make the label false."
            )
    gold = row.get("gold_result")
    if gold is not None and result_key(gold) is None:
        raise UsageError(
            f"{place}: gold_result is {shown(gold, 60)!r}, which no program can return. Write a "
            "Python literal, with quotes of its own around text."
        )


def text_of(row: Row, key: str, where: str, wanted: str) -> str:
    """Give a text that a row of another format must have; `wanted` says what it is for.

    Raises UsageError.
    """
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        found = f"{key} is {value!r:.60}" if key in row else f"there is no {key!r}"
        raise UsageError(f"{where}: {found}. Give {wanted}, as text.")
    return value


def _candidates(row: Row) -> Iterator[tuple[str, Row]]:
    """Give each candidate of a row, and its name in messages."""
    yield from ((f"candidates[{i}]", one) for i, one in enumerate(row["candidates"]))
    if row.get("greedy"):
        yield "greedy", row["greedy"]


def _sentence(error: ErrorDetails) -> str:
    """Say what pydantic found, and what to do."""
    parts = error["loc"]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    key = key.removeprefix(".")
    name = str(parts[-1])
    if error["type"] == "missing":
        return f"there is no {key!r}. Give {_WANTED[name]}."
    if error["type"] == "extra_forbidden":
        close = difflib.get_close_matches(name, _KEYS, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"There is: {', '.join(_KEYS)}."
        return f"{key} is no key of a candidate. {hint}"
    if error["type"] in ("value_error", "string_unicode"):
        return f"{key} holds half a surrogate pair, which no tokenizer reads. Leave it out."
    # An item of `candidates` has a number for a name.
    wanted = _WANTED.get(name, "text, or null" if isinstance(parts[-1], str) else "an object")
    found = json.dumps(error["input"])  # ASCII: half a surrogate pair cannot be written
    return f"{key} is {shown(found, 60)}. Make it {wanted}."
