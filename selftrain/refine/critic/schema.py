"""The JSON schema of a critic's reply, for servers that let a model write nothing else.

It has only keywords that OpenAI's strict mode and llama.cpp's grammars both know; all fields are
required, as strict mode wants, and no bound is near 2,000, from where llama.cpp refuses grammars. A
server that refuses it is asked without it, and a reply may break it all the same: reading.py takes
none of it for granted.
"""

import json

from selftrain.refine.critic.review import Field, FieldVerdict

MOST_EDITS = 3
"""Edits of a field; what is beyond them is left out."""
MOST_LOCATION_CHARACTERS = 120
"""What is longer is cut."""
MOST_ACTION_CHARACTERS = 400
"""What is longer is cut."""

_EDIT = {
    "type": "object",
    "properties": {
        "location": {"type": "string", "maxLength": MOST_LOCATION_CHARACTERS},
        "action": {"type": "string", "maxLength": MOST_ACTION_CHARACTERS},
    },
    "required": ["location", "action"],
    "additionalProperties": False,
}
_FIELD = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": [FieldVerdict.passed, FieldVerdict.failed]},
        "edits": {"type": "array", "items": _EDIT, "maxItems": MOST_EDITS},
    },
    "required": ["verdict", "edits"],
    "additionalProperties": False,
}
REVIEW_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": dict.fromkeys(Field, _FIELD),
        "required": list(Field),
        "additionalProperties": False,
    }
)
"""As text, for `Message.schema`."""
