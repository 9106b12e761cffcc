"""The gate: what a machine checks of a candidate, an invariant a piece of evidence.

It accepts where nothing fails and something tells; it proves nothing beyond what it ran. Everything
a candidate does is data: only a judge that cannot run raises.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cachetools import LRUCache

from judge import Outcome, Verdict
from puzzles.syntax import MAX_CHARACTERS
from selftrain.judge import Judging
from selftrain.refine.gate import checks
from selftrain.refine.gate.checks import Seen
from selftrain.refine.gate.declared import Declared, declared_evidence, edge_inputs
from selftrain.refine.gate.evidence import Evidence, GateReport, Status
from selftrain.refine.gate.growth import Grown, grow_all, make_inputs
from selftrain.refine.gate.running import Ran, Run, run_all
from selftrain.refine.gate.solved import evidence_of, solve_all
from selftrain.refine.gate.source import Reading, read_source
from selftrain.refine.gate.stub import stub_of
from selftrain.refine.tasks.task import Growth, Invariant, Kind, RefineTask

Pair = tuple[RefineTask, str]
"""A task, and the source of a candidate."""
REMEMBERED = 4_096
"""Candidates whose evidence is remembered."""
TELL_NOTHING = ("plain_answer", "resources", "same_answer", "hidden")
"""A wrong answer keeps to these as well, also where the stub did not come so far."""
MADE = 64
"""Growths whose inputs, which may be long, are remembered."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of one candidate."""

    evidence: tuple[Evidence, ...]
    grown: dict[str, Grown]
    """By declared name; only of a stub is it needed again."""


class Gate:
    """Checks candidates, and remembers what was found of them and of each task's stub."""

    def __init__(self, judging: Judging, allowed_imports: Sequence[str]) -> None:
        self.judging = judging
        self.allowed_imports = tuple(allowed_imports)
        self.known: LRUCache[Pair, Found] = LRUCache(REMEMBERED)
        self.made: LRUCache[tuple[Kind, Growth], list[str]] = LRUCache(MADE)

    def examine(self, asked: Sequence[Pair]) -> list[GateReport]:
        """Examine each candidate, in order; equal ones once. Raises `judge.JudgeError`."""
        stubs = {task: stub_of(task) for task, _ in asked}
        found = self._found([*stubs.items(), *asked])
        return [
            _report(found[task, source].evidence, found[task, stubs[task]].evidence)
            for task, source in asked
        ]

    def _found(self, asked: Iterable[Pair]) -> dict[Pair, Found]:
        """Find what is not known yet, all of a stage at once."""
        distinct = list(dict.fromkeys(asked))
        found = {pair: self.known[pair] for pair in distinct if pair in self.known}
        new = [pair for pair in distinct if pair not in found]
        found |= dict(zip(new, self._examine(new, found), strict=True))
        for task, source in new:
            # A longer one is refused by its length: that takes no time to find again.
            if len(source) <= MAX_CHARACTERS:
                one = found[task, source]
                is_stub = source == stub_of(task)
                self.known[task, source] = one if is_stub else replace(one, grown={})
        return found

    def _examine(self, pairs: Sequence[Pair], known: dict[Pair, Found]) -> list[Found]:
        readings = {pair: read_source(*pair, self.allowed_imports) for pair in pairs}
        able = [pair for pair in pairs if readings[pair].can_run]
        puzzles = [pair for pair in able if pair[0].kind is Kind.puzzle]
        verdicts = dict(zip(puzzles, solve_all(puzzles, self.judging), strict=True))
        ran = self._run(able)
        grown = self._grow(able)
        before = {pair: found.grown for pair, found in known.items()}
        declared = self._declared(able, ran, before | grown)
        return [
            Found(
                _evidence(pair, readings[pair], verdicts.get(pair), ran.get(pair), declared),
                grown.get(pair, {}),
            )
            for pair in pairs
        ]

    def _run(self, pairs: Sequence[Pair]) -> dict[Pair, dict[str, Seen]]:
        """Run each on its examples and edge inputs, in both guests; give what was seen by name."""
        wanted = {pair: _runs(*pair) for pair in pairs}
        first = self._run_each(run for runs in wanted.values() for run in runs.values())
        second = {run: checks.again(run, ran) for run, ran in first.items()}
        repeated = self._run_each((run for run in second.values() if run), second=True)

        def seen(run: Run) -> Seen:
            again = second[run]
            return Seen(run, first[run], None if again is None else repeated[again])

        return {
            pair: {name: seen(run) for name, run in runs.items()} for pair, runs in wanted.items()
        }

    def _run_each(self, runs: Iterable[Run], *, second: bool = False) -> dict[Run, Ran]:
        distinct = list(dict.fromkeys(runs))
        return dict(zip(distinct, run_all(distinct, self.judging, second=second), strict=True))

    def _grow(self, pairs: Sequence[Pair]) -> dict[Pair, dict[str, Grown]]:
        """Run each at the sizes of its declared growths; give what it took by name."""
        wanted = [
            (pair, invariant.name, invariant.growth)
            for pair in pairs
            for invariant in pair[0].invariants
            if invariant.growth is not None
        ]
        made = self._make([(pair[0], growth) for pair, _, growth in wanted])
        whole = [
            (pair, name, made[pair[0].kind, growth])
            for pair, name, growth in wanted
            if len(made[pair[0].kind, growth]) == len(growth.sizes)
        ]
        grown = grow_all([(*pair, inputs) for pair, _, inputs in whole], self.judging)
        found: dict[Pair, dict[str, Grown]] = {}
        for (pair, name, _), one in zip(whole, grown, strict=True):
            found.setdefault(pair, {})[name] = one
        return found

    def _make(
        self, asked: Sequence[tuple[RefineTask, Growth]]
    ) -> dict[tuple[Kind, Growth], list[str]]:
        keys = {(task.kind, growth): (task, growth) for task, growth in asked}
        made = {key: self.made[key] for key in keys if key in self.made}
        new = [key for key in keys if key not in made]
        made |= dict(zip(new, make_inputs([keys[key] for key in new], self.judging), strict=True))
        for key in new:
            self.made[key] = made[key]
        return made

    def _declared(
        self,
        pairs: Sequence[Pair],
        ran: dict[Pair, dict[str, Seen]],
        grown: dict[Pair, dict[str, Grown]],
    ) -> dict[Pair, list[Evidence]]:
        """Check the declared invariants of each."""
        asked: list[tuple[Pair, Declared]] = []
        for pair in pairs:
            task, _ = pair
            stub = grown.get((task, stub_of(task)), {})
            for invariant in task.invariants:
                seen = ran[pair].get(_name(invariant))
                edges = None if seen is None else (seen.run, seen.ran)
                mine, least = (some.get(invariant.name) for some in (grown.get(pair, {}), stub))
                if least is None or not least.is_whole:
                    mine = None
                asked.append((pair, Declared(task, invariant, edges, mine, least)))
        found: dict[Pair, list[Evidence]] = {pair: [] for pair in pairs}
        evidence = declared_evidence([one for _, one in asked], self.judging)
        for (pair, _), one in zip(asked, evidence, strict=True):
            found[pair].append(one)
        return found


def _name(invariant: Invariant) -> str:
    return f"declared:{invariant.name}"


def _runs(task: RefineTask, source: str) -> dict[str, Run]:
    """Give what a candidate is run on, by what it is run for."""
    inputs = {"examples": checks.inputs_of(task)}
    inputs |= {_name(invariant): edge_inputs(task, invariant) for invariant in task.invariants}
    most = {"examples": checks.answer_bytes(task)}
    return {
        name: Run(task, source, some, answer_bytes=most.get(name))
        for name, some in inputs.items()
        if some
    }


def _evidence(
    pair: Pair,
    reading: Reading,
    verdict: Verdict | None,
    ran: dict[str, Seen] | None,
    declared: dict[Pair, list[Evidence]],
) -> tuple[Evidence, ...]:
    """Put all invariants of a candidate in order; what was not run was not evaluated."""
    task, source = pair
    parses, *read, streams = reading.evidence
    seen = list((ran or {}).values())
    last = declared.get(pair)
    failure = _does_not_compile(verdict, seen)
    if failure:
        parses, verdict, ran, seen, last = checks.judged("parses", failure), None, None, [], None
    if last is None:
        last = [Evidence(_name(one), Status.not_evaluated) for one in task.invariants]
    if verdict is None:
        plain, resources = checks.plain_answer(task, seen), checks.resources(task, seen)
        same, solved = checks.same_answer(task, seen), Evidence("solved", Status.not_evaluated)
    else:
        plain, resources, same, solved = evidence_of(verdict)
    texts = [told.text for one in seen for told in (*one.ran.told, *(one.again or Ran(())).told)]
    texts += [verdict.answer or ""] if verdict else []
    has_run = all(one.ran.last is None for one in seen) and ran is not None
    found = (
        parses,
        *read,
        checks.streams(streams, seen),
        checks.examples(task, (ran or {}).get("examples")),
        plain,
        resources,
        same,
        checks.hidden(task, source, texts, has_run),
        solved,
        *last,
    )
    return tuple(checks.clean(task, one) for one in found)


def _does_not_compile(verdict: Verdict | None, seen: Sequence[Seen]) -> str:
    """Say what only the judge's compiler finds, such as a `return` outside a function."""
    if verdict is not None and verdict.outcome is Outcome.syntax_error:
        return verdict.detail
    ends = (one.ran.last for one in seen)
    return next((end.text for end in ends if end and end.outcome is Outcome.syntax_error), "")


def _report(evidence: Sequence[Evidence], stub: Sequence[Evidence]) -> GateReport:
    """Mark what the stub satisfies too."""
    # Its answer is one in every guest, also where a puzzle's f rejects it before it is asked again.
    return GateReport(
        tuple(
            replace(one, vacuous=other.status is Status.held or one.invariant in TELL_NOTHING)
            for one, other in zip(evidence, stub, strict=True)
        )
    )
