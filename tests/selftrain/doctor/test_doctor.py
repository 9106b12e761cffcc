"""The token doctor: each fault is made on the spot, in a tokenizer or a model, and must be found."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from scripted import ScriptedSampler, write_puzzles
from tiny_networks import CONFIGS, make_network, make_tokenizer
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoModelForCausalLM,
    GenerationConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from puzzles.builtin.read import read_builtin
from selftrain.cli import main
from selftrain.config import Config
from selftrain.doctor import boundary, marks, network, writing
from selftrain.doctor.finding import Finding, State, last_line, tell
from selftrain.doctor.room import room
from selftrain.doctor.served import ask_server
from selftrain.doctor.texts import Text, make_texts
from selftrain.sampling import Completion, FinishReason

EXAMPLES = [
    Text("example", "def f(x: int):\n    return x == 3\n\ndef g():", "\n    return 3\n\nassert f(g())"),
    Text("example", "def f(s: str, n=4):\n    return s * n == 'aa'\n\ndef g(n=4):", "\n    return {'a': 1}"),
]  # fmt: skip
WORD_LIKE = r"[^\s\p{L}\p{N}]+[\r\n]*|\p{L}+|\p{N}{1,3}|\s*[\r\n]+|\s+"
"""Splits text as the tokenizers of Llama 3 and Qwen 2.5 do, in short: punctuation takes a line's end
along, digits go by threes from the left."""


@cache
def texts() -> tuple[Text, ...]:
    return tuple(make_texts(read_builtin("train"), Config()))


@cache
def trained(pattern: str, *, digits: bool = False, size: int = 600) -> Tokenizer:
    """Train a small byte-level tokenizer on the built-in puzzles."""
    tokenizer = Tokenizer(models.BPE())
    steps: list[Any] = [pre_tokenizers.Split(Regex(pattern), "isolated")]
    steps += [pre_tokenizers.Digits(individual_digits=True)] if digits else []
    steps += [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    programs = [text.prompt + text.completion for text in texts() if text.kind == "example"]
    tokenizer.train_from_iterator([*programs, "123 456 789 234 567 345"] * 2, trainer)
    return tokenizer


def wrap(tokenizer: Tokenizer, **marked: str) -> PreTrainedTokenizerBase:
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marked)


def framed(frame: str) -> PreTrainedTokenizerBase:
    """Give the tiny tokenizer another frame around each text."""
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(make_tokenizer("gpt2").backend_tokenizer.to_str()),
        bos_token="<s>",
        eos_token="</s>",
    )
    numbers = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("<s>", "</s>")]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=frame, special_tokens=numbers
    )
    return tokenizer


def make_model(kind: str) -> PreTrainedModel:
    torch.manual_seed(0)
    model: PreTrainedModel = AutoModelForCausalLM.from_config(deepcopy(CONFIGS[kind]))
    return model.eval()


def test_a_prompt_that_ends_in_white_space_is_found_and_shown() -> None:
    finding = boundary.prompts_end([*EXAMPLES, Text("solve", "def g():\n    ", "return 1")])
    assert finding.state is State.MEND
    assert "1 of 3 prompts (solve) end in white space, such as 'ef g():\\n    '" in finding.found


def test_prompts_as_they_are_made_end_in_no_white_space() -> None:
    assert {text.kind for text in texts()} == {"propose", "solve", "example"}
    assert boundary.prompts_end(texts()).state is State.FINE


def test_a_token_that_spans_prompt_and_completion_is_named_and_counted() -> None:
    finding = boundary.boundary(wrap(trained(WORD_LIKE)), texts(), "text")
    assert finding.state is State.MEND
    assert "solve: 100 of 100, as '():\\n'" in finding.found
    assert "propose: none of 100" in finding.found
    assert "finetune.loss_on=completion" in finding.advice


def test_a_token_that_spans_is_only_noted_where_training_parts_it() -> None:
    finding = boundary.boundary(wrap(trained(WORD_LIKE)), texts(), "completion")
    assert finding.state is State.NOTE and "as '():\\n'" in finding.found


def test_an_end_token_after_each_text_is_no_token_that_spans() -> None:
    assert boundary.boundary(framed("$A </s>"), texts(), "text").state is State.FINE


def test_a_tokenizer_that_splits_at_white_space_cannot_write_programs() -> None:
    bare = Tokenizer(models.WordLevel({"def": 0, "f": 1, "?": 2, "(": 3}, unk_token="?"))
    bare.pre_tokenizer = pre_tokenizers.Whitespace()
    finding = writing.round_trip(wrap(bare, unk_token="?"), EXAMPLES)
    assert finding.state is State.MEND
    assert "2 of 2 examples do not come back from their tokens: lost are " in finding.found
    assert "' '" in finding.found and "'\\n'" not in finding.found[:40]


def test_braces_and_line_ends_that_get_lost_are_named() -> None:
    def without(lost: str) -> PreTrainedTokenizerBase:
        alphabet = {chr(code): code for code in range(128) if chr(code) not in lost}
        tokenizer = Tokenizer(models.BPE(alphabet, [], unk_token=None))
        tokenizer.decoder = decoders.Fuse()
        return wrap(tokenizer)

    assert "lost are '\\n'" in writing.round_trip(without("\n"), EXAMPLES).found
    assert "lost are '{' '}'" in writing.round_trip(without("{}"), EXAMPLES).found
    tabs = writing.round_trip(without("\t"), EXAMPLES)
    assert tabs.state is State.NOTE and "'\\t'" in tabs.found


def test_a_decoder_that_takes_blanks_away_is_found() -> None:
    tokenizer = make_tokenizer("gpt2")
    tidying = wrap(Tokenizer.from_str(tokenizer.backend_tokenizer.to_str()))
    tidying.backend_tokenizer.decoder = decoders.Sequence(
        [decoders.ByteLevel(), decoders.Replace(" (", "(")]
    )
    program = Text("example", "def g():", "\n    return (1, 2)")
    assert writing.round_trip(tidying, [program]).state is State.MEND


def test_bytes_bring_every_program_back() -> None:
    assert writing.round_trip(make_tokenizer("gpt2"), texts()).state is State.FINE


def test_digits_by_threes_from_the_left_are_uneven() -> None:
    finding = writing.numbers(wrap(trained(WORD_LIKE, size=2000)))
    assert finding.state is State.NOTE
    assert "1234 is 123+4" in finding.found


def test_digits_one_by_one_are_fine() -> None:
    finding = writing.numbers(wrap(trained(WORD_LIKE, digits=True)))
    assert finding == Finding("numbers", State.FINE, "each digit is a token")


def test_a_number_that_splits_otherwise_after_a_blank_is_named() -> None:
    vocabulary = {letter: i for i, letter in enumerate("x =f()[],-0123456789")}
    vocabulary |= {" 1": 40, " 12": 41, "34": 42, "123": 43, "12": 44, " 4": 45}
    merges = [(" ", "1"), (" 1", "2"), ("1", "2"), ("12", "3"), ("3", "4")]
    split = wrap(Tokenizer(models.BPE(vocabulary, merges)))
    assert "1234 is 12+34 after a blank, 123+4 in brackets" in writing.numbers(split).found


def test_indentation_of_single_blanks_is_noted_and_of_runs_is_not() -> None:
    single = writing.indentation(wrap(trained(r"\s|\S+", size=260)))
    assert single.state is State.NOTE and "of 8 blanks: 9" in single.found
    assert writing.indentation(wrap(trained(WORD_LIKE))).state is State.FINE


def test_a_missing_end_token_is_to_be_mended() -> None:
    finding = marks.end(wrap(trained(WORD_LIKE)))
    assert finding.state is State.MEND and "eos_token" in finding.advice


def test_an_end_token_after_each_prompt_is_to_be_mended() -> None:
    assert "puts '</s>' after every prompt" in marks.end(framed("$A </s>")).found
    assert marks.end(framed("<s> $A")).state is State.FINE


@pytest.mark.parametrize(
    ("pad", "found"),
    [(None, "none, so end-of-text pads"), ("</s>", "it is end-of-text"), ("<pad>", "'<pad>'")],
)
def test_a_pad_token_is_not_needed_and_told(pad: str | None, found: str) -> None:
    finding = marks.pad(wrap(trained(WORD_LIKE), eos_token="</s>", **({"pad_token": pad} if pad else {})))  # fmt: skip
    assert finding.state is State.FINE and finding.found.startswith(found)


@pytest.mark.parametrize(
    ("frame", "gain", "state"),
    [
        ("<s> <s> $A", None, State.MEND),
        ("<s> $A", None, State.FINE),
        ("$A", 0.5, State.MEND),
        ("$A", 0.01, State.FINE),
        ("$A", None, State.NOTE),
    ],
)
def test_the_begin_token_is_put_once_or_not_missed(
    frame: str, gain: float | None, state: State
) -> None:
    assert marks.begin(framed(frame), gain).state is state


def test_other_ends_of_generation_config_are_named() -> None:
    tokenizer = framed("$A")
    assert marks.ends(tokenizer, None).state is State.FINE
    both = marks.ends(tokenizer, GenerationConfig(eos_token_id=[640, tokenizer.eos_token_id]))
    assert both.state is State.NOTE and "at '<s>' too" in both.found
    other = marks.ends(tokenizer, GenerationConfig(eos_token_id=640))
    assert "at '<s>', not at '</s>'" in other.found


def test_a_chat_template_is_noted() -> None:
    tokenizer = framed("$A")
    assert marks.chat(tokenizer).state is State.FINE
    tokenizer.chat_template = "{{ messages }}"
    assert marks.chat(tokenizer).state is State.NOTE


@pytest.mark.parametrize("kind", ["llama", "gpt2", "gpt_neo", "qwen2"])
def test_padding_on_the_left_changes_nothing_in_models_that_heed_it(kind: str) -> None:
    finding = network.padding(make_model(kind), make_tokenizer(kind), EXAMPLES)
    assert finding.state is State.FINE, finding.found


@pytest.mark.parametrize(
    ("kind", "ignored"), [("llama", "attention_mask"), ("gpt2", "position_ids")]
)
def test_a_model_that_ignores_mask_or_positions_is_found(kind: str, ignored: str) -> None:
    model = make_model(kind)
    heed: Callable[..., Any] = model.forward
    blank = {
        "attention_mask": torch.ones_like,
        "position_ids": lambda given: torch.arange(given.shape[1]).expand_as(given),
    }[ignored]
    model.forward = lambda **given: heed(**given | {ignored: blank(given[ignored])})
    finding = network.padding(model, make_tokenizer(kind), EXAMPLES)
    assert finding.state is State.MEND and "model.batch_size=1" in finding.advice


def test_damaged_weights_are_found() -> None:
    model = make_model("llama")
    model.get_input_embeddings().weight.data[:] = float("nan")
    assert "not finite" in network.padding(model, make_tokenizer("llama"), EXAMPLES).found


def test_a_precision_that_overflows_is_found() -> None:
    model, tokenizer = make_model("llama"), make_tokenizer("llama")
    assert network.precision(model, tokenizer, EXAMPLES, torch.bfloat16).state is State.FINE
    model = make_model("llama")
    model.get_output_embeddings().weight.data *= 1e6
    finding = network.precision(model, tokenizer, EXAMPLES, torch.float16)
    assert finding.state is State.MEND and "float16" in finding.found


def test_a_token_without_a_row_is_found() -> None:
    model, tokenizer = make_model("llama"), make_tokenizer("llama")
    assert network.embedding(model, tokenizer).state is State.FINE
    model.resize_token_embeddings(600)
    finding = network.embedding(model, tokenizer)
    assert (
        finding.state is State.MEND and "tokens up to 642, the embedding 600 rows" in finding.found
    )


def test_what_the_begin_token_gains_is_the_difference_of_log_probabilities() -> None:
    model, tokenizer = make_model("llama"), framed("$A")
    (text,) = EXAMPLES[:1]
    ids = tokenizer(text.prompt + text.completion)["input_ids"]

    def nats(tokens: list[int]) -> float:
        with torch.no_grad():
            return -float(model(torch.tensor([tokens])).logits[0, -len(ids) : -1].log_softmax(-1)
                .gather(1, torch.tensor(ids[1:])[:, None]).mean())  # fmt: skip

    gain = network.gain_of_begin(model, tokenizer, [text])
    assert gain == pytest.approx(nats(ids) - nats([640, *ids]), abs=1e-4)


@pytest.mark.parametrize(
    ("context", "max_new_tokens", "found"),
    [
        (100, 5, "the longest reference solution takes 9 tokens"),
        (20, 10, "1 of 2 prompts to solve, up to 12 tokens long, leave no room"),
        (30, 10, "prompts to solve take up to 12 tokens and solutions 9"),
    ],
)
def test_prompts_and_solutions_must_fit(context: int, max_new_tokens: int, found: str) -> None:
    solving = [Text("solve", "p" * 12, "c" * 9), Text("solve", "p" * 5, "c")]
    config = Config.model_validate({"solve": {"max_new_tokens": max_new_tokens}})
    finding = room(lambda many: list(map(len, many)), solving, config, context)
    assert found in finding.found
    assert (finding.state is State.FINE) == (context == 30)


def test_puzzles_without_a_reference_solution_are_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = [replace(puzzle, solutions=()) for puzzle in read_builtin("train")[:5]]
    write_puzzles(tmp_path / "bare.jsonl", bare)
    for where in ("model.device=cpu", "model.server=http://localhost:1/v1"):
        settings = [f"puzzles.train={tmp_path / 'bare.jsonl'}", where]
        assert main(["doctor", "builtin:tiny", *settings]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "none of 5 puzzles has a reference solution" in line


def test_puzzles_of_which_one_has_a_solution_are_enough() -> None:
    first, *others = read_builtin("train")[:5]
    some = make_texts([*(replace(one, solutions=()) for one in others), first], Config())
    assert [text.kind for text in some] == ["propose", "propose", "solve", "example"]


def test_a_server_is_asked_what_it_can_tell() -> None:
    config = Config.model_validate({"solve": {"num_few_shot": 0, "max_new_tokens": 60}})
    small = make_texts(read_builtin("train"), config)
    states = {one.check: one.state for one in ask_server(ScriptedSampler(), small, config)}
    assert states == {
        "prompts": State.FINE,
        "room": State.FINE,
        "logprobs": State.FINE,
        "seed": State.FINE,
        "others": State.NOTE,
    }


def test_a_server_without_log_probabilities_or_seeds_is_noted() -> None:
    class Vague(ScriptedSampler):
        def sample(self, *_: object, **__: object) -> list[Completion]:  # type: ignore[override]
            self.requests.append(None)  # type: ignore[arg-type]
            return [Completion(f"{len(self.requests)}", FinishReason.STOP, 1, None)]

    states = {one.check: one.state for one in ask_server(Vague(), list(texts()), Config())}
    assert states["logprobs"] is State.NOTE and states["seed"] is State.NOTE


def test_a_finding_is_one_line_which_a_terminal_folds() -> None:
    finding = Finding("end", State.MEND, "the tokenizer names none", "Name one. " * 8 + "Soon.")
    assert tell([finding], None).count("\n") == 0
    folded = tell([finding], 60).splitlines()
    assert len(folded) > 1 and all(len(line) <= 60 for line in folded)
    assert folded[0].startswith("end        mend  the tokenizer names none.")
    assert all(line.startswith(" " * 17) for line in folded[1:])


def test_the_last_line_counts_what_is_to_mend() -> None:
    fine, mend = (Finding("x", state, "y") for state in (State.FINE, State.MEND))
    assert last_line("m", [fine, mend]) == "m: 2 checks, 1 to mend"
    assert last_line("m", [fine]) == "m: 1 checks, nothing to do"


def test_the_builtin_model_is_sound_as_the_demo_uses_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["doctor", "builtin:tiny", "--config", "configs/tiny.yaml", "model.device=cpu"]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "builtin:tiny: 14 checks, nothing to do"
    assert {line.split()[1] for line in lines[:-1]} == {"fine"}


def test_something_to_mend_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "builtin:tiny", "solve.max_new_tokens=5", "model.device=cpu"]) == 1
    out = capsys.readouterr().out
    assert "room       mend  the longest reference solution takes 41 tokens" in out
    assert out.endswith("builtin:tiny: 14 checks, 1 to mend\n")


def test_no_such_model_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "./nowhere"]) == 2
    assert "there is no folder './nowhere'" in capsys.readouterr().err


def test_a_model_that_completes_no_text_still_has_its_tokenizer_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_network("t5", tmp_path / "t5")
    assert main(["doctor", str(folder), "model.device=cpu"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("end        mend") for line in lines)
    assert lines[-2].startswith("model      mend")
