"""What the gate reads of a candidate's syntax tree: parses, signature, imports, streams.

Nothing is run. A tree says what is written, not what happens: a program that hides an import from
it meets the judge, which has no files, network or processes to give.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from puzzles.scopes import uses
from puzzles.syntax import SyntaxFailure, parse, unparse
from selftrain.refine.gate.evidence import Evidence, Status
from selftrain.refine.tasks.task import Kind, RefineTask, is_method

STREAM_FUNCTIONS = frozenset({"print", "input", "open", "breakpoint", "help"})
STREAMS = frozenset({"stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__"})
OF_PROGRAMS = ("io", "sys")
"""Modules that a program which reads standard input may import too."""
TOO_DEEP = "it nests too deep to be read"


@dataclass(frozen=True, slots=True)
class Reading:
    """What the tree of one candidate says."""

    evidence: tuple[Evidence, Evidence, Evidence, Evidence]
    """parses, signature, imports, streams."""
    can_run: bool
    """Whether it parses, and binds its entry point."""


def read_source(task: RefineTask, source: str, allowed_imports: Sequence[str]) -> Reading:
    """Check a candidate by its syntax; whatever the text, this raises nothing."""
    try:
        tree = parse(source)
    except SyntaxFailure as failure:
        signature, imports, streams = (
            Evidence(name, Status.not_evaluated) for name in ("signature", "imports", "streams")
        )
        return Reading((_evidence("parses", str(failure)), signature, imports, streams), False)
    if task.kind is not Kind.program:
        # The judge gives a function no such name.
        tree = ast.Module([one for node in tree.body for one in _run_of(node)], [])
    allowed = allowed_imports if task.allowed_imports is None else task.allowed_imports
    if task.kind is Kind.program:
        allowed = (*allowed, *OF_PROGRAMS)
    signature, can_run = _signature(task, tree)
    streams = Evidence("streams", Status.not_evaluated)
    if task.kind is not Kind.program:
        streams = _evidence("streams", _stream(tree))
    imports = _evidence("imports", _import_outside(tree, allowed))
    return Reading((_evidence("parses", ""), signature, imports, streams), can_run)


def _evidence(name: str, failure: str) -> Evidence:
    return Evidence(name, Status.failed if failure else Status.held, failure)


def _run_of(node: ast.stmt) -> list[ast.stmt]:
    """Give what runs of a statement at module level where `__name__` is not `"__main__"`."""
    match node:
        case ast.If(ast.Compare(left, [ast.Eq()], [right])):
            match left, right:
                case (ast.Name("__name__"), ast.Constant("__main__")) | (
                    ast.Constant("__main__"),
                    ast.Name("__name__"),
                ):
                    return [one for line in node.orelse for one in _run_of(line)]
    return [node]


def _signature(task: RefineTask, tree: ast.Module) -> tuple[Evidence, bool]:
    """Compare the entry point with the task's; tell whether there is something to call."""
    if task.kind is Kind.program:
        return Evidence("signature", Status.not_evaluated), True
    name, body = task.entry_point, tree.body
    where = "at module level"
    if is_method(task):
        classes = [node for node in body if isinstance(node, ast.ClassDef)]
        body = [line for node in classes if node.name == "Solution" for line in node.body]
        where = "in a class Solution"
    function = next(
        (
            node
            for node in reversed(body)
            if isinstance(node, ast.FunctionDef) and node.name == name
        ),
        None,
    )
    if function is None:
        can_run = not is_method(task) and any(name in _bound_by(node) for node in ast.walk(tree))
        return _evidence("signature", f"it defines no function {name} {where}"), can_run
    if task.parameters is None and task.puzzle is None:
        return Evidence("signature", Status.not_evaluated), True
    return _evidence("signature", _other_parameters(task, function.args)), True


def _bound_by(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (node.name,)
    if isinstance(node, ast.alias):
        return (node.asname or node.name,)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return (node.id,)
    return ()


def _other_parameters(task: RefineTask, found: ast.arguments) -> str:
    """Say how the parameters differ from those the task gives; empty where they do not."""
    wanted = task.parameters
    if wanted is None:
        assert task.puzzle is not None
        wanted = task.puzzle.inputs
    try:
        right = parameters_of(wanted)
        # f's inputs are handed to g by name, so that what stands for them by default is no matter.
        has_defaults = task.kind is not Kind.puzzle
        ours, theirs = (unparse(bare(one, has_defaults, is_method(task))) for one in (found, right))
    except SyntaxFailure:
        return TOO_DEEP
    if ours == theirs:
        return ""
    return f"{task.entry_point} takes ({ours}), and should take ({theirs})"[:200]


def parameters_of(text: str) -> ast.arguments:
    """Parse parameters without parentheses; raise SyntaxFailure."""
    function = parse(f"def function({text}\n): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    return function.args


def bare(one: ast.arguments, has_defaults: bool = True, method: bool = False) -> ast.arguments:
    """Take annotations away, and of a method its `self`."""

    def named(argument: ast.arg | None) -> ast.arg | None:
        return None if argument is None else ast.arg(argument.arg)

    positional = [ast.arg(argument.arg) for argument in one.args]
    if method and positional and positional[0].arg == "self":
        positional = positional[1:]
    return ast.arguments(
        posonlyargs=[ast.arg(argument.arg) for argument in one.posonlyargs],
        args=positional,
        vararg=named(one.vararg),
        kwonlyargs=[ast.arg(argument.arg) for argument in one.kwonlyargs],
        kw_defaults=one.kw_defaults if has_defaults else [None] * len(one.kwonlyargs),
        kwarg=named(one.kwarg),
        defaults=one.defaults if has_defaults else [],
    )


def _import_outside(tree: ast.Module, allowed: Sequence[str]) -> str:
    """Name the first import that is not allowed."""
    for line, module in sorted(_imports(tree)):
        parts = module.split(".")
        heads = {".".join(parts[: number + 1]) for number in range(len(parts))}
        if not heads & set(allowed):
            return f"line {line} imports {module[:60]}, which is not allowed"
    return ""


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")
        elif isinstance(node, ast.Name) and node.id in ("__import__", "importlib"):
            yield node.lineno, f"by {node.id}"
        elif isinstance(node, ast.Attribute) and node.attr in ("__import__", "import_module"):
            yield node.lineno, f"by {node.attr}"


def _stream(tree: ast.Module) -> str:
    """Name the first use of standard input or output, or of files."""
    try:
        free = [use for use in uses(tree) if use.owner is None and use.name in STREAM_FUNCTIONS]
    except (SyntaxFailure, RecursionError):
        return TOO_DEEP
    found = [(getattr(use.node, "lineno", 0), use.name) for use in free]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in STREAMS:
            found.append((node.lineno, f"sys.{node.attr}"))
        elif isinstance(node, ast.ImportFrom) and node.module == "sys":
            names = [alias.name for alias in node.names if alias.name in STREAMS]
            found += [(node.lineno, f"sys.{name}") for name in names]
    if not found:
        return ""
    line, name = min(found)
    return f"line {line} uses {name}; take what is given and return the answer"
