"""Whether an answer is of the type that f asks for. Strict: bool is no int, int is no float.

An annotation that cannot be tested (a class of the program's own, a Callable, a TypeVar) raises
Untestable, so that it can never become an accept. Elements are tested one by one; an empty
container is of any element type. Missing annotation, Any and object accept any plain data.
"""

import collections.abc
import types
import typing
from typing import Any

EXACT = frozenset(
    (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, types.NoneType)
)
SEQUENCES = {
    collections.abc.Sequence: (list, tuple),
    collections.abc.MutableSequence: (list,),
    collections.abc.Iterable: (list, tuple, set, frozenset),
    collections.abc.Collection: (list, tuple, set, frozenset),
    collections.abc.Set: (set, frozenset),
    collections.abc.MutableSet: (set,),
}
MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class Untestable(Exception):
    """The annotation is outside what can be tested."""


def answer_annotation(function: types.FunctionType) -> Any:
    """Return what f's first parameter is annotated with; Any where nothing. May run f's code."""
    name = function.__code__.co_varnames[0]
    annotation = function.__annotations__.get(name, Any)
    while type(annotation) is str:
        annotation = eval(annotation, function.__globals__)
    return annotation


def matches(value: Any, annotation: Any) -> bool:
    """Say whether plain data is exactly of the annotated type."""
    if annotation is Any or annotation is object:
        return True
    if annotation is None:
        return value is None
    if type(annotation) is type and annotation in EXACT:
        return type(value) is annotation
    if type(annotation) is typing.ForwardRef or type(annotation) is str:
        raise Untestable(f"cannot test an answer against {annotation!r}")
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Union or origin is types.UnionType:
        return any(matches(value, arg) for arg in args)
    if origin is typing.Literal:
        return any(type(value) is type(arg) and value == arg for arg in args)
    if origin is tuple:
        # Bare, it has as few arguments as Tuple[()].
        bare = annotation is typing.Tuple  # noqa: UP006
        return type(value) is tuple and (bare or tuple_matches(value, args))
    return container_matches(value, annotation, origin, args)


def tuple_matches(value: tuple[Any, ...], args: tuple[Any, ...]) -> bool:
    if len(args) == 2 and args[1] is Ellipsis:
        return all_match(value, args[0])
    return len(value) == len(args) and all(matches(v, a) for v, a in zip(value, args, strict=True))


def container_matches(value: Any, annotation: Any, origin: Any, args: tuple[Any, ...]) -> bool:
    if annotation in MAPPINGS or (origin is None and annotation in SEQUENCES):
        origin = annotation
    # A bare List or Dict has an origin and no arguments.
    if origin in MAPPINGS:
        if type(value) is not dict:
            return False
        key, item = args or (Any, Any)
        return all(matches(k, key) and matches(v, item) for k, v in value.items())
    kinds = SEQUENCES.get(origin) or ((origin,) if origin in (list, set, frozenset) else None)
    if kinds is None:
        raise Untestable(f"cannot test an answer against {annotation!r}")
    if type(value) not in kinds:
        return False
    return not args or all_match(value, args[0])


def all_match(items: Any, annotation: Any) -> bool:
    if type(annotation) is type and annotation in EXACT:
        return set(map(type, items)) <= {annotation}
    return all(matches(item, annotation) for item in items)
