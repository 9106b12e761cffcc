"""The words by which models name a field, a verdict and the parts of an edit.

What is not known here is no name and no verdict.
"""

import re

from selftrain.refine.critic.review import Edit, Field, FieldVerdict
from selftrain.refine.texts import one_line


def set_of(words: str) -> frozenset[str]:
    """Give the words of a text, which stand between blanks."""
    return frozenset(words.split())


VERDICT_KEYS = frozenset(
    [
        "verdict",
        "status",
        "result",
        "judgement",
        "judgment",
        "decision",
        "assessment",
        "outcome",
        "value",
    ]
)
"""Keys of a verdict."""
PASS_KEYS = frozenset(("pass", "passed", "passes", "ok"))
"""Keys whose value says whether a field passes."""
EDITS_KEYS = frozenset(
    [
        "edits",
        "edit",
        "changes",
        "change",
        "suggestions",
        "suggestion",
        "recommendations",
        "recommendation",
        "fixes",
        "fix",
        "actions",
        "action",
        "advice",
        "issues",
        "issue",
        "problems",
        "problem",
        "bugs",
        "bug",
        "improvements",
        "improvement",
        "todo",
    ]
)
FIELD_KEYS = frozenset(["field", "name", "category", "criterion", "aspect", "dimension"])
"""Keys of a field's name, where a list holds the fields."""
LOCATION_KEYS = frozenset(["location", "loc", "where", "line", "lines", "position", "place"])
ACTION_KEYS = frozenset(
    [
        "action",
        "edit",
        "change",
        "fix",
        "suggestion",
        "description",
        "what",
        "instruction",
        "how",
        "text",
    ]
)
_FIELDS = {
    Field.correctness: "correctness|correct|functional correctness|logic",
    Field.format: (
        "format|formatting|input output format|input and output format|i o format|io format|"
        "input output|i o|io|input format|output format|input output formatting"
    ),
    Field.efficiency: (
        "efficiency|efficient|performance|complexity|time complexity|space complexity|runtime|"
        "time efficiency|speed"
    ),
    Field.completeness: (
        "completeness|complete|coverage|edge cases|edge case coverage|edge case handling"
    ),
}
_FIELD_NAMED = {name: field for field, names in _FIELDS.items() for name in names.split("|")}
_PASSES = frozenset(
    ["pass", "passed", "passes", "passing", "ok", "okay", "yes", "true", "correct", "✅", "✓", "✔"]
)
_FAILS = frozenset(
    [
        "fail",
        "failed",
        "fails",
        "failing",
        "no",
        "false",
        "incorrect",
        "wrong",
        "❌",
        "✗",
        "✘",
        "×",
        "needs-work",
        "not-ok",
    ]
)
_FAILS_BEFORE_MORE = re.compile(r"(?:fail(?:s|ed|ing)?|incorrect|needs work|❌|✗|✘)(?![\w/|])")
_CHOICE = re.compile(r"\bpass\b.{1,12}\bfail\b|\bfail\b.{1,12}\bpass\b", re.DOTALL)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MARKS = "*_`\"'“”‘’ \t.,;:!()[]-–—\ufe0f"
_NUMBER = re.compile(r"^\(?\d{1,2}[.):]?\s+")
_PLACE = re.compile(
    r"(?:(?:in|at|on)\s+)?(?:the\s+)?((?:lines?|loops?|functions?|methods?|def|return|signature"
    r"|body|head|imports?|`[^`]{1,60}`)\b[^:–—]{0,60}?)\s*(?::|\s[-–—])\s+(?=\S)",
    re.IGNORECASE,
)


def field_named(text: str) -> Field | None:
    """Give the field that a text names, whatever its case, marks and number; None for any other."""
    if len(text) > 60:
        return None
    plain = _NUMBER.sub("", text.strip(_MARKS + "#|>"))
    return _FIELD_NAMED.get(words_of(plain))


def key_named(text: str) -> str:
    """Write a key in lower case, without marks."""
    return text.strip(_MARKS).lower()


def verdict_of(text: str) -> FieldVerdict:
    """Give the verdict that a text is. More than one word is a verdict only where it fails."""
    plain = one_line(text.lower().strip(_MARKS))
    words = frozenset(word for piece in plain.split() if (word := piece.strip(_MARKS)))
    if plain in _PASSES or (words and words <= _PASSES):
        return FieldVerdict.passed
    if plain.replace(" ", "-") in _FAILS or _FAILS_BEFORE_MORE.match(plain):
        return FieldVerdict.failed
    return FieldVerdict.unknown


def is_choice(text: str) -> bool:
    """Tell whether a text offers both verdicts, as the template of a reply does."""
    return _CHOICE.search(text.lower()) is not None


def edit_of(text: str) -> Edit:
    """Split a text such as `line 3: use a set` in its place and what to do there."""
    text = plain(text)
    found = _PLACE.match(text)
    return Edit("", text) if found is None else Edit(found[1].strip("` "), text[found.end() :])


def plain(text: str) -> str:
    """Write a text in one line, without letters that cannot be printed."""
    return one_line("".join(letter if letter.isprintable() else " " for letter in text))


def words_of(text: str) -> str:
    """Write a text as its words alone, in lower case."""
    return re.sub(r"[\W_]+", " ", _CAMEL.sub(" ", text).lower()).strip()
