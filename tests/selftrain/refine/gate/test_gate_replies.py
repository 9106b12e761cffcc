"""Whatever stands in a reply, it is read as results of all calls, or as the end of the run."""

from hypothesis import given
from hypothesis import strategies as st

from judge import Execution, Outcome
from selftrain.refine.gate.running import CallEnd, Run, calls_of, read
from selftrain.refine.tasks.task import Kind, RefineTask

TASK = RefineTask("t", Kind.function, "", entry_point="f")
WORDS = (*CallEnd, *Outcome, "", "x", "\ud800", "a\nb")
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=8,
)
CALLS = st.tuples(st.sampled_from(WORDS), PLAIN)
REPLIES = PLAIN | st.tuples(st.lists(CALLS | PLAIN, max_size=4), st.booleans()) | CALLS


@given(st.one_of(REPLIES.map(repr), st.text()), st.integers(0, 3))
def test_a_reply_is_a_result_for_each_call_or_the_end(answer: str, num_inputs: int) -> None:
    run = Run(TASK, "", ("((), {})",) * num_inputs)
    ran = read(Execution(answer, None, "", 1), run)
    assert len(ran.told) == num_inputs or ran.last is not None
    assert len(calls_of(run, ran)) <= num_inputs
    assert all((told.how is CallEnd.ended) is (told is ran.last) for told in ran.told)


@given(st.lists(st.integers(), max_size=4), st.integers(0, 4))
def test_only_as_many_results_as_calls_are_read(answers: list[int], num_inputs: int) -> None:
    reply = repr(([("returned", one) for one in answers], False))
    ran = read(Execution(reply, None, "", 1), Run(TASK, "", ("((), {})",) * num_inputs))
    is_whole = len(answers) == num_inputs
    assert (ran.last is None) is is_whole
    if is_whole:
        assert [told.text for told in ran.told] == list(map(str, answers))
