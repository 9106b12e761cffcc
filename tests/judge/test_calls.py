"""The calls that a test makes of a function: recorded, bounded, and nothing of what is expected."""

from judge import FunctionProblem, Limits, calls_of

LIMITS = Limits(fuel=2_000_000_000)
SUM = "    return sum(a) + b\n"


def calls(test: str, completion: str = SUM) -> list[str]:
    lines = "".join(f"    {line}\n" for line in test.splitlines())
    problem = FunctionProblem("def add(a, b=0):\n", "add", f"def check(candidate):\n{lines}")
    return calls_of(problem, completion, LIMITS)


def test_calls_are_recorded_in_order_as_literals() -> None:
    test = "assert candidate([1, 2], 3) == 6\nassert candidate([], b=0.5) == 0.5"
    assert calls(test) == ["(([1, 2], 3), {})", "(([],), {'b': 0.5})"]


def test_a_call_made_twice_is_recorded_once() -> None:
    assert calls("for x in (1, 2, 1): candidate([x])") == ["(([1],), {})", "(([2],), {})"]


def test_the_first_sixteen_distinct_calls_are_recorded() -> None:
    assert calls("for x in range(99): candidate([x])") == [f"(([{x}],), {{}})" for x in range(16)]


def test_calls_before_a_failing_assert_are_recorded() -> None:
    assert calls("assert candidate([1]) == 7\ncandidate([2])") == ["(([1],), {})"]


def test_arguments_that_json_lacks_are_literals_too() -> None:
    found = calls("candidate([float('nan'), {2, 1}, b'x', (), 1 << 70, 'ü'])", "    return 0\n")
    assert found == ["(([float('nan'), {1, 2}, b'x', (), 1180591620717411303424, 'ü'],), {})"]


def test_a_program_that_does_not_load_is_called_by_nobody() -> None:
    assert calls("candidate([1])", "    return (\n") == []
    assert calls("candidate([1])", "    pass\nraise SystemExit\n") == []
    assert calls("candidate([1])", "    pass\n#" + "x" * 10**7) == []


def test_a_call_that_never_returns_is_recorded_and_ends_the_test() -> None:
    assert calls("candidate([1])\ncandidate([2])", "    while True: pass\n") == ["(([1],), {})"]
