"""Whether a program can be told, from its code alone, to leave nothing behind in its instance.

Screening runs many attempts at one puzzle in one instance (app.py). That is sound only for those
that cannot change what the next one sees, so this says yes only where it is certain: no attribute
is set, no class made, no private name read, nothing imported but a few modules without state.
Everything else is judged alone. It decides about speed, never about a pass.
"""

import abc
import builtins
import importlib
import inspect
import opcode
import types
import typing
from typing import Any

from execution import IN_SCOPE

MODULES = frozenset(
    ("bisect", "collections", "copy", "functools", "heapq", "itertools", "math", "re", "typing")
)
"""What may be imported: nothing public in them can be changed without setting an attribute."""
NAMES = frozenset(
    """
    breakpoint compile delattr eval exec exit getattr globals help id input locals memoryview open
    quit setattr type vars
    evaluate hash obj object register update_wrapper wraps
    """.split()  # noqa: SIM905
)
"""Names that may lead to somewhere else, whatever they are names of.

An AttributeError's obj, and what has an address (an object's hash), are among them.
"""
PRIVATE = ("\0_", "\0gi_", "\0cr_", "\0ag_", "\0tb_", "\0f_", "\0co_")
"""How names begin that are private, or lead from an object to its frame or its code."""
OPCODES = frozenset(
    opcode.opmap[name]
    # A class pattern reads attributes whose names are among the constants.
    for name in ("STORE_ATTR", "DELETE_ATTR", "LOAD_BUILD_CLASS", "MATCH_CLASS")
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


def names_of_typing() -> frozenset[str]:
    """Return the names that typing alone has."""
    others = [vars(importlib.import_module(name)) for name in MODULES - {"typing"}]
    return frozenset(vars(typing)).difference(BUILTINS, MODULES, IN_SCOPE, *others)


BUILTINS = vars(builtins)
# Much of typing marks what it is given, evaluates text, or remembers: its plain names will do.
FORBIDDEN = NAMES | (stateful_names() - MODULES - {"abc"}) | names_of_typing()
KNOWN = frozenset(
    id(value)
    for names in (BUILTINS, *(vars(importlib.import_module(name)) for name in MODULES))
    for value in names.values()
    if type(value) in (type, abc.ABCMeta, types.BuiltinFunctionType, types.FunctionType)
)
"""Classes and functions that a puzzle's module may hold: everyone has them anyway."""


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
    if type(constant) is tuple or type(constant) is frozenset:
        return all(map(constant_is_safe, constant))
    return type(constant) is not str or "__" not in constant


def is_constant(value: Any) -> bool:
    """Say whether a value of a puzzle's module can be shared: it cannot be changed."""
    if type(value) in (tuple, frozenset):
        return all(is_constant(item) for item in value)
    if type(value) is types.ModuleType:
        return value.__name__ in MODULES
    if id(value) in KNOWN:
        return True
    if type(value) is types.FunctionType:
        keywords = value.__kwdefaults__ or {}
        return not value.__closure__ and is_constant(
            (*(value.__defaults__ or ()), *keywords.values())
        )
    return type(value) in CONSTANTS


def is_plain(value: Any) -> bool:
    """Say whether a copy of a value shares nothing with it that can be changed."""
    if type(value) in (list, tuple, set, frozenset):
        return all(map(is_plain, value))
    if type(value) is dict:
        return all(map(is_plain, value)) and all(map(is_plain, value.values()))
    return type(value) in CONSTANTS
