"""The schema of a reply is one that servers can follow, and what follows it is read as asked for."""

import json

import pytest

from selftrain.refine.critic.reading import read_review
from selftrain.refine.critic.review import Field, FieldVerdict, How
from selftrain.refine.critic.schema import (
    MOST_ACTION_CHARACTERS,
    MOST_EDITS,
    MOST_LOCATION_CHARACTERS,
    REVIEW_SCHEMA,
)

SCHEMA = json.loads(REVIEW_SCHEMA)
KNOWN = {
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "maxItems",
    "maxLength",
    "enum",
}
EDIT = {"location": "l" * MOST_LOCATION_CHARACTERS, "action": "a" * MOST_ACTION_CHARACTERS}


def schemas(schema):
    """Yield a schema and all within it."""
    yield schema
    for inner in [
        *schema.get("properties", {}).values(),
        *([schema["items"]] if "items" in schema else []),
    ]:
        yield from schemas(inner)


def test_every_keyword_is_one_that_strict_mode_and_llama_cpp_know():
    assert {keyword for schema in schemas(SCHEMA) for keyword in schema} == KNOWN


def test_every_object_requires_all_that_it_has_and_takes_nothing_else():
    objects = [schema for schema in schemas(SCHEMA) if schema["type"] == "object"]
    assert len(objects) == 9
    for schema in objects:
        assert (
            schema["required"] == list(schema["properties"])
            and schema["additionalProperties"] is False
        )


def test_fields_stand_in_the_order_of_the_paper():
    assert list(SCHEMA["properties"]) == ["correctness", "format", "efficiency", "completeness"]


def test_no_bound_is_one_that_llama_cpp_refuses():
    assert max(schema.get("maxLength", 0) for schema in schemas(SCHEMA)) < 2_000


@pytest.mark.parametrize("verdict", SCHEMA["properties"]["format"]["properties"]["verdict"]["enum"])
def test_what_the_schema_allows_at_most_is_read_whole(verdict):
    edits = [{**EDIT, "action": f"{number}{EDIT['action'][1:]}"} for number in range(MOST_EDITS)]
    review = read_review(
        json.dumps({field: {"verdict": verdict, "edits": edits} for field in Field})
    )
    assert review.how is How.json and review.num_dropped == 0
    assert [field.verdict for field in review.fields] == [FieldVerdict.failed] * 4
    assert [len(field.edits) for field in review.fields] == [3] * 4


def test_the_converter_of_llama_cpp_takes_it():
    xllamacpp = pytest.importorskip("xllamacpp")
    assert "correctness" in xllamacpp.json_schema_to_grammar(REVIEW_SCHEMA)
