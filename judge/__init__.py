"""Runs untrusted Python programs in WebAssembly, counted in instructions, and judges them.

A puzzle is the source of `f(answer: type, inputs with defaults)`, a solution the source of a `g`
that takes these inputs by name. A pass means that f returned True itself on g's answer, in an
instance of CPython that never saw g; never that g is right on other inputs. What it keeps out:
files, network, clock, processes, environment and randomness, since the guest has no imports;
endless loops and memory, since both are counted. What it does not: an f that accepts too much.

This file is the whole public interface. Importing it loads no engine: that is done at first use.
"""

from judge.function import FunctionProblem, calls_of, judge_function
from judge.identity import engine_version, guest_fingerprint, guest_hash, judge_hash
from judge.many import call_many, judge_completions, judge_many, run_many, run_texts
from judge.pair import first_true, inputs, judge, run, run_text
from judge.records import (
    Backend,
    Execution,
    JudgeError,
    Limits,
    Mode,
    Outcome,
    Probe,
    Verdict,
)
from judge.text import Case, TextProblem, judge_text

__all__ = [
    "Backend",
    "Case",
    "Execution",
    "FunctionProblem",
    "JudgeError",
    "Limits",
    "Mode",
    "Outcome",
    "Probe",
    "TextProblem",
    "Verdict",
    "call_many",
    "calls_of",
    "engine_version",
    "first_true",
    "guest_fingerprint",
    "guest_hash",
    "inputs",
    "judge",
    "judge_completions",
    "judge_function",
    "judge_hash",
    "judge_many",
    "judge_text",
    "run",
    "run_many",
    "run_text",
    "run_texts",
]
