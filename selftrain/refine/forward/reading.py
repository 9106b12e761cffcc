"""Read a candidate out of what the forward model replied.

The source is kept as it was written. Whether it is right, or even parses, is for the gate to say: a
program with a slip in its syntax is a candidate too. Nothing is run here. No reply raises, and the
time that one takes is bounded.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from puzzles import Puzzle, Rejection
from puzzles.cut import cut_solution
from puzzles.syntax import SyntaxFailure, parse, unix_lines
from selftrain.humaneval import cut_function
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.forward.proofs import PROOF_BEGINS, read_proofs
from selftrain.refine.forward.wording import MAIN_CALL, MAIN_HEAD, Wording, head_of
from selftrain.refine.reasoning import without_reasoning
from selftrain.refine.tasks.task import Kind, RefineTask
from selftrain.sampling.completion import Completion, FinishReason

MOST_CHARACTERS = 1_000_000
"""Of a longer reply the rest is not read."""
_MOST_BLOCKS = 32
"""Fenced blocks that are looked at, the last ones: each has to be parsed."""

# Possessive, so that no line is gone over more than once.
_FENCE = re.compile(r"([ \t]*+)(`{3,}+|~{3,}+)([^`]*+)$")
_PYTHON = re.compile(r"(?:python|py|pypy)[\d.]*", re.IGNORECASE)
_CODE_BEGINS = re.compile(r"def \w|class \w+[(:]|from [\w.]+ import |import [\w., ]+$|@\w")


def read_candidate(
    task: RefineTask, completion: Completion, wording: Wording, few_shot: Sequence[Puzzle] = ()
) -> Candidate:
    """Read the candidate and its proofs, or say why there is none.

    `few_shot` are the solved puzzles that the prompt showed: they number what it asks for.
    """
    if completion.finish_reason is FinishReason.PROMPT_TOO_LONG:
        return Candidate(None, "prompt_too_long")
    if completion.finish_reason is FinishReason.CONTENT_FILTER:
        return Candidate(None, "refused")
    text = unix_lines(completion.text[:MOST_CHARACTERS])
    if not text.strip():
        return Candidate(None, "empty")
    if wording == "continue":
        return _continued(task, text, few_shot)
    is_cut = completion.finish_reason is FinishReason.LENGTH or len(text) == MOST_CHARACTERS
    return _answered(task, without_reasoning(text), is_cut)


def _continued(task: RefineTask, text: str, few_shot: Sequence[Puzzle]) -> Candidate:
    """Read what goes on from the head that the prompt ends in."""
    proofs = read_proofs(task, text)
    head = head_of(task, few_shot)
    if task.puzzle is not None:
        g = cut_solution(head, text)
        if isinstance(g, Rejection):
            return Candidate(None, str(g.reason), proofs)
        return Candidate(g, proofs=proofs)
    source = head + cut_function(head, text)
    if head == MAIN_HEAD:
        return Candidate(source.rstrip() + MAIN_CALL, proofs=proofs)
    return Candidate(source.rstrip() + "\n", proofs=proofs)


def _answered(task: RefineTask, reply: str, is_cut: bool) -> Candidate:
    """Read the answer to a message: the last block that is the program, or else the whole text."""
    proofs = read_proofs(task, reply)
    blocks = list(_blocks(reply))[-_MOST_BLOCKS:]
    ranked = [(_rank(task, block), place) for place, block in enumerate(blocks)]
    rank, place = max(ranked, default=(0, -1))
    last = blocks[-1] if blocks else None
    if is_cut and last is not None and not last.is_closed and _may_be_program(task, last, rank):
        return Candidate(None, "cut", proofs)
    if rank > 0:
        return Candidate(_ended(task, blocks[place].text), proofs=proofs)
    if (bare := _bare(task, reply)) is not None:
        if is_cut and not _is_program(task, bare):
            return Candidate(None, "cut", proofs)
        return Candidate(_ended(task, bare), proofs=proofs)
    if not reply.strip():
        # All of it was reasoning, which may have had no end.
        return Candidate(None, "cut" if is_cut else "empty", proofs)
    return Candidate(None, "no_code", proofs)


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block of a reply."""

    text: str
    language: str
    """As its fence names it; empty where it does not."""
    is_closed: bool

    @property
    def is_python(self) -> bool:
        return _PYTHON.fullmatch(self.language) is not None


def _blocks(reply: str) -> Iterator[_Block]:
    """Yield the fenced blocks that hold something, in order; the last may lack its end."""
    opened: re.Match[str] | None = None
    lines: list[str] = []
    for line in reply.split("\n"):
        fence = _FENCE.match(line)
        if opened is None:
            opened, lines = fence, []
            continue
        # A fence that names a language opens a block: the one before was left open.
        is_end = fence is not None and _closes(opened, line)
        if is_end or (fence is not None and _PYTHON.fullmatch(_language(fence))):
            yield from _block(opened, lines, is_closed=True)
            opened, lines = (None if is_end else fence), []
        else:
            lines.append(line)
    if opened is not None:
        yield from _block(opened, lines, is_closed=False)


def _block(opened: re.Match[str], lines: Sequence[str], *, is_closed: bool) -> Iterator[_Block]:
    # A block in a list is indented as its fence is.
    text = "\n".join(line.removeprefix(opened[1]) for line in lines)
    if text.strip() or not is_closed:
        yield _Block(text, _language(opened), is_closed)


def _language(fence: re.Match[str]) -> str:
    return fence[3].strip().partition(" ")[0]


def _closes(opened: re.Match[str], line: str) -> bool:
    marks = line.strip()
    return len(marks) >= len(opened[2]) and set(marks) == {opened[2][0]}


def _rank(task: RefineTask, block: _Block) -> int:
    """Say how much a block looks like the candidate, from 0, not at all, to 3.

    What names the entry point but does not parse, or parses but names another, is a candidate all
    the same where nothing better is there: the gate says what is wrong with it.
    """
    if block.language and not block.is_python:
        return 0
    if _is_program(task, block.text):
        return 3 if block.is_python or task.kind is not Kind.program else 2
    if _names_entry(task, block.text):
        return 2
    return int(block.is_python or _holds_statements(block.text))


def _may_be_program(task: RefineTask, block: _Block, rank: int) -> bool:
    """Tell whether a block that was cut would have been the answer, `rank` being the best there."""
    if rank < 3:
        return not block.language or block.is_python
    return block.is_python if task.kind is Kind.program else _names_entry(task, block.text)


def _is_program(task: RefineTask, source: str) -> bool:
    """Tell whether a text parses and defines what is asked for.

    A program need define nothing, but one without a call writes nothing: so no sample of output is
    taken for it.
    """
    try:
        tree = parse(source)
    except SyntaxFailure:
        return False
    if task.kind is Kind.program:
        return any(isinstance(node, ast.Call) for node in ast.walk(tree))
    return any(_defines(task, statement) for statement in tree.body)


def _defines(task: RefineTask, statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ClassDef):
        # The task's own postlude calls the method.
        return re.search(rf"\b{re.escape(statement.name)}\b", task.postlude) is not None and any(
            isinstance(inner, ast.FunctionDef) and inner.name == task.entry_point
            for inner in statement.body
        )
    return isinstance(statement, ast.FunctionDef) and statement.name == task.entry_point


def _names_entry(task: RefineTask, text: str) -> bool:
    """Tell whether a line of a text begins the definition that is asked for."""
    if task.kind is Kind.program:
        return False
    return re.search(rf"^[ \t]*def {re.escape(task.entry_point)}\b", text, re.MULTILINE) is not None


def _holds_statements(text: str) -> bool:
    """Tell whether a text is Python that does more than give values, as sample output does."""
    try:
        tree = parse(text)
    except SyntaxFailure:
        return False
    return any(not isinstance(statement, ast.Expr) for statement in tree.body)


def _bare(task: RefineTask, reply: str) -> str | None:
    """Find code that stands in no fence: the whole text, or from its first line of code on."""
    if _is_program(task, reply):
        return reply
    lines = reply.split("\n")
    begin = next((at for at, line in enumerate(lines) if _CODE_BEGINS.match(line)), len(lines))
    code = []
    for line in lines[begin:]:
        if PROOF_BEGINS.match(line) and not line.lstrip().startswith("#"):
            break
        code.append(line)
    text = "\n".join(code)
    if _is_program(task, text):
        return text
    if not _names_entry(task, text):
        return None
    return _until_prose(task, code)


def _until_prose(task: RefineTask, lines: Sequence[str]) -> str:
    """Cut code where its function ends, and prose may follow: at the next line in column 0."""
    text = "\n".join(lines)
    head = re.search(rf"^[ \t]*def {re.escape(task.entry_point)}\b", text, re.MULTILINE)
    assert head is not None, "it is asked of text that names the entry point"
    end = re.compile(r"\n(?=[^\s#)\]}])").search(text, head.end())
    return text[: end.start()] if end else text


def _ended(task: RefineTask, source: str) -> str:
    """End a source as those are that go on from a head: a puzzle's without a line end."""
    source = source.strip("\n").rstrip()
    return source if task.puzzle is not None else source + "\n"
