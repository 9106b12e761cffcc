"""What the verifier reads: a task, a program and its result, in one row of tokens.

    {task}

    {program}

    # {result}

The layout is one for all kinds of tasks and models. A label is no part of it, nor is a right
result, nor a likelihood. Segments are cut here, never by a tokenizer, which would cut the end,
where the result stands: the task gives way first, then the program; the result is shown shorter
only where it is longer than half a row. Every row ends in a new line, so that a decoder's head
reads at the same token whatever the result, and after all of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from selftrain.config import VerifierConfig
from selftrain.errors import UsageError
from selftrain.verifier.tasks.results import shown, type_of
from selftrain.verifier.tasks.task import Arm

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Segment = Literal["task", "program", "result"]
_Tokens = tuple[int, ...]

_BETWEEN, _BEFORE_RESULT, _END, _GAP = "\n\n", "# ", "\n", "\n...\n"
_RESULT_SHARE = 2
"""A result takes at most this part of a row: one half."""
_TASK_SHARE = 4
"""A task keeps at least this part of what the result leaves, one quarter, before a program is cut:
a verifier that reads none of the task has nothing to judge the program by."""
_MOST_CHARACTERS_A_TOKEN = 8
"""Of code and numbers; bounds what is tokenized of a result of megabytes."""


@dataclass(frozen=True, slots=True)
class Reads:
    """What a verifier reads of a candidate, besides the task."""

    results: Literal["value", "type", "none"]
    """The result's value, its type alone, or nothing of it."""
    programs: bool
    """Whether the program."""
    max_tokens: int
    """Tokens of a whole row, special ones included."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """One row of tokens, special ones included, not padded."""

    ids: tuple[int, ...]
    """The tokens; at most `Reads.max_tokens`."""
    cut: tuple[Segment, ...]
    """The segments of which something is left out."""


def reads_of(config: VerifierConfig, arm: Arm) -> Reads:
    """Give what the verifier of an arm reads. Raises UsageError where nothing of a candidate is."""
    results = {"no-execution": "none", "type-only": "type"}.get(arm, config.results)
    programs = config.programs and arm != "no-program"
    if results == "none" and not programs:
        raise UsageError(
            f"verifier: in the arm {arm} it reads neither programs nor results, so all candidates "
            "look alike. Set verifier.programs=true or verifier.results=value, or leave it out."
        )
    return Reads(results, programs, config.max_tokens)  # type: ignore[arg-type]


def read(
    tokenizer: "PreTrainedTokenizerBase", reads: Reads, task: str, program: str, result: str | None
) -> Encoded:
    """Lay out one candidate as the verifier reads it. A result of None is not known and not read.

    The name of a special token within a text is text.
    """
    fixed = _fixed(tokenizer)
    room = reads.max_tokens - fixed.num_tokens
    result_ids, result_cut = _result(tokenizer, reads, result, room // _RESULT_SHARE)
    room -= len(result_ids)
    task_ids = _encode(tokenizer, task)
    program_ids = _encode(tokenizer, program) if reads.programs else ()
    task_room = max(room - len(program_ids), room // _TASK_SHARE)
    short_task = _head_and_tail(task_ids, task_room, fixed.gap)
    short_program = _head_and_tail(program_ids, room - len(short_task), fixed.gap)

    ids = [*fixed.before, *short_task]
    if reads.programs:
        ids += [*fixed.between, *short_program]
    if result_ids:
        ids += [*fixed.between, *fixed.before_result, *result_ids]
    cut: list[Segment] = ["task"] * (short_task != task_ids)
    cut += ["program"] * (short_program != program_ids)
    cut += ["result"] * result_cut
    return Encoded((*ids, *fixed.end, *fixed.after), tuple(cut))


def shares_cut(rows: Sequence[Encoded]) -> dict[str, float]:
    """Give for each segment the share of rows in which something of it is left out."""
    segments: tuple[Segment, ...] = ("task", "program", "result")
    return {one: sum(one in row.cut for row in rows) / max(1, len(rows)) for one in segments}


def _result(
    tokenizer: "PreTrainedTokenizerBase", reads: Reads, result: str | None, room: int
) -> tuple[_Tokens, bool]:
    """Show a result in at most `room` tokens; tell whether something of it is left out."""
    if result is None or reads.results == "none":
        return (), False
    if reads.results == "type":
        ids = _encode(tokenizer, type_of(result))
        return _head_and_tail(ids, room, ()), len(ids) > room
    most = room * _MOST_CHARACTERS_A_TOKEN
    while True:
        text = shown(result, most) if len(result) > most else result
        ids = _encode(tokenizer, text)
        if len(ids) <= room:
            return ids, text != result
        fewer = min(len(text), most) * room // len(ids)
        if fewer < room // 4:  # a character takes several tokens, as in scripts a model never saw
            return _head_and_tail(ids, room, ()), True
        most = min(fewer, most - 1)


def _head_and_tail(ids: _Tokens, room: int, gap: _Tokens) -> _Tokens:
    """Leave out the middle of a segment that has more than `room` tokens.

    The head of a program names it and its tail returns; a task asks in its first and last words.
    """
    if len(ids) <= room:
        return ids
    left = max(0, room - len(gap))
    head = (left + 1) // 2
    return (*ids[:head], *gap, *ids[len(ids) - (left - head) :])[:room]


def _encode(tokenizer: "PreTrainedTokenizerBase", text: str) -> _Tokens:
    readable = text.encode("utf-8", "backslashreplace").decode()  # but for half surrogate pairs
    given = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}
    return tuple(tokenizer(readable, **given)["input_ids"])


@dataclass(frozen=True, slots=True)
class _Fixed:
    """The tokens of every row of one tokenizer."""

    before: _Tokens
    """Special ones before a text: RoBERTa's <s>."""
    between: _Tokens
    before_result: _Tokens
    end: _Tokens
    gap: _Tokens
    """What stands for tokens left out."""
    after: _Tokens
    """Special ones after a text: RoBERTa's and T5's </s>."""

    @property
    def num_tokens(self) -> int:
        """Count those of a row of three segments, none of them cut."""
        parts = (self.before, self.between, self.between, self.before_result, self.end, self.after)
        return sum(map(len, parts))


@lru_cache(maxsize=4)
def _fixed(tokenizer: "PreTrainedTokenizerBase") -> _Fixed:
    inner = list(_encode(tokenizer, "x"))
    whole: list[int] = list(tokenizer("x")["input_ids"])
    start = next(i for i in range(len(whole)) if whole[i : i + len(inner)] == inner)
    between, before_result, end, gap = (
        _encode(tokenizer, text) for text in (_BETWEEN, _BEFORE_RESULT, _END, _GAP)
    )
    before, after = tuple(whole[:start]), tuple(whole[start + len(inner) :])
    return _Fixed(before, between, before_result, end, gap, after)
