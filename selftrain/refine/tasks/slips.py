"""Slips in a file of tasks, found by reading alone: a wrong key, test, call or module.

Each would otherwise look like a fault of every candidate. What only a run can show, such as a test
that expects the wrong answer, is not found here. Nothing is run.
"""

import ast
import builtins
import difflib
import inspect
import re
import symtable
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType

from puzzles.syntax import digit_limit_lifted
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.refine.tasks.calls import expression
from selftrain.refine.tasks.task import Kind, RefineTask

OTHER_WORDS = {
    "tag": "category",
    "tags": "category",
    "topic": "category",
    "level": "difficulty",
    "timeout": "time_limit_seconds",
    "timeout_seconds": "time_limit_seconds",
    "modules": "allowed_imports",
    "properties": "invariants",
    "sample_cases": "public_cases",
    "public_examples": "examples",
}
"""What other formats call what a row of one's own may say."""
_BINDS_ANY = re.compile(r"\bimport[ \t]*\*")
ALWAYS_THERE = {*dir(builtins), "__name__", "__file__", "__doc__", "__annotations__"}


def refuse_slips(row: Row, keys: Sequence[str], ignored: Sequence[str], where: str) -> None:
    """Raise UsageError where a key looks like a slip of one of these that the row lacks.

    Other keys are ignored, as in every format; `ignored` are known ones.
    """
    for key in row:
        meant = None if key in ignored else _meant(key, keys)
        if meant is not None and meant not in row:
            raise UsageError(
                f"{where}: {key!r} is no key of such a task. Did you mean {meant!r}? Rename it, or "
                "leave it out."
            )


def _meant(key: str, keys: Sequence[str]) -> str | None:
    """Give the key that another is close to; None for one of the keys themselves."""
    if key in keys:
        return None
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[-\s]+", "_", key.strip()).lower()
    if words in keys:
        return words
    if OTHER_WORDS.get(words) in keys:
        return OTHER_WORDS[words]
    # A part of one, as `time_limit` is; a part of two says nothing.
    longer = [one for one in keys if one.startswith(f"{words}_") or one.endswith(f"_{words}")]
    close = difflib.get_close_matches(words, keys, n=1, cutoff=0.8)
    return longer[0] if len(longer) == 1 else next(iter(close), None)


def check_modules(names: Sequence[str], key: str, where: str) -> None:
    """Raise UsageError where one is no module that a candidate could import."""
    for name in names:
        if name not in sys.stdlib_module_names:
            close = difflib.get_close_matches(name, sorted(sys.stdlib_module_names), n=1)
            hint = f"Did you mean {close[0]!r}?" if close else "Leave it out."
            raise UsageError(
                f"{where}: {key} has {name!r}, which is no module of the standard library. {hint}"
            )


def compiled(source: str, key: str, where: str) -> CodeType:
    """Compile a source, which may be megabytes long; raise UsageError where it is no Python."""
    try:
        with digit_limit_lifted(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(source, f"<{key}>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"{where}: {key!r} is no Python ({error}). Correct it.") from None


def check_test(test: str, preamble: str, entry_point: str, where: str) -> None:
    """Raise UsageError where a test cannot be asked, whatever the candidate is.

    It has to compile, to define `check` for one argument, and to use no name that is nowhere bound.
    """
    module = compiled(test, "test", where)
    compiled(preamble, "prompt", where)
    wanted = "Write 'def check(candidate): ...' that asserts what candidate(...) gives."
    tables = list(_tables(test))
    bound = set(_bound(tables))
    if "check" not in bound:
        raise UsageError(f"{where}: 'test' defines no function check. {wanted}")
    for part in module.co_consts:
        if isinstance(part, CodeType) and part.co_name == "check" and (said := _unfit(part)):
            raise UsageError(f"{where}: 'test' defines a check that {said}. {wanted}")
    used = {
        symbol.get_name()
        for table in tables
        for symbol in table.get_symbols()
        if symbol.is_referenced() and not symbol.is_free()
    }
    if _BINDS_ANY.search(f"{preamble}\n{test}") or used & {"exec", "globals"}:
        return
    known = {*bound, *_bound(_tables(preamble)), entry_point, *ALWAYS_THERE}
    for name in sorted(used - known):
        found = re.search(rf"(?<![\w.]){name}\b", test)
        line = "" if found is None else f", line {test.count(chr(10), 0, found.start()) + 1}"
        raise UsageError(
            f"{where}: 'test'{line}: {name} is defined nowhere. Define it, or correct its name."
        )


def _unfit(check: CodeType) -> str:
    """Say why calling a check with a candidate would ask nothing; empty where it would."""
    if check.co_flags & (inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        return "does not run when it is called"
    if check.co_argcount == 0 and not check.co_flags & inspect.CO_VARARGS:
        return "takes no argument"
    return ""


def signature_of(parameters: str) -> inspect.Signature | None:
    """Read parameters as a task has them, without annotations; None where they are left open."""
    node = expression(f"lambda {parameters}: 0")
    return signature_of_node(node.args) if isinstance(node, ast.Lambda) else None


def signature_of_node(found: ast.arguments) -> inspect.Signature:
    """Give the signature of a definition, of which each default is `...`."""
    positional = [
        *((one.arg, inspect.Parameter.POSITIONAL_ONLY) for one in found.posonlyargs),
        *((one.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in found.args),
    ]
    first_default = len(positional) - len(found.defaults)
    parameters = [
        inspect.Parameter(name, kind, default=_default(place >= first_default))
        for place, (name, kind) in enumerate(positional)
    ]
    if found.vararg is not None:
        parameters.append(inspect.Parameter(found.vararg.arg, inspect.Parameter.VAR_POSITIONAL))
    parameters += [
        inspect.Parameter(
            one.arg, inspect.Parameter.KEYWORD_ONLY, default=_default(default is not None)
        )
        for one, default in zip(found.kwonlyargs, found.kw_defaults, strict=True)
    ]
    if found.kwarg is not None:
        parameters.append(inspect.Parameter(found.kwarg.arg, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def misfit(
    signature: inspect.Signature | None, name: str, positional: int, keywords: Sequence[str] = ()
) -> str:
    """Say that a call with so many arguments does not fit; empty where it does.

    Nothing is said of open parameters.
    """
    if signature is None:
        return ""
    try:
        signature.bind(*[None] * positional, **dict.fromkeys(keywords))
    except TypeError as error:
        given = positional + len(keywords)
        arguments = "1 argument" if given == 1 else f"{given} arguments"
        taken = str(signature).replace("=Ellipsis", "=...")
        return f"called with {arguments}, and {name} takes {taken}: {error}"
    return ""


def check_call(task: RefineTask, positional: int, place: str) -> None:
    """Raise UsageError where a call with so many arguments does not fit a function's task."""
    if task.kind is Kind.program or task.parameters is None:
        return
    problem = misfit(signature_of(task.parameters), task.entry_point, positional)
    if problem:
        raise UsageError(
            f"{place} is {problem}. Give the list of its arguments: a list that is the only one "
            "stands in a list of one."
        )


def _default(has_one: bool) -> object:
    return ... if has_one else inspect.Parameter.empty


def _tables(source: str) -> Iterator[symtable.SymbolTable]:
    """Give the names of a source that compiles, scope by scope."""
    with digit_limit_lifted(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        waiting = [symtable.symtable(source, "<test>", "exec")]
    while waiting:
        table = waiting.pop()
        yield table
        waiting += table.get_children()


def _bound(tables: Iterable[symtable.SymbolTable]) -> Iterator[str]:
    """Give the names that something in a module binds, wherever it does."""
    for table in tables:
        for symbol in table.get_symbols():
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_parameter():
                yield symbol.get_name()
