"""Probes: the calls that a critic asks for, read from its reply, and run in the judge's engine.

A call is kept where all its arguments are literals; what else a reply holds is not read, and
nothing is evaluated here. Each call meets the candidate in an instance of its own, with a task's
own limits. Hidden tests are not at hand here, so that no candidate can find them.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge import (
    Case,
    FunctionProblem,
    Limits,
    Outcome,
    TextProblem,
    Verdict,
    judge_function,
    judge_text,
    run,
)
from puzzles.syntax import SyntaxFailure, parse, unparse
from selftrain.judge import Judging
from selftrain.refine.critic.loose import texts_in
from selftrain.refine.critic.probe import Probe
from selftrain.refine.gate.evidence import within
from selftrain.refine.reasoning import without_reasoning
from selftrain.refine.tasks.task import Kind, RefineTask, whole_source
from selftrain.refine.texts import is_encodable
from selftrain.verifier.tasks.results import error_of, result_of, shown

RUN = "run"
"""What a program is called by: `run("standard input")`."""
MOST_CHARACTERS = 50_000
"""A longer reply holds no probes."""
MOST_CALL_CHARACTERS = 1_000
"""Longest source of a call."""
MOST_TRIES = 1_000
"""Places in a reply where a call is looked for."""
_PIECE = re.compile(
    r"'''|\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|#[^\n]*|[()]", re.DOTALL
)
_CALLED = """

if "g" in globals():
    _probed = g

    def g(**_):
        global g
        g = _probed  # for one that calls itself
        return {call}
"""


@dataclass(frozen=True, slots=True)
class _Program:
    """What is run for one call: all that the judge is given."""

    kind: Kind
    source: str
    """The candidate, whole; or a puzzle's f with a `g` that calls it."""
    call: str
    f: str | None
    """Source of a puzzle's f, on whose inputs its g is called."""
    limits: Limits


def read_probes(task: RefineTask, text: str, most: int) -> list[str]:
    """Find the first distinct calls in a reply, at most so many, each with literal arguments only.

    A function is called by its name, a program as `run("standard input")`, a puzzle by `g`, with
    the inputs that it is given or those of f where it is given none, or by `f`, which is public.
    A list in JSON, lines, a session of Python and code in a fence are all read alike.
    """
    reply = without_reasoning(text)
    if len(reply) > MOST_CHARACTERS:
        return []
    names = {Kind.puzzle: ("g", "f"), Kind.program: (RUN,)}.get(task.kind, (task.entry_point,))
    calls: dict[str, None] = {}
    # A string of JSON has escapes of its own, so it is read first, and where it holds calls, alone.
    for source in (*texts_in(reply), reply):
        if source is reply and calls:
            break
        for call in _calls(source, names):
            if task.kind is not Kind.program or _standard_input(call) is not None:
                calls[call] = None
    return list(calls)[:most]


def _calls(text: str, names: Sequence[str]) -> Iterator[str]:
    """Find calls of these names, one after another; one within another is not looked for."""
    named = "|".join(map(re.escape, names))
    head = re.compile(rf"(?<![\w.])(?:(def|class)[ \t]+)?(?:{named})[ \t]*\(")
    place = 0
    for _ in range(MOST_TRIES):
        found = head.search(text, place)
        if found is None:
            return
        end = _end(text, found.end())
        if end is None:
            place = found.end()
            continue
        place = end
        call = _literal_call(text[found.start() : end])
        if found[1] is None and call is not None:
            yield call


def _end(text: str, start: int) -> int | None:
    """Find where the bracket ends that opened before `start`, strings and comments aside."""
    depth = 1
    limit = start + MOST_CALL_CHARACTERS
    place = start
    while (piece := _PIECE.search(text, place, limit)) is not None:
        place = piece.end()
        if piece[0] in ("'''", '"""'):
            place = text.find(piece[0], place, limit) + 3
            if place == 2:
                return None
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        if depth == 0:
            return place
    return None


def _literal_call(source: str) -> str | None:
    """Write a call in one way; None where an argument is no literal, or it is none at all."""
    try:
        match parse(source).body:
            case [ast.Expr(ast.Call(ast.Name(), arguments, keywords) as call)]:
                values = [*arguments, *(keyword.value for keyword in keywords)]
                is_named = all(keyword.arg is not None for keyword in keywords)
                return unparse(call) if is_named and all(map(_is_literal, values)) else None
    except SyntaxFailure:
        pass
    return None


def _is_literal(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value):
            return value is not ...
        case ast.UnaryOp(ast.USub(), ast.Constant(value)):
            return isinstance(value, int | float | complex) and not isinstance(value, bool)
        case ast.List() | ast.Tuple() | ast.Set():
            return all(map(_is_literal, node.elts))
        case ast.Dict():
            return all(key is not None and _is_literal(key) for key in node.keys) and all(
                map(_is_literal, node.values)
            )
    return False


def _standard_input(call: str) -> str | None:
    """Give the one text that a program is run on; None where a call has anything else."""
    match parse(call).body:
        case [ast.Expr(ast.Call(_, [ast.Constant(str(given))], []))]:
            return given if is_encodable(given) else None
    return None


def run_probes(
    asked: Sequence[tuple[RefineTask, str, Sequence[str]]], judging: Judging, characters: int
) -> list[tuple[Probe, ...]]:
    """Run the calls of each task on its candidate's source, all in one batch.

    A result is the canonical literal of what came back, of a program what it wrote, or `ERROR:` and
    why; a longer one is shown by head and tail. Equal calls of equal programs are run once. Raises
    `judge.JudgeError`.
    """
    programs = [
        [_program(task, source, call, judging.limits) for call in calls]
        for task, source, calls in asked
    ]
    distinct = list(dict.fromkeys(program for some in programs for program in some))
    results = dict(zip(distinct, judging.call(_run, distinct), strict=True))
    return [
        tuple(Probe(program.call, shown(results[program], characters)) for program in some)
        for some in programs
    ]


def _program(task: RefineTask, source: str, call: str, limits: Limits) -> _Program:
    limits = within(task.time_limit_seconds, limits)
    whole = whole_source(task, source)
    if task.kind is not Kind.puzzle:
        return _Program(task.kind, whole, call, None, limits)
    assert task.puzzle is not None
    f = task.puzzle.f
    if call.startswith("f("):
        return _Program(task.kind, f"{f}\n\ndef g():\n    return {call}\n", call, None, limits)
    called = "" if call == "g()" else _CALLED.format(call=call)
    return _Program(task.kind, whole + called, call, f, limits)


def _run(program: _Program) -> str:
    """Run one program in instances of its own; this may be in a worker."""
    match program.kind:
        case Kind.puzzle:
            return result_of(run(program.source, program.f, program.limits))
        case Kind.program:
            given = _standard_input(program.call)
            assert given is not None
            problem = TextProblem((Case(given, ""),))
            return _result(judge_text(problem, program.source, program.limits))
        case Kind.function:
            # Called as hidden tests call it; the test is this call alone.
            name = program.call.partition("(")[0]
            test = f"def check({name}):\n    {program.call}\n"
            function = FunctionProblem("", name, test)
            return _result(judge_function(function, program.source, program.limits))


def _result(verdict: Verdict) -> str:
    if verdict.outcome in (Outcome.passed, Outcome.wrong_answer) and verdict.answer is not None:
        return verdict.answer
    return error_of(verdict.outcome, verdict.detail.removeprefix("case 1: "))
