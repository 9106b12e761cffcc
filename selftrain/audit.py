"""The command `selftrain audit`: known attacks go through the judge, and the errors are printed.

What is an error is decided in judge/audit.py.
"""

from collections import Counter
from collections.abc import Sequence

from judge import Limits, Mode
from judge.audit import Audited, Finding, audit, read_corpus
from selftrain.progress import Progress
from selftrain.report.text_table import text_table

HEADINGS = ("kind", "programs", "right", "false accepts", "false rejects", "wrong reason")


def audit_judge(fuel: int, num_workers: int, mode: Mode) -> int:
    """Judge the corpus, print the errors and a row a kind; return 1 if there is any error."""
    programs = read_corpus()
    audited = []
    with Progress().stage("audit", len(programs)) as advance:
        for each in audit(programs, Limits(fuel=fuel), num_workers, mode=mode):
            advance(1)
            audited.append(each)
    wrong = [each for each in audited if each.finding is not Finding.right]
    for each in wrong:
        print(describe(each))
    print(table(audited))
    return 1 if wrong else 0


def describe(audited: Audited) -> str:
    """Say in one line what was expected and what was found."""
    program, verdict = audited.program, audited.verdict
    expected = " or ".join(sorted(program.expected))
    # A detail is a stranger's text: it may hold what a terminal obeys, or what cannot be encoded.
    detail = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in verdict.detail)
    found = f"{verdict.outcome} ({detail})" if detail else verdict.outcome
    label = audited.finding.replace("_", " ")
    return f"{label}: {program.kind}, {program.name}: expected {expected}, found {found}"


def table(audited: Sequence[Audited]) -> str:
    """Return a row of counts a kind, in the corpus's order, and their sum."""
    counts = Counter((each.program.kind, each.finding) for each in audited)
    total = Counter(each.finding for each in audited)
    kinds = dict.fromkeys(each.program.kind for each in audited)
    by_kind = [row(k, Counter({finding: counts[k, finding] for finding in Finding})) for k in kinds]
    return text_table([list(HEADINGS), *by_kind, row("all", total)])


def row(label: str, count: Counter[Finding]) -> list[str]:
    """Return the cells of a row; every Finding has a column, after their number."""
    return [label, f"{count.total():,}", *(f"{count[finding]:,}" for finding in Finding)]
