"""The stub of a task, the least that can be called: what it satisfies tells nothing of an answer.

Nothing is run here.
"""

from puzzles.syntax import SyntaxFailure, unparse
from selftrain.refine.gate.source import bare, parameters_of
from selftrain.refine.tasks.task import Kind, RefineTask, is_method


def stub_of(task: RefineTask) -> str:
    """Write a candidate that returns None whatever it is given; a program that does nothing."""
    if task.kind is Kind.program:
        return "pass\n"
    wanted = task.puzzle.inputs if task.parameters is None and task.puzzle else task.parameters
    try:
        right = parameters_of("*args, **kwargs" if wanted is None else wanted)
        given = unparse(bare(right, method=is_method(task)))
    except SyntaxFailure:
        given = "*args, **kwargs"
    me = "self, " if given else "self"
    if not is_method(task):
        return f"def {task.entry_point}({given}):\n    return None\n"
    return f"class Solution:\n    def {task.entry_point}({me}{given}):\n        return None\n"
