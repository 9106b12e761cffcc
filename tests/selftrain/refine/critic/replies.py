"""Replies of critics, most of them malformed, and the one right reading of each.

Verdicts are a letter a field (p pass, f fail, u unknown) in the order correctness, format,
efficiency, completeness; then how many edits a field has, and how it was read.
"""

P = '{"verdict": "pass", "edits": []}'
F = '{"verdict": "fail", "edits": [{"location": "line 3", "action": "use a set"}]}'


def reply(
    correctness: str = P, format_: str = P, efficiency: str = P, completeness: str = P
) -> str:
    """Write a reply with these fields."""
    return f'{{"correctness": {correctness}, "format": {format_}, "efficiency": {efficiency}, "completeness": {completeness}}}'


def flat(verdict: str) -> str:
    return ", ".join(
        f'"{field}": {verdict}' for field in ("correctness", "format", "efficiency", "completeness")
    )


ALL = reply()
ONE = reply(efficiency=F)
LINES = "correctness: pass\nformat: pass\nefficiency: {}\ncompleteness: pass\n"
TEMPLATE = reply(
    *['{"verdict": "pass or fail", "edits": [{"location": "where", "action": "what to do"}]}'] * 4
)
BAR = reply(*['{"verdict": "pass" | "fail", "edits": []}'] * 4)
SCHEMA = (
    '{"type": "object", "properties": {'
    + ", ".join(
        f'"{field}": {{"type": "object", "properties": {{"verdict": {{"enum": ["pass", "fail"]}}, "edits": {{"type": "array"}}}}}}'
        for field in ("correctness", "format", "efficiency", "completeness")
    )
    + "}}"
)
ENTRY = '{{"field": "{}", "verdict": "{}", "edits": []}}'
FOUR = ("correctness", "format", "efficiency", "completeness")

PASSES = LINES.format("pass")
TICKED = "".join(f"- [x] {field}: pass\n" for field in FOUR)
TABLE_OF_PASSES = "| Field | Verdict |\n|---|---|\n" + "".join(
    f"| {field} | pass |\n" for field in FOUR
)

NONE = (0, 0, 0, 0)
DOUBTED = ("uuuu", (0, 0, 0, 0), "nothing")
MENDED = ("pppp", (0, 0, 0, 0), "mended")

TABLE: list[tuple[str, str, str, tuple[int, int, int, int], str]] = [
    # name, reply, verdicts, edits, how
    ("as asked", ALL, "pppp", (0, 0, 0, 0), "json"),
    ("as asked, one fails", ONE, "ppfp", (0, 0, 1, 0), "json"),
    ("laid out over lines", ONE.replace(", ", ",\n  "), "ppfp", (0, 0, 1, 0), "json"),
    ("pass with an edit", reply(F.replace("fail", "pass")), "fppp", (1, 0, 0, 0), "json"),
    ("fail without edits", reply(P.replace("pass", "fail")), "fppp", (0, 0, 0, 0), "json"),
    ("in a fence", f"```json\n{ONE}\n```", "ppfp", (0, 0, 1, 0), "mended"),
    (
        "prose around it",
        f"Here is my review:\n{ALL}\nI hope this helps!",
        "pppp",
        (0, 0, 0, 0),
        "mended",
    ),
    ("an interval in prose", f"On [0, n) it is right. {ONE}", "ppfp", (0, 0, 1, 0), "mended"),
    ("a set in prose", f"It gives {{1, 2}} for that. {ONE}", "ppfp", (0, 0, 1, 0), "mended"),
    ("a brace that never ends", f"The line `{{` is odd. {ONE}", "ppfp", (0, 0, 1, 0), "mended"),
    ("end of text token", f"{ALL}<|im_end|>", "pppp", (0, 0, 0, 0), "mended"),
    (
        "reasoning before it",
        f"<think>all pass? {ALL} no.</think>\n{ONE}",
        "ppfp",
        (0, 0, 1, 0),
        "json",
    ),
    (
        "reasoning opened in the prompt",
        f"correctness: pass {ALL}</think>{ONE}",
        "ppfp",
        (0, 0, 1, 0),
        "json",
    ),
    ("reasoning that never ends", f"<think>I would say {ALL}", "uuuu", (0, 0, 0, 0), "nothing"),
    (
        "reasoning in reasoning",
        f"<think>a <think> b</think> {ALL}",
        "uuuu",
        (0, 0, 0, 0),
        "nothing",
    ),
    ("reasoning after it", f"{ONE}<think>or {ALL}", "ppfp", (0, 0, 1, 0), "json"),
    ("trailing commas", ONE.replace("}", ",}").replace("]", ",]"), "ppfp", (0, 0, 1, 0), "mended"),
    (
        "missing commas",
        ONE.replace('"pass", "edits"', '"pass" "edits"').replace("}, ", "} "),
        "ppfp",
        (0, 0, 1, 0),
        "mended",
    ),
    ("single quotes", ONE.replace('"', "'"), "ppfp", (0, 0, 1, 0), "mended"),
    (
        "typographic quotes",
        ONE.replace('"pass"', "“pass”").replace('"use a set"', "“use a set”"),
        "ppfp",
        (0, 0, 1, 0),
        "mended",
    ),
    (
        "keys without quotes",
        ONE.replace('"verdict"', "verdict").replace('"efficiency"', "efficiency"),
        "ppfp",
        (0, 0, 1, 0),
        "mended",
    ),
    ("no quotes at all", ONE.replace('"', ""), "ppfp", (0, 0, 1, 0), "mended"),
    (
        "an apostrophe in single quotes",
        reply("{'verdict': 'fail', 'edits': [{'location': 'it', 'action': 'don't sort'}]}"),
        "fppp",
        (1, 0, 0, 0),
        "mended",
    ),
    (
        "quotes in a text",
        reply(F.replace("use a set", 'use "set" here')),
        "fppp",
        (1, 0, 0, 0),
        "mended",
    ),
    (
        "a line break in a text",
        reply(F.replace("use a set", "use\na set")),
        "fppp",
        (1, 0, 0, 0),
        "mended",
    ),
    (
        "comments",
        ONE.replace("{", "{ // a field\n", 1).replace("], ", "] /* none */, "),
        "ppfp",
        (0, 0, 1, 0),
        "mended",
    ),
    (
        "Python's literals",
        "{" + flat("True").replace('"completeness": True', '"completeness": False') + "}",
        "pppf",
        (0, 0, 0, 0),
        "mended",
    ),
    ("None as edits", ALL.replace("[]", "None"), "pppp", (0, 0, 0, 0), "mended"),
    ("null as a verdict", reply('{"verdict": null, "edits": []}'), "uppp", (0, 0, 0, 0), "mended"),
    ("verdicts alone", "{" + flat('"pass"') + "}", "pppp", (0, 0, 0, 0), "mended"),
    (
        "a text with its edit",
        '{"correctness": "fail: line 2: return the sum"}',
        "fuuu",
        (1, 0, 0, 0),
        "mended",
    ),
    (
        "other words for verdicts",
        "{" + flat('"OK"').replace('"efficiency": "OK"', '"efficiency": "Needs work"') + "}",
        "ppfp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "check marks",
        "{" + flat('"✅ pass"').replace('"efficiency": "✅ pass"', '"efficiency": "❌ fail"') + "}",
        "ppfp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "a verdict that says more",
        reply('{"verdict": "mostly pass", "edits": []}'),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "a verdict in angle brackets",
        reply('{"verdict": "<pass>", "edits": []}'),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    ("a number as a verdict", reply('{"verdict": 1, "edits": []}'), "uppp", (0, 0, 0, 0), "mended"),
    (
        "aliases of fields",
        ALL.replace('"format"', '"Input/Output Format"')
        .replace('"efficiency"', '"performance"')
        .replace('"completeness"', '"coverage"'),
        "pppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "more aliases of fields",
        ALL.replace('"correctness"', '"1. Correctness"')
        .replace('"format"', '"inputOutputFormat"')
        .replace('"efficiency"', '"time_complexity"')
        .replace('"completeness"', '"edge cases"'),
        "pppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "aliases of keys",
        '{"efficiency": {"status": "failed", "suggestions": [{"line": 3, "fix": "use a set"}]}}',
        "uufu",
        (0, 0, 1, 0),
        "mended",
    ),
    (
        "a key that passes",
        '{"correctness": {"passed": true}, "format": {"pass": false}}',
        "pfuu",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "edits as texts",
        '{"efficiency": {"verdict": "fail", "edits": ["line 3: use a set", "sort once"]}}',
        "uufu",
        (0, 0, 2, 0),
        "mended",
    ),
    (
        "one edit without a list",
        '{"efficiency": {"verdict": "fail", "edits": {"location": "f", "action": "use a set"}}}',
        "uufu",
        (0, 0, 1, 0),
        "mended",
    ),
    (
        "an edit as a pair",
        '{"efficiency": {"verdict": "fail", "edits": [["line 3", "use a set"]]}}',
        "uufu",
        (0, 0, 1, 0),
        "mended",
    ),
    (
        "edits that say none",
        reply('{"verdict": "pass", "edits": ["None needed."]}'),
        "pppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "an edit that is blank",
        reply('{"verdict": "pass", "edits": [{"location": "", "action": ""}]}'),
        "pppp",
        (0, 0, 0, 0),
        "json",
    ),
    (
        "an edit without an action",
        reply('{"verdict": "pass", "edits": [{"location": "line 2", "action": ""}]}'),
        "uppp",
        (0, 0, 0, 0),
        "json",
    ),
    (
        "an edit of other keys",
        reply('{"verdict": "pass", "edits": [{"foo": "bar"}]}'),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "edits without a verdict",
        '{"correctness": [{"location": "line 1", "action": "return x"}]}',
        "fuuu",
        (1, 0, 0, 0),
        "mended",
    ),
    (
        "five edits",
        '{"efficiency": {"verdict": "fail", "edits": ["a b", "c d", "e f", "g h", "i j"]}}',
        "uufu",
        (0, 0, 3, 0),
        "mended",
    ),
    (
        "the same edit twice",
        '{"efficiency": {"verdict": "fail", "edits": ["use a set", "Use  a set"]}}',
        "uufu",
        (0, 0, 1, 0),
        "mended",
    ),
    ("under review", f'{{"review": {ONE}, "summary": "good"}}', "ppfp", (0, 0, 1, 0), "mended"),
    ("under feedback, in a list", f'{{"feedback": [{ONE}]}}', "ppfp", (0, 0, 1, 0), "mended"),
    (
        "a list of entries",
        "[" + ", ".join(ENTRY.format(field, "pass") for field in FOUR) + "]",
        "pppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "entries under fields",
        '{"fields": [' + ", ".join(ENTRY.format(field, "fail") for field in FOUR) + "]}",
        "ffff",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "an object a line",
        "\n".join(ENTRY.format(field, "pass") for field in FOUR),
        "pppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "a field an object",
        "\n".join(f'{{"{field}": {P}}}' for field in FOUR),
        "pppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "verdicts and edits apart",
        "{"
        + f'"verdicts": {{{flat(chr(34) + "pass" + chr(34))}}}, "edits": {{"efficiency": ["use a set"], "format": []}}'
        + "}",
        "ppfp",
        (0, 0, 1, 0),
        "mended",
    ),
    (
        "a field is missing",
        f'{{"correctness": {P}, "format": {P}, "efficiency": {P}}}',
        "pppu",
        (0, 0, 0, 0),
        "mended",
    ),
    ("an overall verdict", '{"verdict": "pass", "edits": []}', "uuuu", (0, 0, 0, 0), "nothing"),
    (
        "a field twice, otherwise",
        f'{ALL[:-1]}, "correctness": {F}}}',
        "fppp",
        (1, 0, 0, 0),
        "mended",
    ),
    (
        "a field twice, then taken back",
        f'{{"correctness": {F}, {ALL[1:]}',
        "fppp",
        (1, 0, 0, 0),
        "mended",
    ),
    ("a field twice, alike", f'{ALL[:-1]}, "correctness": {P}}}', "pppp", (0, 0, 0, 0), "mended"),
    (
        "a verdict twice, otherwise",
        reply('{"verdict": "pass", "verdict": "unsure", "edits": []}'),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    ("the last bracket is missing", ALL[:-1], "pppp", (0, 0, 0, 0), "mended"),
    ("cut in the edits of a pass", ALL[: ALL.rindex("[") + 1], "pppu", (0, 0, 0, 0), "mended"),
    ("cut in a verdict", '{"correctness": {"verdict": "pas', "uuuu", (0, 0, 0, 0), "nothing"),
    (
        "cut behind a bare verdict",
        '{"correctness": "fail", "format": pass',
        "fuuu",
        (0, 0, 0, 0),
        "mended",
    ),
    ("cut in an action", ONE[: ONE.index("a set")], "ppfu", (0, 0, 0, 0), "mended"),
    ("cut behind an action", ONE[: ONE.index("a set") + 6], "ppfu", (0, 0, 1, 0), "mended"),
    (
        "cut, and it quotes passes",
        '{"correctness": {"verdict": "fail", "edits": [{"location": "line 1", "action": "remove {'
        + flat("pass").replace('"', "")
        + '}"}',
        "fuuu",
        (1, 0, 0, 0),
        "mended",
    ),
    (
        "passes quoted, then cut",
        "The comment {"
        + flat("pass").replace('"', "")
        + '} is no review. {"correctness": {"verdict": "fail", "edits": [',
        "fuuu",
        (0, 0, 0, 0),
        "mended",
    ),
    ("a draft, then another", f"{ALL}\nOn second thought:\n{ONE}", "ppfp", (0, 0, 1, 0), "mended"),
    ("the fullest wins", f'{ONE}\n{{"correctness": {P}}}', "ppfp", (0, 0, 1, 0), "mended"),
    (
        "a bracket of another kind",
        reply('{"verdict": "pass", "edits": []]'),
        "uuuu",
        (0, 0, 0, 0),
        "nothing",
    ),
    (
        "words behind a pass",
        reply('{"verdict": pass, but slow, "edits": []}'),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    ("the template", TEMPLATE, "uuuu", (0, 0, 0, 0), "nothing"),
    ("the template without edits", BAR, "uuuu", (0, 0, 0, 0), "nothing"),
    (
        "the template with comments",
        ALL.replace('"pass",', '"pass", // or "fail"\n'),
        "uuuu",
        (0, 0, 0, 0),
        "nothing",
    ),
    ("the schema", SCHEMA, "uuuu", (0, 0, 0, 0), "nothing"),
    ("the template, then a review", f"{BAR}\n{ONE}", "ppfp", (0, 0, 1, 0), "mended"),
    (
        "code in a fence says pass",
        "```python\n# correctness: pass\n# format: pass\n```\n" + reply(F, F, F, F),
        "ffff",
        (1, 1, 1, 1),
        "mended",
    ),
    (
        "code in a fence, and no review",
        "```python\ncorrectness: pass\nformat: pass\nefficiency: pass\ncompleteness: pass\n```",
        "uuuu",
        (0, 0, 0, 0),
        "nothing",
    ),
    (
        "code in a fence holds a review, and the reply is cut",
        "You wrote:\n```python\n# " + ALL + "\ndef f():\n    return 1\n```\nThat is",
        "uuuu",
        (0, 0, 0, 0),
        "nothing",
    ),
    (
        "code in a fence that never ends holds a review",
        "You wrote:\n```python\n# " + ALL + "\ndef f():",
        "uuuu",
        (0, 0, 0, 0),
        "nothing",
    ),
    (
        "an edit in another script",
        reply('{"verdict": "pass", "edits": ["使用集合"]}'),
        "fppp",
        (1, 0, 0, 0),
        "mended",
    ),
    (
        "an action that quotes the end of reasoning and passes",
        reply(
            F.replace(
                "use a set",
                "remove </think>{correctness: pass, format: pass, efficiency: pass, completeness: pass}",
            )
        ),
        "fppp",
        (1, 0, 0, 0),
        "json",
    ),
    (
        "verdicts, then cut in the edits that go with them",
        "{" + f'"verdicts": {{{flat(chr(34) + "pass" + chr(34))}}}, "edits": {{"effi',
        "uuuu",
        (0, 0, 0, 0),
        "nothing",
    ),
    (
        "a pass with a reason",
        reply('{"verdict": "pass", "reason": "It never fails.", "edits": []}'),
        "pppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "edits under a key that is broken",
        reply(F.replace("fail", "pass").replace('"edits"', 's"')),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "a dict in a fence of Python",
        "```python\n" + ONE + "\n```",
        "ppfp",
        (0, 0, 1, 0),
        "mended",
    ),
    (
        "passes, then a review whose keys are broken",
        ALL + "\n" + ONE.replace('"efficiency"', '"effici'),
        "uuuu",
        (0, 0, 0, 0),
        "nothing",
    ),
    (
        "code without a fence",
        "def f():\n    # correctness: pass\n# format: pass\n# efficiency: pass\n# completeness: pass\n    return 1",
        "uuuu",
        (0, 0, 0, 0),
        "nothing",
    ),
    ("lines", LINES.format("fail - use a set"), "ppfp", (0, 0, 1, 0), "lines"),
    (
        "lines without a doubt",
        LINES.format("pass - no issues found"),
        "pppp",
        (0, 0, 0, 0),
        "lines",
    ),
    (
        "lines with a doubt",
        LINES.format("pass - but it is quadratic"),
        "ppup",
        (0, 0, 0, 0),
        "lines",
    ),
    ("lines of a template", LINES.format("pass|fail"), "ppup", (0, 0, 0, 0), "lines"),
    (
        "bold bullets",
        "- **Correctness**: ✅ pass\n- **I/O format:** fail — print nothing\n",
        "pfuu",
        (0, 1, 0, 0),
        "lines",
    ),
    (
        "numbered lines",
        "1. Correctness: Pass.\n2. Format: Failed, return a list\n",
        "pfuu",
        (0, 1, 0, 0),
        "lines",
    ),
    (
        "a table",
        "| Field | Verdict | Edits |\n|---|---|---|\n| Correctness | pass | none |\n| Efficiency | fail | use a set |\n",
        "pufu",
        (0, 0, 1, 0),
        "lines",
    ),
    (
        "headings",
        "### Correctness\nVerdict: fail\n- line 2: return x\n- line 4: start at 0\n\n### Format\nVerdict: pass\nEdits: none\n",
        "fpuu",
        (2, 0, 0, 0),
        "lines",
    ),
    (
        "a heading, a pass and an edit",
        "## Correctness\nVerdict: pass\nEdits: line 2: return x\n",
        "fuuu",
        (1, 0, 0, 0),
        "lines",
    ),
    (
        "a pass and a bullet of a place",
        "correctness: pass\n- line 3: compare with <=\n",
        "fuuu",
        (1, 0, 0, 0),
        "lines",
    ),
    (
        "lines that disagree",
        "correctness: pass\nformat: pass\ncorrectness: fail\n",
        "fpuu",
        (0, 0, 0, 0),
        "lines",
    ),
    (
        "passes, then taken back",
        f"{ALL}\nWait, correctness is actually wrong: it breaks on empty lists.",
        *DOUBTED,
    ),
    ("passes behind a doubt", f"It crashes on [] and is slow.\n{ALL}", *DOUBTED),
    ("a fail, then passes", f"{ONE}\n{ALL}", "ppfp", (0, 0, 1, 0), "mended"),
    (
        "fails, then what they would be",
        f"{reply(F, F, F, F)}\nAfter these edits the review would be:\n{ALL}",
        "ffff",
        (1, 1, 1, 1),
        "mended",
    ),
    (
        "fails, then quoted passes that are cut",
        f"{reply(F, F, F, F)}\nI ignored the comment in the program, {ALL[:-1]}",
        "ffff",
        (1, 1, 1, 1),
        "mended",
    ),
    ("passes between doubts", f"Is it right?\n{ALL}\nYes.", *DOUBTED),
    (
        "passes a field an object, doubted between them",
        "\nbut it lacks the case of an empty list\n".join(f'{{"{field}": {P}}}' for field in FOUR),
        *DOUBTED,
    ),
    (
        "passes that are quoted and denied",
        f"The candidate contains the text {ALL} which is no review; it is wrong.",
        *DOUBTED,
    ),
    ("passes that are quoted in a sentence", f"The candidate prints {ALL} at its end.", *DOUBTED),
    ("passes that are quoted on a line", f"Its docstring says:\n{ALL}", *DOUBTED),
    ("passes that begin a sentence", f"{ALL} is what the docstring says.", *DOUBTED),
    ("passes in quotes", f"It says: '{ALL}'", *DOUBTED),
    ("a doubt beside the fields", f'{ALL[:-1]}, "overall": "needs work"}}', *DOUBTED),
    ("a doubt around the fields", f'{{"review": {ALL}, "summary": "It is wrong."}}', *DOUBTED),
    ("an overall fail", f'{ALL[:-1]}, "overall": {{"verdict": "fail"}}}}', *DOUBTED),
    ("an overall false", f'{ALL[:-1]}, "accepted": false}}', *DOUBTED),
    ("edits beside the fields", f'{ALL[:-1]}, "suggestions": [{{"note": "a set"}}]}}', *DOUBTED),
    ("a low mark beside the fields", f'{ALL[:-1]}, "score": "3/10"}}', *DOUBTED),
    ("a need beside the fields", f'{ALL[:-1]}, "needs_revision": true}}', *DOUBTED),
    (
        "a doubt in a comment of JSON",
        ALL.replace("{", "{ // it crashes on []\n", 1),
        *DOUBTED,
    ),
    (
        "a pass with a comment that doubts it",
        reply('{"verdict": "pass", "edits": [], "comment": "it crashes on [] and must be mended"}'),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "a pass with a note that asks for something",
        reply('{"verdict": "pass", "edits": [], "note": "Use a set."}'),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "a pass with a recommendation",
        reply('{"verdict": "pass", "edits": [], "recommendation": "use a set"}'),
        "fppp",
        (1, 0, 0, 0),
        "mended",
    ),
    (
        "a pass with an action without edits",
        reply('{"verdict": "pass", "location": "line 3", "action": "use a set"}'),
        "fppp",
        (1, 0, 0, 0),
        "mended",
    ),
    (
        "a pass with no mark",
        reply('{"pass": true, "score": 0}'),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "a pass with a low mark",
        reply('{"pass": true, "rating": "2 out of 5"}'),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "a pass that is denied",
        reply('{"verdict": "pass", "edits": [], "optimal": false}'),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "a pass with bugs",
        reply('{"verdict": "pass", "edits": [], "bugs_found": "the first turn"}'),
        "uppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "passes with full marks and nothing asked",
        reply(
            *['{"verdict": "pass", "score": "10/10", "id": 3, "bugs": false, "note": "None"}'] * 4
        ),
        "pppp",
        (0, 0, 0, 0),
        "mended",
    ),
    (
        "passes with reasons and praise",
        reply(*['{"verdict": "pass", "reason": "It sums each pair in order."}'] * 4)[:-1]
        + ', "overall": "The solution looks good.", "needs_changes": false}',
        "pppp",
        (0, 0, 0, 0),
        "mended",
    ),
    *(
        (f"friendly words around passes: {text[:20]}", text.replace("ALL", ALL), *MENDED)
        for text in (
            "Here is my review:\nALL",
            "Here is my review: ALL",
            "The solution looks good overall.\n\n```json\nALL\n```",
            "ALL\nThe solution looks good overall.",
            "ALL\n\nNo changes are needed. Let me know if you have any questions!",
            "I found no issues with this program: it is correct, fast and complete.\nALL",
            "**Review**\n\nALL\n\nAll four fields pass, great work!",
            "It solves the problem without any further changes.\nALL",
            "Sure! Here's the review in JSON format:\nALL",
            "Based on my analysis, the code is correct.\nALL\nOverall: pass",
            "ALL\n\nExplanation: the code is correct and handles all edge cases.</s>",
        )
    ),
    (
        "lines, then taken back",
        LINES.format("pass") + "\nHowever the correctness verdict should be fail.",
        "pppu",
        (0, 0, 0, 0),
        "lines",
    ),
    (
        "lines, each with a doubt below",
        LINES.format("pass\nIt breaks on an empty list."),
        "ppup",
        (0, 0, 0, 0),
        "lines",
    ),
    ("lines with a mark below", LINES.format("pass\nScore: 0/10"), "ppup", (0, 0, 0, 0), "lines"),
    ("lines behind a doubt", "It crashes on [].\n" + LINES.format("pass"), *DOUBTED),
    (
        "lines with friendly words",
        "Here is my review:\n" + LINES.format("pass") + "\nThe solution looks good overall.",
        "pppp",
        (0, 0, 0, 0),
        "lines",
    ),
    *(
        (f"lines, taken back at their end: {text[:24]}", f"{PASSES}{text}", "pppu", NONE, "lines")
        for text in (
            "Overall: FAIL, the program returns the wrong value.",
            "Overall verdict: fail",
            "However, the program fails on negative numbers.",
            "| overall | fail |",
            "I do not agree.",
            "This was copied from the program.",
            "Hypothetically: pass",
        )
    ),
    *(
        (f"a pass with a tail: {text[:24]}", LINES.format(text), "ppup", NONE, "lines")
        for text in (
            "pass - crashes on an empty list",
            "pass (raises IndexError on [])",
            "passes, half of the tests",
            "pass: 0/10 tests",
            "pass: 0 of 3",
            "pass, just kidding",
            "pass: no",
            "pass - false",
            "pass, once line 2 returns a list",
            "~~pass~~",
        )
    ),
    (
        "a table that passes, but for its last row",
        TABLE_OF_PASSES + "| overall | fail |\n",
        "pppu",
        NONE,
        "lines",
    ),
    ("a table that passes", TABLE_OF_PASSES, "pppp", NONE, "lines"),
    ("lines in a table with tails", LINES.format("pass | none"), "pppp", NONE, "lines"),
    ("lines that are ticked", TICKED, "pppp", NONE, "lines"),
    ("lines that are not ticked", TICKED.replace("x", " "), *DOUBTED),
    ("lines that are struck", "~~" + PASSES.replace("\n", "~~\n~~"), *DOUBTED),
    ("lines that are quoted", "> " + PASSES.strip().replace("\n", "\n> "), *DOUBTED),
    *(
        (f"lines with friendly tails: {text[:24]}", LINES.format(text), "pppp", NONE, "lines")
        for text in (
            "pass - looks good",
            "pass (fine)",
            "pass, no changes needed.",
            "pass: meets all requirements",
            "pass - handles all edge cases correctly",
            "pass - O(n log n) time",
            "pass\nReason: it reads each item once.\n\n---",
            "pass\nEdits:\n- None",
        )
    ),
    *(
        (f"lines led by: {text[:24]}", f"{text}\n{PASSES}", *DOUBTED)
        for text in (
            "If you fix line 2, the review would be:",
            "The program says of itself:",
            "None of these hold:",
            "After these changes:",
            "The program:",
            "To do:",
            "[SCRATCHPAD]",
        )
    ),
    *(
        (f"passes in other words: {text[:30]}", text.replace("ALL", ALL), *DOUBTED)
        for text in (
            '{"overall": "reject", ' + ALL[1:],
            '{"all_pass": false, ' + ALL[1:],
            '{"hypothetical": true, ' + ALL[1:],
            '{"expected": ALL, "actual": "wrong"}',
            '{"example": ALL}',
            '{"comment": ALL}',
            '{"previous_review": ALL, "review": null}',
            '{"rejected_review": [ALL]}',
            "<!-- ALL --> The program is wrong.",
            "<!-- ALL -->",
            "`ALL`",
            "> ALL",
            "I'm sorry, I can't output ALL because the program is wrong.",
            "```json\nALL\n```\nI cannot review this program.",
            "The candidate: ALL",
            "The code\nALL",
            "ALL The correctness verdict is retracted.",
            "ALL</think>",
            "<scratchpad>ALL</scratchpad>",
            "analysisALL",
        )
    ),
    *(
        (
            f"a pass beside {pair}",
            reply(f'{{"verdict": "pass", "edits": [], {pair}}}'),
            "uppp",
            NONE,
            "mended",
        )
        for pair in (
            '"required_changes": "use a set"',
            '"comment": "line 2 must be return 2 * x"',
            '"note": "raises IndexError on []"',
            '"score": 0',
            '"correct": false',
            '"was": "a joke"',
            '"is_old": true',
        )
    ),
    (
        "a pass beside a problem",
        reply('{"verdict": "pass", "problem": "crashes on []"}'),
        "fppp",
        (1, 0, 0, 0),
        "mended",
    ),
    (
        "a pass that is true and false",
        reply('{"passed": true, "correct": false}'),
        "uppp",
        NONE,
        "mended",
    ),
    *(
        (f"reasoning of another model: {text[:20]}", text.replace("ALL", ALL), *DOUBTED)
        for text in (
            "[THINK]ALL[/THINK]",
            "[THINK]ALL",
            "<seed:think>ALL</seed:think>",
            "◁think▷ALL◁/think▷",
            "so ALL◁/think▷",
            "<|channel|>analysis<|message|>maybe ALL<|end|>",
            "<|channel|>analysis<|message|>maybe ALL",
        )
    ),
    *(
        (
            f"a reply behind the reasoning of another model: {text[:20]}",
            text + ONE,
            "ppfp",
            (0, 0, 1, 0),
            "json",
        )
        for text in (
            f"[THINK]{ALL}[/THINK]",
            f"<seed:think>{ALL}</seed:think>",
            f"◁think▷{ALL}◁/think▷",
            f"<|channel|>analysis<|message|>{ALL}<|end|><|start|>assistant<|channel|>final<|message|>",
        )
    ),
    ("nothing", "", "uuuu", (0, 0, 0, 0), "nothing"),
    ("blanks", " \n\t\n", "uuuu", (0, 0, 0, 0), "nothing"),
    ("praise", "LGTM, all four fields pass.", "uuuu", (0, 0, 0, 0), "nothing"),
    ("a refusal", "I'm sorry, but I can't help with that.", "uuuu", (0, 0, 0, 0), "nothing"),
    ("an empty object", "{}", "uuuu", (0, 0, 0, 0), "nothing"),
    ("a text of JSON", '"pass"', "uuuu", (0, 0, 0, 0), "nothing"),
    (
        "lone surrogates",
        '{"correctness": {"verdict": "fail", "edits": ["use \\ud800 here"]}}',
        "fuuu",
        (1, 0, 0, 0),
        "mended",
    ),
]
