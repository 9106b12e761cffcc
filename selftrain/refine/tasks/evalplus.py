"""HumanEval+'s rows as tasks: EvalPlus' own file, whose tests are inputs and a right solution.

The reference runs in the checker's instance, where no candidate is, and answers are compared as
EvalPlus compares them: floats within `atol`, all else by `==`. Its contracts, which say what inputs
are valid, are left out, since its inputs are. The hub's rows, which have a `test`, are read by
functions.py. Nothing is run.
"""

import json

from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.refine.tasks.functions import function_task
from selftrain.refine.tasks.numpy_stand_in import ALL_CLOSE
from selftrain.refine.tasks.slips import compiled, misfit, signature_of
from selftrain.refine.tasks.task import HiddenTests, RefineTask
from selftrain.verifier.tasks.task_rows import text_of

TEST = """
import copy as _copy, json as _json, math as _math
{all_close}
_inputs = _json.loads({inputs!r})
_atol = {atol!r}

def _reference():
    names = {{"__name__": "reference"}}
    exec(compile({source!r}, "<reference>", "exec", dont_inherit=True), names)
    return names[{name!r}]

def _are_floats(value):
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(item, float) for item in value)
    return isinstance(value, float)

def _compare(arguments, out, expected):
    if {is_root}:
        # Any root is right.
        assert abs(sum(c * _math.pow(out, i) for i, c in enumerate(arguments[0]))) <= _atol
        return
    if out == expected:
        return
    atol = 1e-6 if _atol == 0 and _are_floats(expected) else _atol
    assert atol != 0, "another answer"
    assert type(out) is type(expected), "another type"
    assert _all_close(out, expected, 1e-07, atol), "not close enough"

def check(candidate):
    reference = _reference()
    # All before the first call, so that a reference which fails is told apart from a candidate.
    expected = [reference(*_copy.deepcopy(arguments)) for arguments in _inputs]
    for arguments, answer in zip(_inputs, expected):
        _compare(arguments, candidate(*_copy.deepcopy(arguments)), answer)
"""


def evalplus_row(row: Row, where: str) -> tuple[RefineTask, HiddenTests]:
    """Make the task of a row with `base_input` or `plus_input`; raise UsageError."""
    prompt = text_of(row, "prompt", where, "the head of the function and its docstring")
    name = text_of(row, "entry_point", where, "the name of the function")
    reference = text_of(row, "canonical_solution", where, "the body of a right function")
    compiled(prompt + reference, "canonical_solution", where)
    inputs = _inputs(row, where)
    test = TEST.format(
        all_close=ALL_CLOSE,
        inputs=json.dumps(inputs),
        atol=_atol(row, where),
        source=prompt + reference,
        name=name,
        # EvalPlus' one exception: HumanEval/32 asks for a root, of which there may be many.
        is_root=name == "find_zero",
    )
    task, hidden = function_task(row["task_id"], prompt, name, test, where=where)
    signature = signature_of(task.parameters or "")
    for length in sorted(set(map(len, inputs))):
        if problem := misfit(signature, name, length):
            raise UsageError(f"{where}: an input is {problem}. Give each its arguments.")
    return task, hidden


def _inputs(row: Row, where: str) -> list[list[object]]:
    """Join both lists of inputs, each input a list of arguments."""
    found: list[list[object]] = []
    for key in ("base_input", "plus_input"):
        value = row.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, list) for one in value):
            raise UsageError(f"{where}: {key} is {value!r:.60}. Make it a list of argument lists.")
        found += value
    if not found:
        raise UsageError(f"{where}: base_input and plus_input are empty. Give at least one input.")
    return found


def _atol(row: Row, where: str) -> float:
    value = row.get("atol", 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise UsageError(f"{where}: atol is {value!r:.60}. Make it a number from 0 to 1.")
    return float(value)
