"""Filter: which proposals become puzzles (appendix C); the checks live in puzzles/.

`filter.mode: paper` filters as the paper's released code does, faults included, to compare with.
Equal proposals fall in both modes, by normal form, since two puzzles of one id would be one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from judge import Limits
from puzzles import Puzzle, Rejection, from_row, to_row
from puzzles.cut import cut_puzzle
from puzzles.filters import well_formed
from puzzles.near import NearIndex, too_close
from puzzles.reasons import Reason
from puzzles.seen import Seen
from puzzles.trivial import check_loads, check_trivial
from selftrain.config import FilterConfig
from selftrain.files import Format, Row
from selftrain.judge import Judging
from selftrain.prompts import propose_head
from selftrain.propose import Proposal, proposal_from_row, proposal_to_row
from selftrain.seeds import derive_seed

SKIPPED_SHARE = 0.05
"""Proposals that the released code spares the checks of type, use and triviality."""
_BATCH = 256
"""Proposals whose puzzles are asked about together, by all workers."""
_SEEN_BEFORE = (Reason.TOO_CLOSE, Reason.DOES_NOT_RUN, Reason.TRIVIAL)
"""Checks that come after a proposal was found to be new."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """A proposal and what became of it."""

    proposal: Proposal
    f: str | None
    """Source cut from the completion, where there was one."""
    result: Puzzle | Rejection
    """The puzzle, or the first check that it failed."""


def filter_proposals(
    proposals: Sequence[Proposal],
    seen: Seen,
    held_out: NearIndex,
    config: FilterConfig,
    judging: Judging,
    seed: int,
    *,
    advance: Callable[[int], object],
) -> Iterator[Filtered]:
    """Check proposals in order, the cheapest check first; `seen` learns what is new.

    `seed` is the run's: in the paper's mode it draws the proposals that are spared some checks.
    Raises `judge.JudgeError`.
    """
    # What is new is said by the order of the proposals, what is trivial by each alone.
    for start in range(0, len(proposals), _BATCH):
        some = proposals[start : start + _BATCH]
        read = [_read(proposal, seen, held_out, config, seed) for proposal in some]
        asked = [left for _, left in read if isinstance(left, _Asked)]
        answers = iter(list(judging.call(partial(_ask, judging.limits), asked)))
        for proposal, (f, left) in zip(some, read, strict=True):
            result = (next(answers) or left.puzzle) if isinstance(left, _Asked) else left
            yield Filtered(proposal, f, result)
            advance(1)


def is_spared(proposal_id: str, seed: int) -> bool:
    """Tell whether the paper's mode spares a proposal the checks of type, use and triviality."""
    return derive_seed(seed, "filter", proposal_id) < SKIPPED_SHARE * 2**63


@dataclass(frozen=True, slots=True)
class _Asked:
    """A puzzle that is well-formed and new, and what is still asked of its f."""

    puzzle: Puzzle
    what: Literal["trivial", "trivial_as_released", "loads"]


def _ask(limits: Limits, asked: _Asked) -> Rejection | None:
    """Let the judge have the last word on a puzzle; this may run in a worker."""
    if asked.what == "loads":
        return check_loads(asked.puzzle, limits)
    as_released = asked.what == "trivial_as_released"
    return check_trivial(asked.puzzle, limits, as_released=as_released)


def _read(
    proposal: Proposal, seen: Seen, held_out: NearIndex, config: FilterConfig, seed: int
) -> tuple[str | None, _Asked | Rejection]:
    """Cut f out of a proposal, and check what can be told without running it."""
    f = cut_puzzle(propose_head(len(proposal.prompt_puzzles)) + proposal.completion.text)
    if isinstance(f, Rejection):
        return None, f
    if config.mode == "paper":
        return f, _read_as_released(proposal, f, seen, spared=is_spared(proposal.id, seed))
    puzzle = well_formed(f, name=proposal.id, origin=_origin(proposal))
    if isinstance(puzzle, Rejection):
        return f, puzzle
    not_new = seen.add(puzzle) or too_close(
        puzzle, held_out, config.max_containment, same_shape_is_new=True
    )
    return f, not_new or _Asked(puzzle, "trivial")


def _read_as_released(
    proposal: Proposal, f: str, seen: Seen, *, spared: bool
) -> _Asked | Rejection:
    puzzle = well_formed(f, name=proposal.id, origin=_origin(proposal), any_answer=spared)
    if isinstance(puzzle, Rejection):
        return puzzle
    return seen.add(puzzle) or _Asked(puzzle, "loads" if spared else "trivial_as_released")


def _origin(proposal: Proposal) -> str:
    return f"round-{proposal.id.replace('-', '/', 1)}"


def remember(seen: Seen, filtered: Sequence[Filtered]) -> None:
    """Teach `seen` what an earlier pass over these proposals taught it.

    So a resumed run goes on as one that was never stopped.
    """
    for one in filtered:
        if isinstance(one.result, Puzzle):
            seen.add(one.result)
        elif one.f is not None and one.result.reason in _SEEN_BEFORE:
            # A spared one may have failed after it was noted, whatever the type of its answer.
            puzzle = well_formed(one.f, name=one.proposal.id, any_answer=True)
            assert isinstance(puzzle, Puzzle)
            seen.add(puzzle)


def kept_puzzles(filtered: Sequence[Filtered]) -> list[Puzzle]:
    """List the puzzles that passed every check."""
    return [one.result for one in filtered if isinstance(one.result, Puzzle)]


def filtered_to_row(filtered: Filtered) -> Row:
    """Flatten a filtered proposal into a row of its shard, with the whole puzzle if there is one.

    The proposals file has the same rows without the puzzle.
    """
    puzzle = to_row(filtered.result) if isinstance(filtered.result, Puzzle) else None
    rejection = filtered.result if isinstance(filtered.result, Rejection) else None
    return {
        **proposal_to_row(filtered.proposal),
        "f": filtered.f,
        "puzzle_id": puzzle["id"] if puzzle else None,
        "rejection": {"reason": rejection.reason, "detail": rejection.detail}
        if rejection
        else None,
        "puzzle": puzzle,
    }


def filtered_from_row(row: Row) -> Filtered:
    """Rebuild what `filtered_to_row` flattened."""
    result = (
        from_row(row["puzzle"])
        if row["puzzle"]
        else Rejection(Reason(row["rejection"]["reason"]), row["rejection"]["detail"])
    )
    return Filtered(proposal_from_row(row), row["f"], result)


FILTERED = Format("filter", filtered_to_row, filtered_from_row)
