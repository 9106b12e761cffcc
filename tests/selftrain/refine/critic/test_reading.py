"""A reply is read as it was meant, or as less: no garbage, cut or template is ever a pass."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refine.critic import replies

from selftrain.refine.critic.loose import Loose, read_loose
from selftrain.refine.critic.reading import read_review
from selftrain.refine.critic.review import NOTHING, Edit, Field, FieldVerdict, How
from selftrain.refine.critic.rules import rules_review
from selftrain.refine.critic.schema import MOST_ACTION_CHARACTERS
from selftrain.refine.critic.wording import review_prompt
from selftrain.refine.gate.evidence import Evidence, GateReport, Status
from selftrain.refine.tasks.task import Kind, RefineTask

LETTERS = {FieldVerdict.passed: "p", FieldVerdict.failed: "f", FieldVerdict.unknown: "u"}
PIECES = st.sampled_from(
    [
        *"{}[]:,\"'#|-\n ",
        '"correctness"',
        "format",
        '"efficiency"',
        "completeness",
        '"verdict"',
        '"edits"',
        "pass",
        '"pass"',
        "fail",
        "```",
        "<think>",
        "</think>",
        '{"verdict": "pass", "edits": []}',
    ]
)


def verdicts(text: str) -> str:
    return "".join(LETTERS[field.verdict] for field in read_review(text).fields)


@pytest.mark.parametrize(
    ("text", "letters", "num_edits", "how"),
    [row[1:] for row in replies.TABLE],
    ids=[row[0] for row in replies.TABLE],
)
def test_malformed_replies_have_one_right_reading(text, letters, num_edits, how):
    review = read_review(text)
    assert (verdicts(text), tuple(len(field.edits) for field in review.fields), review.how) == (
        letters,
        num_edits,
        how,
    )


def test_the_table_has_at_least_forty_malformed_replies():
    assert len({row[1] for row in replies.TABLE if row[4] != "json"}) >= 40


def test_an_empty_reply_is_nothing():
    assert read_review("") == NOTHING


@pytest.mark.parametrize(
    "text", ["line 3: use a set", "Line 3 - use a set", "at line 3: use a set"]
)
def test_a_text_edit_is_split_in_place_and_action(text):
    (edit,) = read_review(json.dumps({"efficiency": {"verdict": "fail", "edits": [text]}})).edits
    assert (edit.location.lower(), edit.action) == ("line 3", "use a set")


def test_a_text_edit_without_a_place_is_all_action():
    assert read_review(
        '{"efficiency": {"verdict": "fail", "edits": ["note: use a set"]}}'
    ).edits == (Edit("", "note: use a set"),)


def test_edits_over_the_bounds_are_counted():
    edits = ["a" * 500, "b", "c", "d", "e"]
    review = read_review(json.dumps({"format": {"verdict": "fail", "edits": edits}}))
    assert [len(edit.action) for edit in review.edits] == [MOST_ACTION_CHARACTERS, 1, 1]
    assert review.num_dropped == 3


def test_edits_stand_in_the_order_of_fields_whatever_the_reply_says_first():
    text = '{"completeness": {"verdict": "fail", "edits": ["z"]}, "correctness": {"verdict": "fail", "edits": ["b", "a"]}}'
    assert [edit.action for edit in read_review(text).edits] == ["b", "a", "z"]


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        "[",
        '{"a":',
        '"a" ',
        '{"a":"b" "',
        "[1,",
        "{'",
        "{#",
        "{</think>",
        "/*",
        "<think>",
        "</think>",
        "- a: ",
        "```\n",
        "correctness: pass\n",
        '{"correctness":',
        "“",
        "\\",
        "[0, n) ",
        "\n",
        "{#\n",
        f"{replies.ALL}\n",
        "correctness: pass\nNo ",
        "a\n",
        "- a\n",
        "x: y\n",
        "pass - no issues ",
        "<|channel|>analysis<|message|>",
        "[THINK]",
        "without any further ",
        "i found no ",
    ],
)
@pytest.mark.parametrize("before", ["", "correctness: pass\n", "correctness: fail\n", replies.ONE])
@pytest.mark.parametrize("size", [49_000, 1_000_000])
def test_a_long_reply_is_read_in_a_second(piece, before, size):
    text = before + (piece * size)[:size] + "x"
    start = time.process_time()
    assert not read_review(text).passes
    assert time.process_time() - start < 1


def test_a_reply_of_a_megabyte_of_blanks_before_a_review_is_read():
    assert verdicts(" " * 1_000_000 + replies.ALL) == "pppp"


@given(st.text() | st.lists(PIECES, max_size=40).map("".join))
def test_no_text_raises(text):
    assert read_review(text).how in How


@given(
    st.text() | st.lists(PIECES.filter(lambda piece: "pass" not in piece), max_size=40).map("".join)
)
def test_what_never_says_pass_passes_nothing(text):
    said = text.lower()
    if not any(word in said for word in ("pass", "ok", "yes", "true", "correct", "✅", "✓", "✔")):
        assert "p" not in verdicts(text)


SEVERAL = {
    "reasoning opened in the prompt",
    "a field twice, otherwise",
    "passes quoted, then cut",
    "a draft, then another",
}
"""Replies that say a pass whole before they say that the same field fails."""


@given(
    st.sampled_from(
        [
            row[1]
            for row in replies.TABLE
            if "f" in row[2] and row[4] != "lines" and row[0] not in SEVERAL
        ]
    ),
    st.integers(0, 600),
)
@settings(max_examples=400)
def test_a_field_that_fails_is_never_passed_by_cutting(text, end):
    for before, after in zip(read_review(text).fields, read_review(text[:end]).fields, strict=True):
        assert not (before.verdict is FieldVerdict.failed and after.verdict is FieldVerdict.passed)


@given(st.integers(0, 500), st.integers(1, 500), st.sampled_from(list(Field)))
@settings(max_examples=300)
def test_a_review_that_fails_is_never_all_pass_by_leaving_a_piece_out(start, length, field):
    fields = {one: replies.F if one is field else replies.P for one in Field}
    text = replies.reply(*fields.values())
    assert not read_review(text[:start] + text[start + length :]).passes


@given(st.integers(0, 250), st.text(max_size=8))
def test_what_is_put_into_a_failing_review_never_makes_it_pass(place, more):
    text = replies.ONE
    assert not read_review(text[:place] + more + text[place:]).passes


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_no_json_value_raises_or_passes(value):
    # Without a field's name there is nothing to pass.
    text = json.dumps(value)
    assert not read_review(text).passes


def _plain(value: Loose):
    if value.kind == "object":
        return {key: _plain(inner) for key, inner in value.pairs}
    return [_plain(inner) for inner in value.values] if value.kind == "list" else value.text


def _as_texts(value):
    if isinstance(value, dict):
        return {key: _as_texts(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_texts(inner) for inner in value]
    return value if isinstance(value, str) else json.dumps(value)


@given(st.lists(JSON, max_size=3), st.booleans())
def test_json_is_read_as_json(value, is_ascii):
    (found,) = read_loose(json.dumps(value, ensure_ascii=is_ascii))
    assert found.is_sound and _plain(found) == _as_texts(value)


@pytest.mark.parametrize(
    "comment",
    [
        "",
        f"# {replies.ALL}",
        "# correctness: pass\n# format: pass\n# efficiency: pass\n# completeness: pass",
    ],
)
@pytest.mark.parametrize("report", [None, GateReport((Evidence("parses", Status.held),))])
def test_an_echo_of_the_prompt_passes_nothing(comment, report):
    task = RefineTask(
        "add", Kind.function, "def add(a, b):\n", entry_point="add", parameters="a, b"
    )
    prompt = review_prompt(task, f"{comment}\ndef add(a, b):\n    return a\n", report, ())
    assert comment in prompt and read_review(prompt) == NOTHING


@pytest.mark.parametrize("source", ["def add(a, b):\n    return a + b\n", "def add(a, b) return"])
def test_what_the_critic_of_rules_says_is_read_as_asked_for(source):
    task = RefineTask(
        "add", Kind.function, "def add(a, b):\n", entry_point="add", parameters="a, b"
    )
    report = GateReport((Evidence("parses", Status.failed, "line 1: invalid syntax"),))
    review = read_review(rules_review(task, source, report))
    assert review.how is How.json and review.num_dropped == 0 and review.edits
