"""Functions that tests describe, HumanEval's and MBPP's, as tasks of a verifier.

A verifier reads the description, the program, and what the program returned at each call that the
test makes, with its type: `[('int', 3), ('ValueError', None)]`. Never what the test expects, nor
whether it passed; that is the label alone. Of MBPP the tests themselves are shown to nobody.

Where a reference solution does not pass its own test, neither labels nor results are known, but for
those that the row gives: a test that raises by itself may end at what it expects, and so would the
calls. At which calls else, and that they don't depend on what is expected, is called.py's; how
MBPP's rows become problems, mbpp.py's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from judge import FunctionProblem, Outcome
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.humaneval import cut_function
from selftrain.judge import Judging
from selftrain.verifier.tasks.called import calls_in
from selftrain.verifier.tasks.candidates import Wording, everyone, with_candidates, with_gold
from selftrain.verifier.tasks.execute import run_all
from selftrain.verifier.tasks.literals import read
from selftrain.verifier.tasks.mbpp import mbpp_problem, signature, text_or_none
from selftrain.verifier.tasks.results import error_of
from selftrain.verifier.tasks.task import Candidate, Task
from selftrain.verifier.tasks.task_file import read_as_tasks
from selftrain.verifier.tasks.task_rows import text_of

RUN_CALLS = """
_source = {source!r}
_plain = (bool, int, float, complex, str, bytes, type(None))

def _is_plain(value, depth=0):
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return depth < 50 and all(_is_plain(item, depth + 1) for item in value)
    if kind is dict:
        return _is_plain(list(value), depth + 1) and _is_plain(list(value.values()), depth + 1)
    return kind in _plain

def _told(function, positional, keywords):
    try:
        value = function(*positional, **keywords)
    except Exception as error:
        # A size beyond 32 bits, for which a larger machine would want memory.
        is_huge = type(error) is OverflowError and "index-sized" in str(error)
        if is_huge or isinstance(error, MemoryError):
            raise
        return type(error).__name__, None
    return type(value).__name__, value if _is_plain(value) else None

def g():
    names = {{"__name__": "program"}}
    try:
        code = compile(_source, "<program>", "exec", dont_inherit=True)
    except BaseException as error:
        return "syntax_error", f"{{type(error).__name__}}: {{error}}"
    exec(code, names)
    if {name!r} not in names:
        return "no_g", "the source defines no {name}"
    return [_told(names[{name!r}], *call()) for call in [{calls}]]
"""
"""Calls a function in a module of its own, as `judge.judge_function` does: without the names that
the judge gives to puzzles, and with what the function keeps between calls."""


@dataclass(frozen=True, slots=True)
class FunctionTask:
    """A function that is to be written, and how it is tested."""

    task: Task
    """A program is a completion of HumanEval's prompt, or the whole source for MBPP."""
    problem: FunctionProblem
    """What judges a program; its prompt stands before each."""
    prompt: str
    """What a sampler goes on from."""
    head: str
    """What of that prompt belongs to the program; empty for HumanEval."""


def read_functions_as_tasks(
    path: Path, kind: Literal["humaneval", "mbpp"], split: str | None = None
) -> list[FunctionTask]:
    """Read the functions of a file in one of these formats (`.gz` too); raise UsageError.

    HumanEval's rows have `task_id`, `prompt`, `entry_point`, `test` and maybe
    `canonical_solution`; MBPP's `task_id`, `text` or `prompt`, `test_list`, and maybe `code`,
    `test_setup_code`, `test_imports`. Either may have candidates, family and split as in a task
    file.
    """
    made: dict[str, FunctionTask] = {}
    make = _humaneval if kind == "humaneval" else _mbpp

    def as_task(row: Row, where: str) -> Row:
        one = make(row, where)
        _refuse_surrogates(one.problem, where)
        made[one.task.task_id] = one
        return {
            "task_id": one.task.task_id,
            "task": one.task.task,
            "gold_program": one.task.gold_program,
        }

    read = read_as_tasks(path, split, as_task)
    return [replace(made[task.task_id], task=task) for _, task in read]


def _humaneval(row: Row, where: str) -> FunctionTask:
    start = text_of(row, "prompt", where, "the head of the function")
    name = text_of(row, "entry_point", where, "the name of the function")
    test = text_of(row, "test", where, "the source of check(candidate)")
    reference = text_or_none(row, "canonical_solution", where)
    task = Task(_task_id(row, where), start, (), gold_program=reference)
    try:
        return FunctionTask(task, FunctionProblem(start, name, test), start, "")
    except ValueError as error:
        raise UsageError(f"{where}: {error}.") from None


def _mbpp(row: Row, where: str) -> FunctionTask:
    key = "prompt" if "prompt" in row else "text"
    text = text_of(row, key, where, "what the function is to do")
    problem = mbpp_problem(row, where)
    code = text_or_none(row, "code", where)
    task = Task(_task_id(row, where), text, (), gold_program=code)
    head = signature(code, problem.entry_point)
    comment = "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())
    return FunctionTask(task, problem, problem.prompt + comment + head, head)


def _refuse_surrogates(problem: FunctionProblem, where: str) -> None:
    try:
        f"{problem.prompt}{problem.entry_point}{problem.test}".encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{where}: the test or what stands before it holds half a surrogate pair, which is no "
            "Python. Leave it out."
        ) from None


def _task_id(row: Row, where: str) -> str:
    """Give a task's id; MBPP's are numbers."""
    if type(row.get("task_id")) is int:
        return str(row["task_id"])
    return text_of(row, "task_id", where, "a name of its own")


def wording(function: FunctionTask) -> Wording:
    """Word a function as HumanEval's prompt, or as MBPP's description and head.

    An empty body is a program too.
    """
    prompt, head = function.prompt, function.head
    return Wording(prompt, lambda text: head + cut_function(prompt, text), head)


def execute(functions: Sequence[FunctionTask], judging: Judging) -> list[Task]:
    """Fill results and labels of candidates that are None, and gold results from references.

    What one program does, the others do not notice. Where the reference solution does not pass its
    own test, it is no gold program, and labels and results stay None; where no call is known,
    results do. Raises `judge.JudgeError`.
    """
    verdicts = _verdicts(functions, judging)
    references = [function.task.gold_program for function in functions]
    is_sound = [
        reference is None or verdicts[number, reference]
        for number, reference in enumerate(references)
    ]
    calls = [
        calls_in(function.problem, reference, judging.limits) if sound else []
        for function, reference, sound in zip(functions, references, is_sound, strict=True)
    ]
    results = _results(functions, calls, judging)

    def finish(number: int, function: FunctionTask) -> Task:
        def fill(task: Task, one: Candidate) -> Candidate:
            result = results.get((number, one.program)) if one.result is None else one.result
            label = one.label
            if label is None and is_sound[number]:
                label = verdicts[number, one.program]
            return replace(one, result=result, label=label)

        task = with_candidates(function.task, fill)
        result = results.get((number, references[number] or ""))
        return with_gold(task, result, is_right=is_sound[number])

    return [finish(number, function) for number, function in enumerate(functions)]


def _results(
    functions: Sequence[FunctionTask], calls: Sequence[Sequence[str]], judging: Judging
) -> dict[tuple[int, str], str]:
    """Run every program on its task's calls, where there are any; its key is task and program."""
    wanted: dict[tuple[int, str], str] = {}
    for number, function in enumerate(functions):
        task = function.task
        programs = [one.program for one in everyone(task) if one.result is None]
        if task.gold_program is not None:
            programs.append(task.gold_program)
        for program in programs if calls[number] else ():
            wanted[number, program] = _run_calls(function.problem, program, calls[number])
    ran = run_all([(source, None) for source in wanted.values()], judging)
    return {key: _as_result(result) for key, result in zip(wanted, ran, strict=True)}


def _run_calls(problem: FunctionProblem, program: str, calls: Sequence[str]) -> str:
    # Each call makes its arguments anew, so that no program changes those of the next call.
    fresh = ", ".join(f"lambda: {call}" for call in calls)
    source = problem.prompt + program
    return RUN_CALLS.format(source=source, name=problem.entry_point, calls=fresh)


def _as_result(result: str) -> str:
    """Turn what `g` says of a source that cannot be called into the error that it is."""
    for kind in (Outcome.syntax_error, Outcome.no_g):
        if result.startswith(f"('{kind}', "):
            told = read(result).content
            assert isinstance(told, tuple)
            return error_of(kind, str(told[-1].content))
    return result


def _verdicts(functions: Sequence[FunctionTask], judging: Judging) -> dict[tuple[int, str], bool]:
    """Judge every program whose label is not known, and every reference."""
    wanted: dict[tuple[int, str], FunctionProblem] = {}
    for number, function in enumerate(functions):
        task = function.task
        programs = [one.program for one in everyone(task) if one.label is None]
        if task.gold_program is not None:
            programs.append(task.gold_program)
        wanted.update({(number, program): function.problem for program in programs})
    judged = judging.judge_completions((problem, key[1]) for key, problem in wanted.items())
    return {key: verdict.passed for key, verdict in zip(wanted, judged, strict=True)}
