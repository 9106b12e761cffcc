"""The words by which models name a field, a verdict and the parts of an edit, and the few that may
stand beside a pass. What is not known here is taken at its worst: a name is none, a word a doubt.
Only a reason, whose words are free, is searched for doubts.
"""

import re

from selftrain.refine.critic.review import Edit, Field, FieldVerdict
from selftrain.refine.texts import one_line


def _set(words: str) -> frozenset[str]:
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
_NOTHING = frozenset(
    [
        "",
        "n a",
        "nil",
        "no changes",
        "no changes needed",
        "no edit",
        "no edits",
        "no edits needed",
        "none",
        "none needed",
        "not applicable",
        "nothing",
        "null",
    ]
)
"""What stands in the place of edits, or behind a pass, where there are none."""
_FALSE = frozenset(["no", "false", "0"])
"""The same, but where a verdict may stand it says the opposite."""
_NO_DOUBT = re.compile(
    r"\b(?:(?:i (?:have )?found )?(?:no|without(?: any)?)(?: (?:other|further|additional|more))?"
    r" (?:issues?|edits?|changes?|problems?|errors?|bugs?|fix(?:es)?|mistakes?|concerns?|comments?"
    r"|suggestions?)"
    r"(?: (?:are|is|was|were))?(?: (?:needed|required|necessary|found))?|never fails"
    r"|let me know if you (?:have|need) (?:any )?(?:further |more |other )?"
    r"(?:questions?|help|details?))\b"
)
_FRIENDLY = re.compile(
    r"\b(?:correctness, format, efficiency,? and completeness"
    r"|(?:in|as) (?:the )?(?:json|requested)(?: json)? format|as (?:expected|requested|asked)"
    r"|(?:solves|solved) the (?:problem|task)|i hope (?:this|that|it) helps)\b"
)
_HARMLESS = _set(
    "4 a all also an analysis and are assessment at based candidate cases clean clear code"
    " complete completely correct correctly course covered covers done each edge edits efficient"
    " efficiently evaluation every excellent explanation fast feedback field fields final fine"
    " for four function good great handled handles have here i implementation in inputs is it"
    " job json linear log look looks meets my n nice o of ok okay on optimal overall pass passed"
    " passes passing perfect program readable requirements result results review reviewed"
    " satisfies solution specification submission summary sure tests thank thanks that the there"
    " these this time verdict verdicts very we well with work works yes you your"
)
"""What a friendly sentence beside a pass is made of: no word that denies, supposes, quotes or tells
what a program does. That an honest pass is read as none is the smaller mistake."""
_ANNOUNCES = _set(
    "assessment evaluation feedback json result results review summary verdict verdicts"
)
"""One of these is in what leads to a review; without it, what follows is something else's."""
_SENTENCE_ENDS = re.compile(r"[.!\n]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_PLAIN = re.compile(r"[\w\s.,;:!*#|()/'’✅✓✔👍🎉😊\ufe0f–—-]*")
_END_TOKEN = re.compile(
    r"<\|(?:im_end|endoftext|end_of_text|eot_id|eom_id|end|return)\|>|</s>|<eos>|<end_of_turn>"
)
_DOUBT = re.compile(
    r"\b(?:fail\w*|no|not|but|however|except|though|although|unless|should|must|needs?|missing"
    r"|miss(?:es)?|incorrect\w*|wrong\w*|or|could|would|only|if|never|fix|change|replace|add"
    r"|remove|unknown|partial\w*|crash\w*|breaks?|broken|bugs?|buggy|errors?|exceptions?|issues?"
    r"|a problem|problems|concerns?|mistakes?|slow\w*|quadratic|exponential|poor\w*|bad\w*|weak\w*"
    r"|reject\w*|revis\w+|improv\w+|inefficien\w*|incomplete\w*|invalid|insufficient\w*|lack\w*"
    r"|\w+error|\w+exception|rais(?:es|ed|ing)|half"
    r"|instead|better|wait|actually|consider|suggest\w*|recommend\w*|mend\w*)\b|n['’]t\b|[❌✗✘?]"
    # What a sentence that asks for something begins with.
    r"|(?:^|[.;:!,\n])[\s*_-]{0,8}(?:please |just |then |and )?(?:use|try|handle|avoid|make|rewrite"
    r"|refactor|check|sort|return|raise|catch|store|cache|rename|convert|compare|ensure|guard"
    r"|initiali[sz]e|increase|decrease|reduce|limit|optimi[sz]e|simplify|split|swap|validate|skip"
    r"|implement|define|delete|drop|move|put|set|write)\b(?! (?:is|are|was|were|type|value)\b)"
)
"""What may take a pass back in a reason."""
_ASKING = re.compile(r"\b(?:edits?|actions?|advice|faults?|defects?|problems?|todo)\b")
"""Such a key names what is wrong, or what to do; so does one that has a doubt."""
_MARK = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*(?:%|(?:/|out of|of)\s*(\d+(?:\.\d+)?))?(?!\w)")
_FULL_MARKS = (10, 100)
_COUNTING_KEYS = frozenset(["id", "index", "number", "weight"])
_REVIEW_KEYS = VERDICT_KEYS | _set(
    "aspects assessments categories criteria critique dimensions edits evaluation evaluations"
    " feedback fields final overall report response results review reviews scores summary verdicts"
)
"""What keys of what holds fields are made of. Under another, as `old_review`, it may be none."""
_KNOWN_KEYS = (
    _REVIEW_KEYS
    | PASS_KEYS
    | FIELD_KEYS
    | _COUNTING_KEYS
    | _set(
        "all comment comments confidence description details explanation justification mark note"
        " notes passing rating rationale reason reasoning reasons score why"
    )
)
"""What keys of a text beside a pass are made of. Any other may deny it, as `is_old` does."""
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
    return _FIELD_NAMED.get(_words(plain))


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


def asks_nothing(text: str) -> bool:
    """Tell whether what stands in the place of an edit says that there is none."""
    return says_none(text) or _words(text) in _FALSE


def says_none(text: str) -> bool:
    """Tell whether a text behind a pass says that there is nothing more."""
    words = _words(text)
    return words in _NOTHING or _NO_DOUBT.fullmatch(words) is not None


def is_harmless(text: str) -> bool:
    """Tell whether a text beside a pass takes nothing back: it is friendly words and no others."""
    plain = _FRIENDLY.sub(" ", _NO_DOUBT.sub(" ", _END_TOKEN.sub(" ", text.lower())))
    return _PLAIN.fullmatch(plain) is not None and _words_of(plain) <= _HARMLESS


def leads_to_review(text: str) -> bool:
    """Tell whether a text before a pass is harmless, and what it leads to is a review."""
    if not is_harmless(text):
        return False
    *_, last = ["", *(line for line in text.lower().splitlines() if _WORD.search(line))]
    lead = _SENTENCE_ENDS.split(last.rstrip(" *_#|"))[-1]
    return not _words_of(lead) or not _ANNOUNCES.isdisjoint(_words_of(lead))


def _words_of(text: str) -> set[str]:
    return {re.sub(r"['’]s$", "", word) for word in _WORD.findall(text)}


def _has_doubt(text: str) -> bool:
    """Tell whether a reason may take a pass back."""
    return _DOUBT.search(_NO_DOUBT.sub(" ", text.lower())) is not None


def asks_for_more(key: str) -> bool:
    """Tell whether a key names what is wrong or what to do: `needs_changes`, `bugs found`."""
    words = _words(key)
    return _ASKING.search(words) is not None or _has_doubt(words)


def holds_review(key: str) -> bool:
    """Tell whether what holds fields is a review under this key; a list's entries have none."""
    return _REVIEW_KEYS.issuperset(_words(key).split())


def takes_back(key: str, text: str) -> bool:
    """Tell whether a text beside a pass, under a key that no reader asks for, may take it back.

    A number does unless it is full marks: what it is of is not said. So does all under a key that
    is not known.
    """
    if not text.strip():
        return False
    if asks_for_more(key):
        return not asks_nothing(text)
    if not key or not _KNOWN_KEYS.issuperset(_words(key).split()):
        return True
    mark = _MARK.match(text)
    if mark is not None and (mark[2] is not None or mark.end() == len(text)):
        most = _FULL_MARKS if mark[2] is None else (float(mark[2]),)
        return key_named(key) not in _COUNTING_KEYS and float(mark[1]) not in most
    is_no = verdict_of(text) is FieldVerdict.failed
    return is_no or (_has_doubt(text) and not asks_nothing(text))


def _words(text: str) -> str:
    """Write a text as its words alone, in lower case."""
    return re.sub(r"[\W_]+", " ", _CAMEL.sub(" ", text).lower()).strip()


def edit_of(text: str) -> Edit:
    """Split a text such as `line 3: use a set` in its place and what to do there."""
    text = plain(text)
    found = _PLACE.match(text)
    return Edit("", text) if found is None else Edit(found[1].strip("` "), text[found.end() :])


def plain(text: str) -> str:
    """Write a text in one line, without letters that cannot be printed."""
    return one_line("".join(letter if letter.isprintable() else " " for letter in text))
