"""The command `selftrain audit`: a row a kind, a line an error, and exit 1 where there is one."""

import pytest

from judge import Outcome
from judge.audit import KnownProgram
from selftrain import audit
from selftrain.cli import main

F = "def f(x: int): return x == 1"
RIGHT = KnownProgram("says one", "honest", F, "def g(): return 1", frozenset({Outcome.passed}))
FALSE_ACCEPT = KnownProgram(
    "says one anyway", "objects", F, "def g():\n    return 1", frozenset({Outcome.wrong_type})
)
FALSE_REJECT = KnownProgram(
    "says two", "honest", F, "def g(): return 2", frozenset({Outcome.passed})
)
WRONG_REASON = KnownProgram(
    "raises what a terminal obeys",
    "exits",
    F,
    "def g(): raise ValueError('\\x1b[2J\\ud800')",
    frozenset({Outcome.timed_out, Outcome.forbidden}),
)


def audited(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *programs: KnownProgram,
    mode: str = "strict",
) -> tuple[int, list[str]]:
    monkeypatch.setattr(audit, "read_corpus", lambda: list(programs))
    code = main(["audit", "--workers", "1", "--mode", mode])
    return code, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("mode", ["strict", "screen"])
def test_an_audit_without_errors_is_exit_0_and_only_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    assert audited(monkeypatch, capsys, RIGHT, mode=mode) == (
        0,
        [
            "kind    programs  right  false accepts  false rejects  wrong reason",
            "honest         1      1              0              0             0",
            "all            1      1              0              0             0",
        ],
    )


def test_each_error_has_a_line_and_the_audit_is_exit_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = (RIGHT, FALSE_ACCEPT, FALSE_REJECT, WRONG_REASON)
    assert audited(monkeypatch, capsys, *programs) == (
        1,
        [
            "false accept: objects, says one anyway: expected wrong_type, found passed",
            "false reject: honest, says two: expected passed,"
            " found wrong_answer (f returned False)",
            "wrong reason: exits, raises what a terminal obeys: expected forbidden or timed_out,"
            r" found raised (ValueError: \x1b[2J\ud800)",
            "kind     programs  right  false accepts  false rejects  wrong reason",
            "honest          2      1              0              1             0",
            "objects         1      0              1              0             0",
            "exits           1      0              0              0             1",
            "all             4      1              1              1             1",
        ],
    )


def test_a_number_of_workers_out_of_range_is_exit_2() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["audit", "--workers", "0"])
    assert caught.value.code == 2
