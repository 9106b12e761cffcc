"""What may stand beside a pass, and what takes it back.

A word that is not known here is a doubt; only a reason, whose words are free, is searched for
doubts.
"""

import re

from selftrain.refine.critic.names import (
    FIELD_KEYS,
    PASS_KEYS,
    VERDICT_KEYS,
    key_named,
    set_of,
    verdict_of,
    words_of,
)
from selftrain.refine.critic.review import FieldVerdict

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
_HARMLESS = set_of(
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
_ANNOUNCES = set_of(
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
_REVIEW_KEYS = VERDICT_KEYS | set_of(
    "aspects assessments categories criteria critique dimensions edits evaluation evaluations"
    " feedback fields final overall report response results review reviews scores summary verdicts"
)
"""What keys of what holds fields are made of. Under another, as `old_review`, it may be none."""
_KNOWN_KEYS = (
    _REVIEW_KEYS
    | PASS_KEYS
    | FIELD_KEYS
    | _COUNTING_KEYS
    | set_of(
        "all comment comments confidence description details explanation justification mark note"
        " notes passing rating rationale reason reasoning reasons score why"
    )
)
"""What keys of a text beside a pass are made of. Any other may deny it, as `is_old` does."""


def asks_nothing(text: str) -> bool:
    """Tell whether what stands in the place of an edit says that there is none."""
    return says_none(text) or words_of(text) in _FALSE


def says_none(text: str) -> bool:
    """Tell whether a text behind a pass says that there is nothing more."""
    words = words_of(text)
    return words in _NOTHING or _NO_DOUBT.fullmatch(words) is not None


def is_harmless(text: str) -> bool:
    """Tell whether a text beside a pass takes nothing back: it is friendly words and no others."""
    plain = _FRIENDLY.sub(" ", _NO_DOUBT.sub(" ", _END_TOKEN.sub(" ", text.lower())))
    return _PLAIN.fullmatch(plain) is not None and _each_word(plain) <= _HARMLESS


def leads_to_review(text: str) -> bool:
    """Tell whether a text before a pass is harmless, and what it leads to is a review."""
    if not is_harmless(text):
        return False
    *_, last = ["", *(line for line in text.lower().splitlines() if _WORD.search(line))]
    lead = _SENTENCE_ENDS.split(last.rstrip(" *_#|"))[-1]
    return not _each_word(lead) or not _ANNOUNCES.isdisjoint(_each_word(lead))


def _each_word(text: str) -> set[str]:
    return {re.sub(r"['’]s$", "", word) for word in _WORD.findall(text)}


def _has_doubt(text: str) -> bool:
    """Tell whether a reason may take a pass back."""
    return _DOUBT.search(_NO_DOUBT.sub(" ", text.lower())) is not None


def asks_for_more(key: str) -> bool:
    """Tell whether a key names what is wrong or what to do: `needs_changes`, `bugs found`."""
    words = words_of(key)
    return _ASKING.search(words) is not None or _has_doubt(words)


def holds_review(key: str) -> bool:
    """Tell whether what holds fields is a review under this key; a list's entries have none."""
    return _REVIEW_KEYS.issuperset(words_of(key).split())


def takes_back(key: str, text: str) -> bool:
    """Tell whether a text beside a pass, under a key that no reader asks for, may take it back.

    A number does unless it is full marks: what it is of is not said. So does all under a key that
    is not known.
    """
    if not text.strip():
        return False
    if asks_for_more(key):
        return not asks_nothing(text)
    if not key or not _KNOWN_KEYS.issuperset(words_of(key).split()):
        return True
    mark = _MARK.match(text)
    if mark is not None and (mark[2] is not None or mark.end() == len(text)):
        most = _FULL_MARKS if mark[2] is None else (float(mark[2]),)
        return key_named(key) not in _COUNTING_KEYS and float(mark[1]) not in most
    is_no = verdict_of(text) is FieldVerdict.failed
    return is_no or (_has_doubt(text) and not asks_nothing(text))
