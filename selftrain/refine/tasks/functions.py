"""HumanEval's rows as tasks: a prompt that describes a function, and a test that calls it.

The docstring's examples are public. The test is hidden, and holds a canary: a word that stands
nowhere else, so that a candidate which knows it has seen the test. Nothing is run here.
"""

import ast
import hashlib
import inspect

from judge import FunctionProblem
from puzzles.syntax import SyntaxFailure, parse, unix_lines
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.refine.tasks.calls import parts_of
from selftrain.refine.tasks.docstring import examples_of
from selftrain.refine.tasks.numpy_stand_in import with_numpy
from selftrain.refine.tasks.slips import check_test, misfit, signature_of_node
from selftrain.refine.tasks.task import Example, HiddenTests, Kind, RefineTask
from selftrain.verifier.tasks.mbpp import signature
from selftrain.verifier.tasks.task_rows import text_of


def function_row(row: Row, where: str) -> tuple[RefineTask, HiddenTests]:
    """Make the task of a row with `task_id`, `prompt`, `entry_point` and `test`.

    Raises UsageError.
    """
    test = text_of(row, "test", where, "the source of check(candidate)")
    task, hidden = function_task(
        row["task_id"],
        text_of(row, "prompt", where, "the head of the function and its docstring"),
        text_of(row, "entry_point", where, "the name of the function"),
        with_numpy(test),
        where=where,
    )
    check_test(test, task.preamble, task.entry_point, where)
    return task, hidden


def function_task(
    task_id: str, prompt: str, name: str, test: str, *, where: str
) -> tuple[RefineTask, HiddenTests]:
    """Make a task of a prompt, the name of its function and the source of `check(candidate)`.

    Raises UsageError where the prompt does not define the function.
    """
    prompt = unix_lines(prompt)
    closed, node = _closed(prompt, name, where)
    word = canary(task_id)
    preamble = _without(closed, node)
    examples = _examples(node)
    task = RefineTask(
        task_id,
        Kind.function,
        prompt,
        entry_point=name,
        parameters=parameters(closed, name),
        head=prompt,
        preamble=preamble,
        examples=examples,
        shows_examples=bool(examples),
        canary=word,
    )
    return task, hidden_function(task, test, where)


def hidden_function(task: RefineTask, test: str, where: str) -> HiddenTests:
    """Give a function's hidden tests, with the canary in them. Raises UsageError."""
    # At the end, since a test may begin with an import from __future__.
    marked = f"{test}\n\n{task.canary} = {task.canary!r}  # {task.canary}\n"
    try:
        marked.encode()
        task.preamble.encode()
        problem = FunctionProblem(task.preamble, task.entry_point, marked)
    except ValueError as error:
        raise UsageError(f"{where}: no problem can be made of it ({error}).") from None
    return HiddenTests(task.task_id, problem)


def canary(task_id: str) -> str:
    """Derive a name from a task's id, the same everywhere, that no program has by chance."""
    digest = hashlib.sha256(f"canary/{task_id}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"canary_{digest[:20]}"


def parameters(source: str, name: str) -> str:
    """Give the parameters of a module's function, without annotations."""
    return signature(source, name).removeprefix(f"def {name}(").removesuffix("):\n")


def _closed(prompt: str, name: str, where: str) -> tuple[str, ast.FunctionDef]:
    """Complete a prompt that may end in a bare head; give the node of its function too."""
    problem = ""
    for closed in (f"{prompt.rstrip()}\n", f"{prompt.rstrip()}\n    pass\n"):
        try:
            tree = parse(closed)
        except SyntaxFailure as failure:
            problem = problem or f"'prompt' is no Python ({failure})"
            continue
        for node in reversed(tree.body):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return closed, node
        problem = f"'prompt' defines no function {name!r:.60}"
    raise UsageError(f"{where}: {problem}. It must end in the head of the function.")


def _examples(node: ast.FunctionDef) -> tuple[Example, ...]:
    """Give the calls that the docstring shows and the function can take."""
    shown = examples_of(_docstring(node), node.name, [one.arg for one in node.args.args])
    return tuple(one for one in shown if _fits(node, one))


def _fits(node: ast.FunctionDef, example: Example) -> bool:
    positional, words = parts_of(example.arguments)
    return not misfit(signature_of_node(node.args), node.name, len(positional), list(words))


def _docstring(node: ast.FunctionDef) -> str:
    """Give what describes a function; HumanEval/115 has an import before it."""
    for statement in node.body:
        match statement:
            case ast.Expr(ast.Constant(str(text))):
                return inspect.cleandoc(text)
    return ""


def _without(source: str, node: ast.FunctionDef) -> str:
    """Leave a prompt's imports and helpers, which stand before a candidate when it is run.

    The function itself goes, so that a candidate which defines none has none.
    """
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    lines = source.split("\n")
    rest = "\n".join([*lines[: first - 1], *lines[node.end_lineno :]]).strip()
    return f"{rest}\n\n\n" if rest else ""
