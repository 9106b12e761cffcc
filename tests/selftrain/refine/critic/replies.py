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
