"""What tests of HumanEval+ want of numpy, of which the judge's guests have none: `allclose`.

It is source for a test's instance; it is no numpy, and nothing is run here.
"""

ALL_CLOSE = """
def _all_close(out, expected, rtol=1e-07, atol=1e-08):
    if isinstance(expected, (list, tuple)):
        return (
            isinstance(out, (list, tuple))
            and len(out) == len(expected)
            and all(_all_close(a, b, rtol, atol) for a, b in zip(out, expected))
        )
    return out == expected or abs(out - expected) <= atol + rtol * abs(expected)
"""
"""Compares as `numpy.allclose` does, lists and tuples of one length; nan is close to nothing."""
NUMPY = f"""
import sys as _sys, types as _types
{ALL_CLOSE}
_numpy = _types.ModuleType("numpy")
_numpy.allclose = _all_close
_numpy.ndarray = type("ndarray", (), {{}})
_numpy.float32 = _numpy.float64 = float
_sys.modules["numpy"] = _numpy
"""


def with_numpy(test: str) -> str:
    """Give a test that imports numpy, as the hub's form of HumanEval+ does, what it wants of it."""
    return f"{NUMPY}\n{test}" if "import numpy" in test else test
