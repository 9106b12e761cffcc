"""Normal form: equal for sources that differ in names and layout only; shape: in constants too."""

from __future__ import annotations

from pathlib import Path

import pytest

from puzzles.normal import content_id, normal_form, shape
from puzzles.p3 import read_p3

SAME = {
    "layout and comments": (
        "def f(x: int):\n    return x==3",
        "def f(x: int):  # c\n  return (x == 3)",
    ),
    "parameters": ("def f(a: int, b=1): return a == b", "def f(x: int, y=1): return x == y"),
    "own name": ("def f(x: int): return f(x)", "def f6(x: int): return f6(x)"),
    "docstring": ("def f(x: int): return x", "def f(x: int):\n    'doc'\n    return x"),
    "nested docstring": (
        "def f(x):\n    def h():\n        pass\n    return h() == x",
        "def f(y):\n    def k():\n        'doc'\n    return k() == y",
    ),
    "two comprehensions": (
        "def f(x): return [i for i in x] == [i for i in x]",
        "def f(x): return [i for i in x] == [j for j in x]",
    ),
    "a comprehension that shadows": (
        "def f(x): return [x for x in x] == []",
        "def f(x): return [y for y in x] == []",
    ),
    "lambda": ("def f(x): return (lambda a: a)(x)", "def f(x): return (lambda x: x)(x)"),
    "walrus in a comprehension": (
        "def f(x): return [last := i for i in x] and last == 3",
        "def f(x): return [a := b for b in x] and a == 3",
    ),
    "used before it is assigned": (
        "def f(x):\n    def h():\n        return n\n    n = 3\n    return h() == x",
        "def f(x):\n    def h():\n        return m\n    m = 3\n    return h() == x",
    ),
    "nonlocal": (
        "def f(x):\n    n = 0\n    def h():\n        nonlocal n\n        n += 1\n    h()\n    return n == x",
        "def f(x):\n    k = 0\n    def h():\n        nonlocal k\n        k += 1\n    h()\n    return k == x",
    ),
    "import": (
        "def f(x):\n    import math\n    return math.pi < x",
        "def f(x):\n    import math as m\n    return m.pi < x",
    ),
    "exception": (
        "def f(x):\n    try:\n        return x\n    except ValueError as e:\n        return e",
        "def f(x):\n    try:\n        return x\n    except ValueError as error:\n        return error",
    ),
    "match": (
        "def f(x):\n    match x:\n        case [a, *b]:\n            return a == b",
        "def f(x):\n    match x:\n        case [c, *d]:\n            return c == d",
    ),
    "keyword of a nested function": (
        "def f(x):\n    def h(n=1):\n        return n\n    return h(n=x)",
        "def f(x):\n    def h(k=1):\n        return k\n    return h(k=x)",
    ),
    "parameter named as a keyword": (
        "def f(x, key=1): return sorted(x, key=abs) == key",
        "def f(x, word=1): return sorted(x, key=abs) == word",
    ),
}

DIFFERENT = {
    "constants": ("def f(x): return x == 3", "def f(x): return x == 4"),
    "types of constants": ("def f(x): return x == 1", "def f(x): return x == True"),
    "annotations": ("def f(x: int): return x", "def f(x: str): return x"),
    "built-ins": ("def f(x): return max(x)", "def f(x): return min(x)"),
    "which variable": ("def f(a, b=1): return a", "def f(a, b=1): return b"),
    "a name that is free, not local": ("def f(x): return v1 == x", "def f(x): return x == x"),
    "order": ("def f(a): return a + 1", "def f(a): return 1 + a"),
    "methods": ("def f(s): return s.upper()", "def f(s): return s.lower()"),
    "class attributes": (
        "def f(x):\n    class A:\n        a = 1\n    return A.a == x",
        "def f(x):\n    class A:\n        b = 1\n    return A.a == x",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_names_and_layout_do_not_change_the_normal_form(name: str) -> None:
    one, other = SAME[name]
    assert normal_form(one) == normal_form(other)
    assert content_id(one) == content_id(other)


@pytest.mark.parametrize("name", DIFFERENT)
def test_anything_else_changes_the_normal_form(name: str) -> None:
    one, other = DIFFERENT[name]
    assert normal_form(one) != normal_form(other)


def test_the_normal_form_reads_as_python() -> None:
    source = 'def f(words: List[str], n=2):\n    """Doc."""\n    return sum(w.count("a") for w in words) == n'
    assert normal_form(source) == (
        "def v0(v1: List[str], v2=2):\n    return sum((v3.count('a') for v3 in v1)) == v2"
    )


@pytest.mark.parametrize("name", SAME)
def test_a_normal_form_is_its_own_normal_form(name: str) -> None:
    once = normal_form(SAME[name][0])
    assert normal_form(once) == once


def test_p3_normal_forms_are_their_own_normal_forms(p3_folder: Path) -> None:
    for puzzle in read_p3(p3_folder / "puzzles.json").puzzles:
        once = normal_form(puzzle.f)
        assert normal_form(once) == once


def test_a_shape_ignores_constants_signs_and_lengths_of_literals() -> None:
    one = "def f(x: int, a=[1, -2], s='ab', t={'k': 1}): return x * -3 == a[0] and f'{x}!' != s"
    other = "def f(y: int, b=[], s='', t={}): return y * 17 == b[4] and f'{y}?' != s"
    assert shape(one) == shape(other)


def test_a_shape_keeps_operators_types_and_calls() -> None:
    sources = [
        "def f(x: int): return x + 1 == 2",
        "def f(x: int): return x * 1 == 2",
        "def f(x: float): return x + 1 == 2",
        "def f(x: int): return abs(x + 1) == 2",
        "def f(x: int, a=1): return x + a == 2",
    ]
    assert len({shape(source) for source in sources}) == len(sources)
