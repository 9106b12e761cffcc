"""Audits the judge: programs whose verdicts are known go through it, and each is compared.

The programs are in attacks.jsonl: attacks of every kind that we know, which must be rejected for
one of their reasons, and honest ones that look odd, which must be accepted. What zero errors say
is that these programs are judged rightly; never that no other attack exists. Nothing is printed
here.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from judge.many import judge_many
from judge.records import DEFAULT_LIMITS, Limits, Mode, Outcome, Verdict

CORPUS = Path(__file__).with_name("attacks.jsonl")
"""A program a line: {"name", "kind", "f", "g", "expected"}."""


class Finding(StrEnum):
    """What a verdict is worth, seen from the expected one."""

    right = "right"
    """The outcome is one of those expected."""
    false_accept = "false_accept"
    """It passed, and must not."""
    false_reject = "false_reject"
    """It did not pass, and must."""
    wrong_reason = "wrong_reason"
    """It was rejected, as it must be, but for another reason."""


@dataclass(frozen=True, slots=True)
class KnownProgram:
    """A pair whose verdict is known."""

    name: str
    """What it tries, in a few words; no two programs have the same."""
    kind: str
    """Which sort of attack it is, or `honest`."""
    f: str
    g: str
    expected: frozenset[Outcome]
    """The outcomes that are right; more than one where the reason is a matter of taste."""


@dataclass(frozen=True, slots=True)
class Audited:
    """A known program and what the judge said of it."""

    program: KnownProgram
    verdict: Verdict
    finding: Finding


def read_corpus(path: Path = CORPUS) -> list[KnownProgram]:
    """Read the programs in order; raise ValueError where a line is none."""
    programs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            expected = frozenset(Outcome(outcome) for outcome in row["expected"])
            programs.append(KnownProgram(row["name"], row["kind"], row["f"], row["g"], expected))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path}, line {number}: no known program ({type(error).__name__}: {error}). "
                "A line is an object of name, kind, f, g and expected, a list of outcomes"
            ) from error
    return programs


def audit(
    programs: Sequence[KnownProgram],
    limits: Limits = DEFAULT_LIMITS,
    num_workers: int = 1,
    *,
    mode: Mode = "strict",
) -> Iterator[Audited]:
    """Judge the programs in order; raise JudgeError if the judge cannot run."""
    pairs = [(program.f, program.g) for program in programs]
    verdicts = judge_many(pairs, limits, num_workers, mode=mode)
    for program, verdict in zip(programs, verdicts, strict=True):
        yield Audited(program, verdict, compare(program.expected, verdict.outcome))


def compare(expected: frozenset[Outcome], found: Outcome) -> Finding:
    """Say what an outcome is worth."""
    if found in expected:
        return Finding.right
    if found is Outcome.passed:
        return Finding.false_accept
    if Outcome.passed in expected:
        return Finding.false_reject
    return Finding.wrong_reason
