"""Calls an export of an instance: texts and counts go in, one text comes out.

What wasmtime's own `Func` does, at two thirds of the time a small call takes: that one asks the
engine for the types of parameters and result at each call, and of our exports they are always
these. Not here: what is said, and what a trap means (engine.py).
"""

import ctypes
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wasmtime import Store
    from wasmtime.component import Func


def call_export(store: "Store", function: "Func", arguments: tuple[str | int, ...]) -> str:
    """Call a function whose parameters are strings (str) and u32 (int) and whose result a string.

    Nobody tests here that they are. Raises WasmtimeError on a trap, UnicodeDecodeError where the
    result is no UTF-8.
    """
    from wasmtime import _ffi as ffi
    from wasmtime.component._enter import enter_wasm

    given = (ffi.wasmtime_component_val_t * len(arguments))()
    result = ffi.wasmtime_component_val_t()
    called, context = ctypes.byref(function._func), store._context()
    try:
        for value, argument in zip(given, arguments, strict=True):
            if isinstance(argument, int):
                value.kind, value.of.u32 = ffi.WASMTIME_COMPONENT_U32, argument
            else:
                put_text(value, argument.encode())
        place, count = ctypes.byref(result), len(given)
        # It raises again what an import of the instance has raised.
        enter_wasm(
            lambda: ffi.wasmtime_component_func_call(called, context, given, count, place, 1)
        )
        text = result.of.string
        found = ctypes.string_at(text.data, text.size)
        enter_wasm(lambda: ffi.wasmtime_component_func_post_return(called, context))
        return found.decode()
    finally:
        # One that was never set is a bool, which owns nothing.
        for value in (*given, result):
            ffi.wasmtime_component_val_delete(ctypes.byref(value))


def put_text(value: "ctypes.Structure", text: bytes) -> None:
    """Let a value be a string: a copy of these bytes that the value owns."""
    from wasmtime import _ffi as ffi

    copied = (ctypes.c_uint8 * len(text)).from_buffer_copy(text)
    ffi.wasm_byte_vec_new(ctypes.byref(value.of.string), len(text), copied)
    # Last, so that a value which says that it is a string has one.
    value.kind = ffi.WASMTIME_COMPONENT_STRING
