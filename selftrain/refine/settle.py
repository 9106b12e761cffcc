"""What becomes of a candidate that was just written, and whether its refinement ends with it."""

from selftrain.config import RefineConfig
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.gate.evidence import Evidence, GateReport, Status
from selftrain.refine.state import State
from selftrain.refine.trace import Fate, Stop
from selftrain.sampling.completion import FinishReason


def settle(
    one: State, candidate: Candidate, report: GateReport | None, iteration: int, c: RefineConfig
) -> None:
    """Decide what becomes of a candidate, and whether its refinement ends with it."""
    one.first = one.first or candidate
    is_revision = iteration > 0 and not one.way.resamples
    if is_revision and candidate.source is not None and candidate.source in one.seen:
        if not one.way.gate:
            one.best = candidate  # The last is the answer.
        one.end(Stop.no_change, candidate)
        return
    if candidate.no_source == FinishReason.PROMPT_TOO_LONG:
        one.end(Stop.too_long, candidate)
        return
    if candidate.source is not None:
        one.seen.add(candidate.source)
    fate = fate_of(one, candidate, report, c)
    if fate is not Fate.discarded:
        one.current, one.report, one.rejected = candidate, report, ()
    elif report is not None and candidate.source is not None:
        one.rejected = report.failures
    if fate is Fate.best:
        one.best = candidate
    one.stop = stop_of(one, iteration, c)
    one.note(candidate, report, fate)


def fate_of(one: State, candidate: Candidate, report: GateReport | None, c: RefineConfig) -> Fate:
    """Say what becomes of a candidate. A proof text has no say in it."""
    if not one.way.gate:
        is_worse = candidate.source is None and one.best is not None
        return Fate.discarded if is_worse else Fate.best
    if report is not None and report.accepted:
        return Fate.best
    if one.current is None:
        return Fate.current
    is_better = one.best is None and candidate.source is not None and not one.way.resamples
    return Fate.current if is_better and c.mode == "best" else Fate.discarded


def stop_of(one: State, iteration: int, c: RefineConfig) -> Stop | None:
    """Say why a refinement ends with the candidate just settled; None where it goes on."""
    way = one.way
    if not way.updates:
        return Stop.one_try
    is_enough = way.critic == "none" or way.until_accepted
    if way.gate and is_enough and one.best is not None:
        return Stop.gate_passed
    if one.is_spent():
        return Stop.tokens
    # What draws again within a budget goes on until that is used.
    is_bounded = way.resamples and one.budget is not None
    return Stop.iterations if iteration >= c.iterations and not is_bounded else None


def without_program(candidate: Candidate) -> GateReport:
    """Say what the gate says of a reply that holds no program."""
    detail = f"the reply holds no program ({candidate.no_source})"
    return GateReport((Evidence("parses", Status.failed, detail),))
