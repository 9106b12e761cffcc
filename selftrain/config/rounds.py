"""The stages of a round, and what compares rounds: a section each."""

from typing import Annotated, Literal

from pydantic import Field

from judge import Backend, Mode
from selftrain.config.model import LoraConfig, ModelConfig
from selftrain.config.section import Count, PerRound, Section


class PuzzlesConfig(Section):
    """Where the puzzles come from."""

    train: str = "builtin"
    """`builtin`, a JSONL file, or `p3`, or `p3-all`, where a solution must pass on all instances
    of a problem; `p3:FOLDER` names the folder of P3's puzzles.json and split.json."""
    held_out: str = "builtin"
    """The same for the puzzles that Pass@k is measured on."""
    num_held_out: Count | None = None
    """Held-out puzzles that are measured, drawn at random by the seed; null measures all. What is
    kept out of training are all of them."""
    num_dev: Annotated[int, Field(ge=0)] = 0
    """Train puzzles, whole families of them, set aside to choose temperature, epoch and round on.

    No prompt shows them; nothing is ever chosen on the held-out puzzles.
    """
    failing_references: Literal["refuse", "drop"] = "refuse"
    """What is done about reference solutions that do not pass: nothing is scored, or the
    solutions (not their puzzles) are left out. `selftrain evaluate` drops them unless this is
    set."""


class ProposeConfig(Section):
    """How the model invents puzzles (section 3.1 of the paper)."""

    model: ModelConfig | None = None
    """Another model that proposes, the same in every round; null takes the one that learns."""
    num_proposals: PerRound = 1000
    """Completions a round; with `num_pairs`, the most that are tried."""
    num_pairs: PerRound | None = None
    """Where set, a round ends with the shard that brings this many unique verified pairs."""
    temperature: Annotated[float, Field(ge=0)] = 0.9
    """Sampling temperature."""
    max_new_tokens: Count = 200
    """Longest puzzle, in tokens."""
    num_samples: Count = 4
    """Completions of each prompt; fewer mean more variety, more mean more speed."""
    shard_size: Count = 256
    """Proposals that go through propose, filter, solve and judge together: the unit of resuming."""


class FilterConfig(Section):
    """Which proposals are kept (appendix C of the paper)."""

    mode: Literal["strict", "paper"] = "strict"
    """`paper` filters as the released code does: 5% of the proposals skip the checks of type and
    triviality, an f that raises NameError or returns what only counts as true is solved, and
    near-duplicates stay."""
    max_containment: Annotated[float, Field(gt=0, le=1)] = 0.75
    """Drop a proposal that shares this part of the shorter's 5-token runs with a held-out puzzle.

    One that differs from it in constants only is kept: a new instance of a known family.
    """
    fuel: Count = 2_000_000_000
    """Instructions for one trivial answer."""


class SolveConfig(Section):
    """How the model tries its own puzzles."""

    model: ModelConfig | None = None
    """Another model that solves, the same in every round; null takes the one that learns."""
    num_attempts: Count = 8
    """Attempts a puzzle; `a` in the paper."""
    temperature: Annotated[float, Field(ge=0)] = 0.9
    """Sampling temperature."""
    max_new_tokens: Count = 150
    """Longest solution, in tokens, in solving and in evaluation; functions of HumanEval have 512
    unless this is set, at most a quarter of the context and no less than 150."""
    num_few_shot: Annotated[int, Field(ge=0)] = 5
    """Train puzzles that are shown with their reference solutions before the one to solve."""


class JudgeConfig(Section):
    """The limits of the judge, and where it works."""

    fuel: Count = 4_000_000_000
    """Instructions for g, and again for f, in rounds."""
    evaluation_fuel: Count = 20_000_000_000
    """The same in evaluation, about a second of native work."""
    memory_bytes: Annotated[int, Field(ge=2**26)] = 2**30
    """Memory of one instance."""
    mode: Mode = "screen"
    """Attempts at one puzzle in one instance first, or each alone; both accept the same.

    Evaluation always judges each alone.
    """
    num_workers: Count = 2
    """Processes that judge."""
    backend: Backend = "loky"
    """Where they run: on this machine, or on a Ray or Dask cluster."""
    address: str | None = None
    """Address of that cluster; null starts one on this machine."""


class CurateConfig(Section):
    """Which pairs are trained on."""

    verdicts: Literal["verified", "unverified", "wrong"] = "verified"
    """Pairs that passed; or, to compare, `m` random candidates of each puzzle whatever their
    verdict (section 4.2 of the paper), or of those that failed."""
    max_solutions: Count = 8
    """Distinct solutions kept of one puzzle, shortest first; `m` in the paper."""
    max_pairs: PerRound | None = None
    """Most pairs of a round; null keeps all."""
    choose: Literal["random", "middle_first"] = "random"
    """Which pairs `max_pairs` keeps: any, or first those of puzzles solved about half the time,
    in that order, which `finetune.order: as_curated` keeps."""
    drop_always_solved: bool = False
    """Leave out puzzles that every attempt solved."""


class DecontaminateConfig(Section):
    """Which examples are removed as too near to a held-out puzzle."""

    checks: tuple[Literal["text", "syntax", "ngrams", "minhash", "behaviour"], ...] = (
        "text",
        "syntax",
        "ngrams",
        "minhash",
        "behaviour",
    )
    """Same text; same syntax tree but for names; shared runs of tokens; MinHash; an answer or a
    solution that solves the held-out puzzle too. The first that applies is the reason."""
    max_containment: Annotated[float, Field(gt=0, le=1)] = 0.75
    """Share of the shorter's 5-token runs from which two puzzles are near-duplicates."""
    max_jaccard: Annotated[float, Field(gt=0, le=1)] = 0.7
    """Jaccard similarity of their pairs of tokens, names as written, from which they are;
    MinHash names the candidates."""
    max_base_rate: Annotated[float, Field(gt=0, le=1)] = 0.02
    """A held-out puzzle that more than this share of unrelated answers solves, two at least, tells
    nothing by behaviour; trivial answers never do."""
    same_shape: Literal["keep", "remove"] = "keep"
    """What becomes of an example that differs from a held-out puzzle in constants only: a new
    instance of a known family stays, or it is a near-duplicate like any other. One that differs
    in names only never stays."""


class FinetuneConfig(Section):
    """How the generator learns from the verified pairs."""

    method: Literal["full", "lora"] = "full"
    """Train all weights, or low-rank adapters."""
    start: Literal["base", "previous"] = "base"
    """Train from the base model on all rounds' examples, or from the previous on the new ones."""
    learning_rate: Annotated[float, Field(gt=0)] = 5e-6
    """Peak learning rate of AdamW."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    """Weight decay of AdamW."""
    epochs: Count = 1
    """Passes over the examples."""
    order: Literal["shuffled", "as_curated"] = "shuffled"
    """Order of the blocks in each epoch; `as_curated` keeps that of the examples file."""
    batch_size: Count = 4
    """Blocks a step, over all processes."""
    block_tokens: Annotated[int, Field(ge=16)] = 1024
    """Tokens of a block; examples are packed into blocks and do not see each other."""
    warmup_steps: Annotated[int, Field(ge=0)] = 10
    """Steps in which the learning rate rises from zero; at most a quarter of all."""
    schedule: Literal["constant", "linear", "cosine"] = "linear"
    """How the learning rate falls after that."""
    loss_on: Literal["text", "completion"] = "text"
    """Whether an example's prompt is learnt too, as in the paper, or only what follows it."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """What is computed in; the weights that learn stay in float32. auto is bfloat16 on a GPU that
    computes in it, else float32."""
    gradient_accumulation_steps: Count = 1
    """Parts in which a step's blocks go through the model one after another, to need less memory;
    the gradient is that of the whole step."""
    gradient_checkpointing: bool = False
    """Whether activations are computed again in the backward pass instead of being kept."""
    held_back: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of the puzzles whose examples are not learnt but give `held_back_loss` after each
    epoch."""
    checkpoint_steps: Count = 200
    """Steps between checkpoints, from which training goes on when it was cut short, with the same
    losses."""
    tracker: str | None = None
    """A tracker of accelerate that is told the losses too: tensorboard, wandb, trackio, mlflow,
    ..., whose package is installed."""
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    """Gradients are clipped to this norm."""
    lora: LoraConfig = LoraConfig()


class EvaluateConfig(Section):
    """How Pass@k is measured on the held-out puzzles."""

    num_samples: Count = 16
    """Samples a puzzle; `n`."""
    temperature: Annotated[float, Field(gt=0)] = 0.8
    """Sampling temperature; the greedy solution is drawn and reported apart."""
    k: Annotated[tuple[Count, ...], Field(min_length=1)] = (1, 16)
    """The k of Pass@k; none may exceed num_samples."""
    epochs: Literal["last", "all", "dev"] = "last"
    """Which epochs of fine-tuning are measured on the held-out puzzles: the last, every one, or
    the one that was best on the dev puzzles by Pass@1, which the next round then starts from."""
    shard_size: Count = 32
    """Puzzles that are evaluated together: the unit of resuming."""


class DiversityConfig(Section):
    """How the variety of a round's puzzles is measured."""

    embeddings: bool = True
    """Whether the base model embeds them, for the map and the distance to earlier rounds."""
    max_embedded: Count = 2000
    """Puzzles of a round that are embedded, drawn at random."""
    warn_below: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Warn where a measure falls below this share of the round before's."""


class AblateConfig(Section):
    """What `selftrain ablate` compares: each arm trains the base model on its own data.

    An arm is one round; `rounds`, `finetune.start`, `verifier` and `refine` say nothing here.
    """

    arms: Annotated[tuple[str, ...], Field(min_length=1)] = (
        "base",
        "human",
        "verified",
        "unverified",
        "wrong",
        "noise-10",
        "noise-50",
        "noise-90",
    )
    """base, human, verified, unverified, wrong, noise-P (P percent of the examples wrong)."""
    num_seeds: Count = 3
    """Repetitions; each with puzzles, choice of data, training and evaluation of its own."""
    pool: Literal["each_seed", "shared"] = "each_seed"
    """Whether each seed proposes and solves puzzles of its own, or all take those of the first."""
    train_tokens: Count | None = None
    """Tokens each arm trains on; null takes what the scarcest arm has. It may be changed until the
    first arm is trained."""
    keep_models: bool = True
    """Whether the arms' weights stay once they are measured; false removes them, not the log."""
    generators: tuple[ModelConfig, ...] = ()
    """Models whose data train the base model, as in Table 1 of the paper; empty is itself."""
