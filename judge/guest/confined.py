"""Whether a program can be told, from its code alone, to leave nothing behind in its instance.

Screening runs many attempts at one puzzle in one instance (app.py). That is sound only for those
that cannot change what the next one sees, so this says yes only where it is certain: no attribute
is set, no class made, no private name read, nothing imported but a few modules without state.
Everything else is judged alone. It decides about speed, never about a pass.
"""

import importlib
import opcode
import types
from typing import Any

MODULES = frozenset(
    ("bisect", "collections", "copy", "functools", "heapq", "itertools", "math", "re", "typing")
)
"""What may be imported: nothing public in them can be changed without setting an attribute."""
NAMES = frozenset(
    """
    breakpoint compile delattr eval exec exit getattr globals help id input locals memoryview open
    quit setattr type vars
    ForwardRef NamedTuple Protocol TypedDict clear_overloads evaluate_forward_ref get_type_hints
    no_type_check no_type_check_decorator overload register update_wrapper wraps
    """.split()  # noqa: SIM905
)
"""Names that may lead to somewhere else, whatever they are names of."""
PRIVATE = ("_", "gi_", "cr_", "ag_", "tb_", "f_", "co_")
"""How names begin that are private, or lead from an object to its frame or its code."""
OPCODES = frozenset(
    opcode.opmap[name] for name in ("STORE_ATTR", "DELETE_ATTR", "LOAD_BUILD_CLASS")
)
IMPORT = opcode.opmap["IMPORT_NAME"]
EXTENDED = opcode.opmap["EXTENDED_ARG"]
CONSTANTS = (int, float, complex, str, bytes, bool, types.NoneType, types.EllipsisType)


def stateful_names() -> frozenset[str]:
    """Return the public names in MODULES of what a program could reach into and change."""
    kinds = (types.ModuleType, dict, list, set)
    return frozenset(
        name
        for module in MODULES
        for name, value in vars(importlib.import_module(module)).items()
        if isinstance(value, kinds)
    )


FORBIDDEN = NAMES | (stateful_names() - MODULES - {"abc"})


def is_confined(code: types.CodeType) -> bool:
    """Say whether code, with all functions in it, certainly leaves nothing behind."""
    operations = code.co_code
    kinds = set(operations[::2])
    names = set(code.co_names)
    if kinds & OPCODES or names & FORBIDDEN or (IMPORT in kinds and not imports_are_safe(code)):
        return False
    if any(name != "_" and name.startswith(PRIVATE) for name in names):
        return False
    return all(constant_is_safe(constant) for constant in code.co_consts)


def imports_are_safe(code: types.CodeType) -> bool:
    operations = code.co_code
    if EXTENDED in operations[::2]:
        return False
    pairs = zip(operations[::2], operations[1::2], strict=True)
    return all(code.co_names[index] in MODULES for kind, index in pairs if kind == IMPORT)


def constant_is_safe(constant: Any) -> bool:
    if type(constant) is types.CodeType:
        return is_confined(constant)
    if type(constant) is str:
        return "__" not in constant
    return True


def is_constant(value: Any) -> bool:
    """Say whether a value of a puzzle's module can be shared: it cannot be changed."""
    if type(value) in (tuple, frozenset):
        return all(is_constant(item) for item in value)
    if type(value) is types.ModuleType:
        return value.__name__ in MODULES
    if type(value) is types.FunctionType:
        keywords = value.__kwdefaults__ or {}
        return not value.__closure__ and is_constant(
            (*(value.__defaults__ or ()), *keywords.values())
        )
    return type(value) in CONSTANTS or type(value) in (type, types.BuiltinFunctionType)
