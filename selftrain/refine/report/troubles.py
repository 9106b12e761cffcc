"""What went wrong with so many replies or tasks that a result may be its doing, a sentence each.

It is counted over all arms, the first call of a task once, which is the same in all of them. So a
comparison in which little could be asked is not taken for one that found no difference.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from selftrain.config import Config, ModelConfig
from selftrain.models import MOST_CONTEXT_TOKENS
from selftrain.refine.critic.review import How
from selftrain.refine.report.counting import CUT, REFUSED, TOO_LONG, Counts
from selftrain.refine.trace import Asked, Role, Step
from selftrain.report.blocks import count, plain

LEAST_SHARE = 0.2
"""Below this share nothing is said; the tables have the counts."""


@dataclass
class Calls:
    """What became of the calls of models, as far as it is trouble."""

    firsts: dict[str, bool] = field(default_factory=dict)
    """By task: whether its first prompt left no room."""
    later_prompts: Counter[bool] = field(default_factory=Counter)
    """Prompts for later candidates, by whether they left no room."""
    forward: Counter[str] = field(default_factory=Counter)
    """Replies of the forward model, by why they end."""
    no_program: Counter[str] = field(default_factory=Counter)
    """Whole ones that hold no program, by the reason."""
    critic: Counter[str] = field(default_factory=Counter)
    """Calls of critics, those about calls to run too, by why they end; a program's are none."""
    reviews: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    """Replies with a review, by whether nothing could be read, and whether they are cut."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that went wrong with a part of a whole."""

    part: int
    whole: int
    said: str
    """A sentence, with what to do."""

    @property
    def share(self) -> float:
        """Give the part of the whole."""
        return self.part / self.whole if self.whole else 0.0


def note_calls(calls: Calls, step: Step) -> None:
    """Count an iteration."""
    forward = step.calls.get(Role.forward)
    is_again = step.iteration == 0 and step.task_id in calls.firsts
    if forward is not None and not is_again:
        _note_forward(calls, step, forward)
    critics = [call for role, call in step.calls.items() if role is not Role.forward]
    for call in filter(_is_of_model, critics):
        calls.critic[call.finish_reason] += 1
    review = step.calls.get(Role.critic)
    if step.review is not None and review is not None and review.used.num_calls > 0:
        is_nothing = step.review.how is How.nothing
        calls.reviews[is_nothing, review.finish_reason == CUT] += 1


def _note_forward(calls: Calls, step: Step, call: Asked) -> None:
    is_too_long = call.finish_reason == TOO_LONG
    if step.iteration == 0:
        calls.firsts[step.task_id] = is_too_long
    else:
        calls.later_prompts[is_too_long] += 1
    if is_too_long:
        return
    calls.forward[call.finish_reason] += 1
    is_whole = call.finish_reason not in (CUT, REFUSED)
    if is_whole and step.candidate is not None and step.candidate.source is None:
        calls.no_program[step.candidate.no_source] += 1


def _is_of_model(call: Asked) -> bool:
    """Tell a model's call, also one that was never sent, from what a program wrote."""
    return call.used.num_calls > 0 or call.finish_reason == TOO_LONG


def nothing_was_asked(calls: Calls) -> bool:
    """Tell whether no first prompt left room for a reply."""
    return bool(calls.firsts) and all(calls.firsts.values())


def troubles_of(calls: Calls, counts: Counts, config: Config) -> list[Trouble]:
    """Give what befell a large share of calls or tasks, the worst first."""
    found = [one for one in _all(calls, counts, config) if one.share >= LEAST_SHARE]
    return sorted(found, key=lambda one: -one.share)


def _all(calls: Calls, counts: Counts, config: Config) -> Iterator[Trouble]:
    c = config.refine
    key = "model" if config.solve.model is None else "solve.model"
    room = f"in {_context(config.solve.model or config.model)} beside a reply of up to "
    forward_room = (
        f"{room}{count(c.max_new_tokens)}: raise {key}.context_tokens, or lower "
        "refine.max_new_tokens."
    )
    firsts = list(calls.firsts.values())
    yield _trouble(sum(firsts), len(firsts), "first prompts do not fit", forward_room)
    later = calls.later_prompts
    yield _trouble(
        later[True], later.total(), "prompts for a later candidate do not fit", forward_room
    )
    num_replies = calls.forward.total()
    replies = "replies of the forward model"
    yield _trouble(
        calls.forward[CUT],
        num_replies,
        replies,
        f"are cut at {count(c.max_new_tokens)} tokens: raise refine.max_new_tokens.",
    )
    yield _trouble(calls.forward[REFUSED], num_replies, replies, "are refusals (content_filter).")
    reasons = ", ".join(f"{why} {count(some)}" for why, some in sorted(calls.no_program.items()))
    yield _trouble(
        calls.no_program.total(), num_replies, replies, f"hold no program ({plain(reasons)})."
    )
    yield from _critics(calls, config)
    yield _trouble(
        len(counts.unchecked),
        len(counts.evaluated),
        "tasks that the gate examined",
        "have nothing that tells to be checked by, so nothing is accepted: give them examples or "
        "invariants.",
    )


def _critics(calls: Calls, config: Config) -> Iterator[Trouble]:
    c = config.refine
    own = None if isinstance(c.critic, str) else c.critic
    key = "refine.critic" if own else "model" if config.solve.model is None else "solve.model"
    context = _context(own or config.solve.model or config.model)
    num_calls = calls.critic.total()
    yield _trouble(
        calls.critic[TOO_LONG],
        num_calls,
        "prompts of the critic do not fit",
        f"in {context} beside a reply of up to {count(c.critic_max_new_tokens)}: raise "
        f"{key}.context_tokens, or lower refine.critic_max_new_tokens.",
    )
    num_sent = num_calls - calls.critic[TOO_LONG]
    yield _trouble(
        calls.critic[REFUSED], num_sent, "replies of the critic", "are refusals (content_filter)."
    )
    num_cut = calls.reviews[True, True]
    cut = f"; {count(num_cut)} are cut: raise refine.critic_max_new_tokens" if num_cut else ""
    yield _trouble(
        num_cut + calls.reviews[True, False],
        calls.reviews.total(),
        "reviews",
        f"could not be read, which is no pass{cut}.",
    )


def _trouble(part: int, whole: int, what: str, said: str) -> Trouble:
    return Trouble(part, whole, f"{count(part)} of {count(whole)} {what} {said}")


def _context(model: ModelConfig) -> str:
    """Spell the tokens that a prompt and its reply may have; a model's own limit is not at hand."""
    if model.context_tokens is None:
        return f"the model's context (at most {count(MOST_CONTEXT_TOKENS)} tokens unless set)"
    return f"{count(model.context_tokens)} tokens"
