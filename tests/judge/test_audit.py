"""The audit: no known program is judged wrongly, and what would be an error is one."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from judge import Limits, Outcome
from judge.audit import Audited, Finding, KnownProgram, audit, compare, read_corpus

LIMITS = Limits(fuel=2_000_000_000)
"""A tenth of the default: endless loops end sooner, and no program of the corpus needs more."""
PROGRAMS = read_corpus()
KINDS = tuple(dict.fromkeys(program.kind for program in PROGRAMS))


@pytest.fixture(scope="module", params=["strict", "screen"])
def audited(request: pytest.FixtureRequest) -> Mapping[str, list[Audited]]:
    by_kind: dict[str, list[Audited]] = {kind: [] for kind in KINDS}
    for each in audit(PROGRAMS, LIMITS, num_workers=2, mode=request.param):
        by_kind[each.program.kind].append(each)
    return by_kind


@pytest.mark.parametrize("kind", KINDS)
def test_no_known_program_is_judged_wrongly(
    audited: Mapping[str, list[Audited]], kind: str
) -> None:
    wrong = [
        (each.finding.value, each.program.name, each.verdict.outcome.value, each.verdict.detail)
        for each in audited[kind]
        if each.finding is not Finding.right
    ]
    assert wrong == []


def test_a_third_of_the_corpus_must_be_accepted() -> None:
    accepted = sum(Outcome.passed in program.expected for program in PROGRAMS)
    assert len(PROGRAMS) >= 130
    assert accepted >= len(PROGRAMS) / 3


def test_no_two_programs_have_the_same_name_or_sources() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert len({(program.f, program.g) for program in PROGRAMS}) == len(PROGRAMS)


def test_the_corpus_travels_with_the_package() -> None:
    root = Path(__file__).parents[2]
    assert '"attacks.jsonl"' in (root / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("expected", "found", "finding"),
    [
        ({"passed"}, "passed", "right"),
        ({"raised", "forbidden"}, "forbidden", "right"),
        ({"raised"}, "passed", "false_accept"),
        ({"passed"}, "raised", "false_reject"),
        ({"passed", "syntax_error"}, "raised", "false_reject"),
        ({"raised"}, "timed_out", "wrong_reason"),
    ],
)
def test_an_error_has_its_name(expected: set[str], found: str, finding: str) -> None:
    assert compare(frozenset(map(Outcome, expected)), Outcome(found)) == finding


def test_an_audit_finds_the_errors_in_order() -> None:
    f, g = "def f(x: int): return x == 1", "def g(): return 1"
    expectations = [Outcome.passed, Outcome.raised]
    programs = [KnownProgram(e, "kind", f, g, frozenset({e})) for e in expectations]
    found = [each.finding for each in audit(programs, LIMITS)]
    assert found == [Finding.right, Finding.false_accept]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "JSONDecodeError"),
        ("[]", "TypeError"),
        ('{"name": "a", "kind": "b", "g": "", "expected": ["passed"]}', "KeyError: 'f'"),
        ('{"name": "a", "kind": "b", "f": "", "g": "", "expected": ["failed"]}', "'failed'"),
    ],
)
def test_a_line_that_is_no_program_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "attacks.jsonl"
    good = '{"name": "a", "kind": "b", "f": "", "g": "", "expected": ["no_g"]}'
    path.write_text(f"{good}\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"attacks\.jsonl, line 2: no known program") as caught:
        read_corpus(path)
    assert reason in str(caught.value)
