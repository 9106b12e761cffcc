"""Results: which are the same, what is told of an error, what a verifier may be shown."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge import Execution, Limits, Outcome, run
from selftrain.verifier.tasks.results import (
    error_of,
    is_error,
    result_key,
    result_of,
    same_value,
    shown,
    type_of,
)

SAME = [
    ("{1, 2}", "{2, 1}"),
    ("frozenset({'a', 'b'})", "frozenset({'b', 'a'})"),
    ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"),
    ("[{'a': {1, 2}, 'b': 2}]", "[{'b': 2, 'a': {2, 1}}]"),
    ("float('nan')", "nan"),
    ("[float('nan')]", "[float('nan')]"),
    ("-0.0", "0.0"),
    ("complex(-0.0, 1.0)", "complex(0.0, 1.0)"),
    ("-inf", "float('-inf')"),
    ("0x1f", "31"),
    ("1e3", "1000.0"),
    ("'a'", '"a"'),
    ("[1,2]", "[1, 2]"),
]
APART = [
    ("1", "1.0"),
    ("1", "True"),
    ("1.0", "True"),
    ("0", "False"),
    ("0", "None"),
    ("0.30000000000000004", "0.3"),
    ("[1, 2]", "(1, 2)"),
    ("[1, 2]", "[2, 1]"),
    ("{1}", "frozenset({1})"),
    ("set()", "{}"),
    ("set()", "frozenset()"),
    ("'a'", "b'a'"),
    ("'1'", "1"),
    ("1.0", "complex(1.0, 0.0)"),
    ("float('inf')", "float('-inf')"),
    ("float('inf')", "float('nan')"),
    ("'inf'", "inf"),
    ("9007199254740993", "9007199254740992"),
    ("['a', 'b']", "['a,str 1 b']"),
    ("['a', 'b']", "[\"a', 'b\"]"),
    ("[[1], 2]", "[[1, 2]]"),
    ("{1: 2}", "{2: 1}"),
    ("{1: 2}", "{1, 2}"),
    ("'\\ud800'", "'\\udfff'"),
    ("'e\\u0301'", "'\\xe9'"),
]
UNREADABLE = [
    "",
    "Paris",
    "[1, 2",
    "[1] * 3",
    "1 + 1",
    "--1",
    "-True",
    "not 1",
    "...",
    "f'{1}'",
    "{**{}}",
    "[*[1]]",
    "<object object>",
    "__import__('os').getcwd()",
    "float('1')",
    "set([1])",
    "'\0'",
    "'\ud800'",
    "-" * 100_000 + "1",
    "1+" * 100_000 + "1",
    "(" * 1_000_000,
    "1" * 5_000,
]
SCALARS = [
    *(None, True, False, 0, 1, 2, -1, 2**63, 10**40, 0.0, -0.0, 1.0, 0.1 + 0.2, 0.3, 1e300),
    *(math.nan, math.inf, -math.inf, 1j, complex(-0.0, math.nan)),
    *("", "1", "a, b", "[", "\n", "é", "\ud800", b"", b"1"),
]
"""Few, so that two values drawn apart are often equal."""
HASHABLE = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple) | st.lists(inner, max_size=3).map(frozenset)
    ),
    max_leaves=4,
)
VALUES = st.recursive(
    HASHABLE,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(HASHABLE, max_size=3).map(set)
        | st.dictionaries(HASHABLE, inner, max_size=3)
    ),
    max_leaves=6,
)


FORMS = {list: "[{}]", tuple: "({},)", set: "{{{}}}", frozenset: "frozenset({{{}}})"}


def written(value: Any, turn: int = 0) -> str:
    """Write a value in the judge's notation; another turn, another order of sets and dicts."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value!r}')"
    if isinstance(value, complex):
        return f"complex({written(value.real)}, {written(value.imag)})"
    if isinstance(value, dict) and value:
        pairs = [f"{written(key, turn)}: {written(value[key], turn)}" for key in value]
        return "{" + ", ".join(pairs[turn:] + pairs[:turn]) + "}"
    if type(value) in FORMS and value:
        items = [written(item, turn) for item in value]
        if isinstance(value, set | frozenset):
            items = items[turn:] + items[:turn]
        return FORMS[type(value)].format(", ".join(items))
    return repr(value)


def same(a: Any, b: Any) -> bool:
    """Compare by the documented rules, pair by pair, without writing anything."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return matched(list(a.items()), list(b.items()))
    if isinstance(a, set | frozenset):
        return matched(list(a), list(b))
    return bool(a == b)


def matched(left: list[Any], right: list[Any]) -> bool:
    """Say whether each on the left has one of its own on the right, and none is left over."""
    for one in left:
        twin = next((i for i, other in enumerate(right) if same(one, other)), None)
        if twin is None:
            return False
        right = right[:twin] + right[twin + 1 :]
    return not right


def ran(body: str) -> str:
    return result_of(run(f"def g():\n    {body}", limits=Limits(fuel=200_000_000)))


@pytest.mark.parametrize(("a", "b"), SAME)
def test_results_of_one_value_have_one_key(a: str, b: str) -> None:
    assert result_key(a) == result_key(b) is not None
    assert same_value(a, b)


@pytest.mark.parametrize(("a", "b"), APART)
def test_results_of_two_values_have_two_keys(a: str, b: str) -> None:
    assert None is not result_key(a) != result_key(b) is not None


@given(VALUES, VALUES)
def test_keys_are_equal_exactly_where_values_are(a: Any, b: Any) -> None:
    assert (result_key(written(a)) == result_key(written(b))) is same(a, b)


@given(VALUES, st.integers(1, 2))
def test_another_order_of_sets_and_dicts_is_the_same_result(value: Any, turn: int) -> None:
    assert result_key(written(value)) == result_key(written(value, turn)) is not None


def test_tables_that_differ_in_row_6_only_are_apart() -> None:
    rows = [(i, "a") for i in range(8)]
    other = [*rows[:5], (5, "b"), *rows[6:]]
    assert result_key(repr(rows)) != result_key(repr(other))
    assert result_key(repr(rows)) != result_key(repr(rows[::-1]))


@pytest.mark.parametrize("kind", ["[{}]", "({},)", "frozenset({{{}}})"])
def test_a_hundred_levels_are_read_to_the_last(kind: str) -> None:
    a, b = "1", "2"
    for _ in range(100):
        a, b = kind.format(a), kind.format(b)
    assert result_key(a) != result_key(b)


def test_a_long_result_counts_to_its_last_element() -> None:
    long = list(range(40_000))
    assert result_key(repr(long)) != result_key(repr([*long[:-1], 0]))
    assert result_key(hex(16**100_000)) != result_key(hex(16**100_000 + 1))


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_cannot_be_read_is_never_the_same(text: str) -> None:
    assert result_key(text) is None
    assert not same_value(text, text)
    assert type_of(text) == "unknown"


@pytest.mark.parametrize(
    ("a", "b"),
    [("18.0", "18"), ("[1e2, 'a']", "[100, 'a']"), ("{1.0: 2}", "{1: 2.0}"), ("-0.0", "0")],
)
def test_a_whole_float_is_the_value_of_its_int_but_another_result(a: str, b: str) -> None:
    assert same_value(a, b)
    assert result_key(a) != result_key(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("18.5", "18"),
        ("1.0", "True"),
        ("1", "True"),
        ("'18'", "18"),
        ("9007199254740992.0", "9007199254740993"),
        ("inf", "nan"),
        ("ERROR: timed_out", "ERROR: timed_out"),
    ],
)
def test_nothing_else_is_the_same_value(a: str, b: str) -> None:
    assert not same_value(a, b)


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("return [1, {2, 1}]", "[1, {1, 2}]"),
        ("while True: pass", "ERROR: timed_out: used up its instructions"),
        ("raise SystemExit(3)", "ERROR: raised: SystemExit: 3"),
        ("return 1 / 0", "ERROR: raised: ZeroDivisionError: division by zero"),
        ("return object()", "ERROR: wrong_type: the answer is or holds a object"),
        ("return (", "ERROR: syntax_error: SyntaxError: '(' was never closed (<g>, line 2)"),
        ("raise ValueError('a\\n b\\ud800c')", "ERROR: raised: ValueError: a b c"),
        ("raise ValueError", "ERROR: raised: ValueError"),
    ],
)
def test_a_program_has_the_result_that_it_earned(body: str, result: str) -> None:
    assert ran(body) == result
    assert is_error(result) is result.startswith("ERROR")


def test_a_memory_hog_is_an_error_of_its_own() -> None:
    assert ran("return [0] * 10**9").startswith("ERROR: out_of_memory")


def test_no_two_kinds_of_failure_have_one_error() -> None:
    kinds = [one for one in Outcome if one not in ("passed", "wrong_answer", "flaky")]
    of_g = [one for one in kinds if not one.startswith("f_")]
    assert len({error_of(one, "same") for one in of_g}) == len(of_g)
    assert all(result_key(error_of(one, "same")) is None for one in kinds)


def test_an_error_is_one_line_of_bounded_length() -> None:
    error = error_of("raised", "ValueError: " + "a\n" * 10_000)
    assert "\n" not in error and len(error) == len("ERROR: raised: ") + 200


@pytest.mark.parametrize("outcome", [one for one in Outcome if one.startswith("f_")])
def test_a_failure_of_f_tells_nothing_of_f(outcome: Outcome) -> None:
    told = result_of(Execution(None, outcome, "AssertionError: expected 18", 1))
    assert told == "ERROR: not_run: its inputs could not be made"


@pytest.mark.parametrize("outcome", ["passed", "wrong_answer", "flaky"])
def test_what_a_checker_says_is_no_result(outcome: str) -> None:
    with pytest.raises(ValueError, match="what a checker says"):
        error_of(outcome, "")


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ("1", "int"),
        ("True", "bool"),
        ("None", "NoneType"),
        ("-1.5", "float"),
        ("[1, 2]", "list[int]"),
        ("[1, 'a', 2]", "list[int|str]"),
        ("[]", "list[]"),
        ("[[], [1]]", "list[list[int]]"),
        ("()", "tuple[]"),
        ("(1, 'a')", "tuple[int, str]"),
        ("[(1, 'a'), (2, None)]", "list[tuple[int, NoneType|str]]"),
        ("[(1,), (1, 2)]", "list[tuple[int]|tuple[int, int]]"),
        (str(tuple(range(20))), "tuple[int, ...]"),
        ("{'a': 1, 'b': [2.0]}", "dict[str, int|list[float]]"),
        ("{}", "dict[]"),
        ("{1}", "set[int]"),
        ("frozenset()", "frozenset[]"),
        ("[[[[[1]]]]]", "list[list[list[list[list]]]]"),
        ("ERROR: raised: ZeroDivisionError: division by zero", "ERROR: raised"),
        ("ERROR: timed_out", "ERROR: timed_out"),
        ("ERROR: no such column: 'answer is 18'", "ERROR"),
    ],
)
def test_the_type_of_a_result(result: str, told: str) -> None:
    assert type_of(result) == told


def test_the_type_of_a_motley_result_is_short() -> None:
    assert len(type_of(str([(i,) * i for i in range(16)]))) == 160


def test_a_type_tells_no_value() -> None:
    assert type_of("['secret', 271828]") == type_of("['public', 314159]")


@pytest.mark.parametrize(
    ("room", "told"),
    [
        (47, "[0, 1, 2, 3, 4, 5, … 198, 199] (890 characters)"),
        (890, str(list(range(200)))),
        (10, "[0, 1, 2, "),
    ],
)
def test_a_result_is_shown_whole_or_by_head_tail_and_length(room: int, told: str) -> None:
    assert shown(str(list(range(200))), room) == told


@given(st.text(), st.integers(0, 100))
def test_what_is_shown_fits(result: str, room: int) -> None:
    assert len(shown(result, room)) <= max(room, 0)
