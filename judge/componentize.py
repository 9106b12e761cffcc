"""Runs componentize-py with the system's randomness held still. Not imported: a program of its own.

componentize-py lets the guest take its string hash seed from the system, so that two builds would
order their sets, and spend their fuel, differently. It has no setting for it, so this program
replaces the first instructions of the C library's `getrandom`, in its own short life, by ones
that fill the buffer with one byte. Two builds then behave the same, to the unit of fuel. That
works on Linux on x86-64; elsewhere the seed stays random, and judge.guest_fingerprint() shows it.
"""

import ctypes
import os
import platform
import sys

SEED_BYTE_VARIABLE = "JUDGE_GUEST_SEED_BYTE"
"""The environment variable in which build.py says which byte; each guest has its own."""
PAGE_BYTES = 4096
READ_WRITE_EXECUTE = 7


def fill_with(byte: int) -> bytes:
    """Return: mov rcx, rsi; mov al, byte; rep stosb; mov rax, rsi; ret."""
    return bytes([0x48, 0x89, 0xF1, 0xB0, byte, 0xF3, 0xAA, 0x48, 0x89, 0xF0, 0xC3])


def hold_randomness(byte: int) -> bool:
    """Make getrandom fill its buffer with one byte; say whether that was possible."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    library = ctypes.CDLL(None)
    address = ctypes.cast(library.getrandom, ctypes.c_void_p).value
    assert address is not None
    page = address - address % PAGE_BYTES
    # Two pages: the function may begin at the end of one.
    if library.mprotect(ctypes.c_void_p(page), 2 * PAGE_BYTES, READ_WRITE_EXECUTE):
        return False
    code = fill_with(byte)
    ctypes.memmove(address, code, len(code))
    return True


if __name__ == "__main__":
    from componentize_py import script  # type: ignore[import-not-found,import-untyped,unused-ignore]

    hold_randomness(int(os.environ[SEED_BYTE_VARIABLE]))
    script()
