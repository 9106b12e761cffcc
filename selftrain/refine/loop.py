"""CodeGrad's loop, for many tasks at once (Zhang et al. 2025, arXiv 2508.10059).

The paper's own rule: an update that fails is discarded, and the loop ends when the critic passes
all four fields (`refine.mode: paper`). What else is here fills in what it leaves open. Prompts and
replies are in forward/ and critic/, what a machine checks is in gate/.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from selftrain.refine.arms import Way
from selftrain.refine.asking import Speaker
from selftrain.refine.critic.probes import read_probes, run_probes
from selftrain.refine.critic.reading import read_review
from selftrain.refine.critic.review import Edit, How, distinct
from selftrain.refine.critic.rules import rules_review
from selftrain.refine.critic.wording import probe_prompt, review_prompt
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.forward.reading import read_candidate
from selftrain.refine.forward.wording import first_prompt, revision_prompt
from selftrain.refine.gate.evidence import Evidence, GateReport
from selftrain.refine.means import Means
from selftrain.refine.settle import settle, without_program
from selftrain.refine.state import State
from selftrain.refine.tasks.task import RefineTask
from selftrain.refine.trace import Asked, Refined, Role, Stop, Used
from selftrain.sampling import Completion, FinishReason
from selftrain.seeds import derive_seed


def refine(
    tasks: Sequence[RefineTask],
    way: Way,
    means: Means,
    *,
    budgets: Mapping[str, int] | None = None,
    firsts: Mapping[str, Candidate] | None = None,
    advance: Callable[[float], object],
) -> list[Refined]:
    """Refine each task in one arm's way, in order.

    `budgets` are tokens by task id, for all calls of a task; `resample` needs them.
    `firsts` are first candidates by task id, where these were written before and cost no more.
    `advance` is told parts of a task, which come to 1 when it ends. Raises `judge.JudgeError`, and
    what a sampler raises; nothing that a model writes does.
    """
    states = [State(task, way, (budgets or {}).get(task.task_id)) for task in tasks]
    # How often a task is drawn within a budget, nobody knows before.
    most = math.inf if way.resamples and budgets else most_calls(way, means)
    means = replace(means, advance=lambda count: advance(count / most))
    iteration = 0
    while going := [one for one in states if one.stop is None]:
        if iteration > 0 and not way.resamples:
            probe(going, means, iteration)
            review(going, means, iteration)
            collect_edits(going, means)
        if iteration == 0 and firsts is not None:
            take(going, firsts, means)
        else:
            write(going, means, iteration)
        advance(sum(1 - one.num_asked / most for one in going if one.stop is not None))
        iteration += 1
    return [one.refined() for one in states]


def most_calls(way: Way, means: Means) -> int:
    """Give how many calls of models a task takes at most."""
    if not way.updates:
        return 1
    has_critic = way.critic != "none" and means.critics[way.critic] is not None
    return 1 + means.config.iterations * (1 + has_critic + way.code)


def ask(
    states: Sequence[State],
    speaker: Speaker,
    role: Role,
    prompts: Sequence[str],
    means: Means,
    iteration: int,
) -> list[Completion]:
    """Ask a model in a role, once a task, and put the calls down."""
    seeds = [seed_of(one, means, role, iteration) for one in states]
    answers = speaker.ask(prompts, seeds, means.count, means.advance)
    for one, (_, asked) in zip(states, answers, strict=True):
        one.calls[role] = asked
        one.num_asked += 1
    return [completion for completion, _ in answers]


def probe(states: Sequence[State], means: Means, iteration: int) -> None:
    """Let a critic with code name calls of the candidate, and run them."""
    if not states[0].way.code:
        return
    critic = critic_of(states, means)
    assert critic is not None, "a critic that is a program has no use for calls"
    most = means.config.max_probes
    prompts = [probe_prompt(one.task, one.source, most) for one in states]
    ask(states, critic.plain(), Role.probes, prompts, means, iteration)
    wanted = [
        (one.task, one.source, read_probes(one.task, one.calls[Role.probes].reply, most))
        for one in states
    ]
    ran = run_probes(wanted, means.judging, means.config.probe_characters)
    for one, probes in zip(states, ran, strict=True):
        one.probes = probes


def review(states: Sequence[State], means: Means, iteration: int) -> None:
    """Let the critic review each candidate in four fields: its textual gradient."""
    if states[0].way.critic == "none":
        return
    critic = critic_of(states, means)
    if critic is None:
        for one in states:
            reply = rules_review(one.task, one.source, one.report)
            one.calls[Role.critic] = Asked(0, reply, FinishReason.STOP, Used())
    else:
        prompts = [review_prompt(one.task, one.source, one.report, one.probes) for one in states]
        ask(states, critic, Role.critic, prompts, means, iteration)
    for one in states:
        one.review = read_review(one.calls[Role.critic].reply)


def collect_edits(states: Sequence[State], means: Means) -> None:
    """Gather what is to be changed, and end where there is nothing, or no token left.

    That is what the critic asks for and what the last discarded update failed, or else what the
    candidate itself fails.
    """
    is_paper = means.config.mode == "paper"
    for one in states:
        is_settled = is_paper or not one.way.gate or one.best is one.current
        if is_settled and passes(one):
            one.end(Stop.all_pass)
            continue
        asked = list(one.review.edits) if one.review else []
        if not is_paper:
            asked += map(as_edit, one.rejected)
        # Without a critic there is no other gradient, in the paper's mode either.
        if not asked and (not is_paper or one.review is None):
            asked += map(as_edit, one.report.failures if one.report is not None else ())
        one.edits = distinct(asked)
        if not one.edits:
            one.end(Stop.no_gradient)
        elif one.is_spent():
            one.end(Stop.tokens)


def take(states: Sequence[State], firsts: Mapping[str, Candidate], means: Means) -> None:
    """Begin with candidates that were written before, and let the gate look at them."""
    candidates = [firsts[one.task.task_id] for one in states]
    reports = examine(states, candidates, means)
    for one, candidate, report in zip(states, candidates, reports, strict=True):
        settle(one, candidate, report, 0, means.config)


def write(states: Sequence[State], means: Means, iteration: int) -> None:
    """Let the forward model write the next candidate of each, and the gate look at it."""
    states = [one for one in states if one.stop is None]
    if not states:
        return
    c = means.config
    prompts = [
        first_prompt(one.task, c.wording, means.few_shot)
        if iteration == 0 or one.way.resamples
        else revision_prompt(one.task, one.source, one.edits, c.wording, means.few_shot)
        for one in states
    ]
    answers = ask(states, means.forward, Role.forward, prompts, means, iteration)
    candidates = [
        read_candidate(one.task, answer, c.wording, means.few_shot)
        for one, answer in zip(states, answers, strict=True)
    ]
    reports = examine(states, candidates, means)
    for one, candidate, report in zip(states, candidates, reports, strict=True):
        settle(one, candidate, report, iteration, c)


def examine(
    states: Sequence[State], candidates: Sequence[Candidate], means: Means
) -> list[GateReport | None]:
    """Put each candidate through the gate, in an arm that has one."""
    if not states[0].way.gate:
        return [None] * len(candidates)
    asked = [
        (one.task, candidate.source)
        for one, candidate in zip(states, candidates, strict=True)
        if candidate.source is not None
    ]
    reports = iter(means.gate.examine(asked))
    return [
        without_program(candidate) if candidate.source is None else next(reports)
        for candidate in candidates
    ]


def passes(one: State) -> bool:
    """Tell whether the critic passes all four fields, in a reply that is whole."""
    if one.review is None or not one.review.passes:
        return False
    # What a line says may have been cut behind its `pass`; in JSON a cut is seen.
    is_ended = one.calls[Role.critic].finish_reason == FinishReason.STOP
    return is_ended or one.review.how is How.json


def as_edit(failure: Evidence) -> Edit:
    """Turn what a machine found into an edit."""
    return Edit(failure.invariant, failure.detail)


def critic_of(states: Sequence[State], means: Means) -> Speaker | None:
    """Give who reviews in this arm; None is the program `rules`."""
    return means.critics[states[0].way.critic]


def seed_of(one: State, means: Means, role: Role, iteration: int) -> int:
    """Derive the seed of a call; a first candidate has the same in all arms."""
    kind = "resample" if one.way.resamples and iteration > 0 else role
    return derive_seed(means.seed, *means.place, kind, one.task.task_id, iteration)
