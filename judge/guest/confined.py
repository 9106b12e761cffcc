"""Whether a program can be told, from its code alone, to leave nothing behind in its instance.

Screening runs many attempts at one puzzle in one instance (app.py). That is sound only for those
that cannot change what the next one sees, so this says yes only where it is certain: no attribute
is set, no class made, no private name read, nothing imported but a few modules without state.
Everything else is judged alone. It decides about speed, never about a pass.
"""

import importlib
import inspect
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
PRIVATE = ("\0_", "\0gi_", "\0cr_", "\0ag_", "\0tb_", "\0f_", "\0co_")
"""How names begin that are private, or lead from an object to its frame or its code."""
OPCODES = frozenset(
    opcode.opmap[name] for name in ("STORE_ATTR", "DELETE_ATTR", "LOAD_BUILD_CLASS")
)
HANDLER = opcode.opmap["PUSH_EXC_INFO"]
"""What a `finally` needs. In a generator it would run whenever the generator is dropped."""
SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
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
    kinds = set(code.co_code[::2])
    if not kinds.isdisjoint(OPCODES) or not FORBIDDEN.isdisjoint(code.co_names):
        return False
    if HANDLER in kinds and code.co_flags & SUSPENDS:
        return False
    if IMPORT in kinds and not imports_are_safe(code):
        return False
    return not has_private_name(code.co_names) and all(map(constant_is_safe, code.co_consts))


def has_private_name(names: tuple[str, ...]) -> bool:
    # One text, since searching it is quicker than looking at each name.
    text = "\0".join(("", *names, "")).replace("\0_\0", "\0")
    return any(start in text for start in PRIVATE)


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
