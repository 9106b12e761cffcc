"""Every answer is written down, and asked for once."""

from contextlib import suppress
from pathlib import Path

import pytest
from refine_script import Script

from selftrain.refine.calls import Calls, OnceSampler
from selftrain.sampling import Completion, Request
from selftrain.sampling.completion import Message

HOW = {"temperature": 1.0, "max_new_tokens": 5, "advance": lambda _: None}


def requests(*seeds: int) -> list[Request]:
    return [Request("a prompt", seed, Message()) for seed in seeds]


def ask(path: Path, script: Script, *seeds: int, together: int | None = None) -> list[Completion]:
    sampler = OnceSampler(Calls(path), "forward", script, together)
    return sampler.sample(requests(*seeds), **HOW)  # type: ignore[arg-type]


def test_another_process_is_told_what_the_first_was(tmp_path: Path) -> None:
    first, second = Script(lambda r: f"answer {r.seed}"), Script(["another"])
    told = ask(tmp_path / "calls", first, 1, 2)
    assert ask(tmp_path / "calls", second, 2, 1) == told[::-1]
    assert second.requests == []


def test_equal_requests_are_asked_once(tmp_path: Path) -> None:
    script = Script(["an answer"])
    told = ask(tmp_path / "calls", script, 3, 3, 3)
    assert [one.text for one in told] == ["an answer"] * 3
    assert len(script.requests) == 1


def test_another_schema_temperature_or_model_is_another_call(tmp_path: Path) -> None:
    script = Script(["an answer"])
    calls = Calls(tmp_path / "calls")
    (request,) = requests(1)
    for model, schema, temperature in [
        ("forward", None, 1.0),
        ("critic", None, 1.0),
        ("forward", "{}", 1.0),
        ("forward", None, 0.5),
    ]:
        asked = Request(request.prompt, request.seed, Message(schema))
        sampler = OnceSampler(calls, model, script, None)
        sampler.sample([asked], **(HOW | {"temperature": temperature}))  # type: ignore[arg-type]
    assert len(script.requests) == 4


def test_a_server_that_dies_loses_no_answer(tmp_path: Path) -> None:
    class Dying(Script):
        def _reply(self, request: Request) -> str:
            if request.seed == 3:
                raise ConnectionError
            return "an answer"

    dying = Dying([])
    with suppress(ConnectionError):
        ask(tmp_path / "calls", dying, 1, 2, 3, 4)
    script = Script(["later"])
    told = ask(tmp_path / "calls", script, 1, 2, 3, 4)
    assert [one.text for one in told] == ["an answer", "an answer", "later", "later"]


def test_a_batch_of_this_process_is_written_down_whole(tmp_path: Path) -> None:
    """A kill within a batch may not leave a part of it: the rest would be drawn in another batch."""

    class Killed(Script):
        def _reply(self, request: Request) -> str:
            if len(self.requests) == 6:
                raise KeyboardInterrupt
            return "an answer"

    killed = Killed([])
    with suppress(KeyboardInterrupt):
        ask(tmp_path / "calls", killed, *range(12), together=4)
    before = {request.seed for request in killed.requests[:4]}
    script = Script(["an answer"])
    ask(tmp_path / "calls", script, *range(12), together=4)
    assert len(script.requests) == 8
    assert not before & {request.seed for request in script.requests}


def test_a_torn_row_is_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "calls"
    ask(path, Script(["an answer"]), 1, 2)
    path.write_bytes(path.read_bytes()[:-9])
    script = Script(["again"])
    assert [one.text for one in ask(path, script, 1, 2)] == ["an answer", "again"]
    assert [request.seed for request in script.requests] == [2]


@pytest.mark.parametrize("damage", [b"3\n", b"{}\n", b"\xff\n", b'{"key": 1}\n', b'{"key": "a'])
def test_a_damaged_row_is_no_answer(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "calls"
    ask(path, Script(["an answer"]), 1)
    path.write_bytes(path.read_bytes() + damage)
    script = Script(["another"])
    assert [one.text for one in ask(path, script, 1, 2)] == ["an answer", "another"]
    assert len(Calls(path)) == 2


def test_half_a_surrogate_pair_is_counted_and_sent_as_what_can_be() -> None:
    from selftrain.refine.asking import Speaker

    script = Script(["\ud800 b"])
    ((answer, asked),) = Speaker(script, 0.0, 9, None).ask(
        ["a \ud800"], [1], lambda texts: [len(text.encode().split()) for text in texts], print
    )
    assert (answer.text, asked.reply) == ("\ud800 b", "\ud800 b")
    assert (asked.used.prompt, asked.used.completion) == (2, 2)
    script.requests[0].prompt.encode()
