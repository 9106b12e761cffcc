"""The configuration: a strict, frozen, typed tree, and the only place where defaults stand.

A file says what differs from the defaults, the command line may add `section.key=value`, and
whatever does not fit is refused with one sentence. Nothing here reads the environment.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from judge import Backend, Mode

_Count = Annotated[int, Field(ge=1, lt=2**63)]
PerRound = _Count | Annotated[tuple[_Count, ...], Field(min_length=1)]
"""One value for every round, or one value a round (the last one goes on)."""


class _Section(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


class PuzzlesConfig(_Section):
    """Where the puzzles come from."""

    train: str = "builtin"
    """`builtin`, a JSONL file, or `p3`, or `p3-all`, where a solution must pass on all instances
    of a problem; `p3:FOLDER` names the folder of P3's puzzles.json and split.json."""
    held_out: str = "builtin"
    """The same for the puzzles that Pass@k is measured on."""
    num_held_out: _Count | None = None
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


class ModelConfig(_Section):
    """A model, and the computer it runs on."""

    name: str = "builtin:tiny"
    """`builtin:tiny`, a local folder, a GGUF file, an id of the Hugging Face hub, or a server's
    model."""
    engine: Literal["transformers", "vllm"] = "transformers"
    """What samples in this process; vllm is the extra `selftrain[vllm]`, for CUDA. Training,
    likelihoods and embeddings are transformers' in any case."""
    server: str | Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Address of an OpenAI-compatible server that samples, such as http://localhost:8000/v1, or a
    list of them, which share the work.

    Null samples in this process. A model that is trained has none.
    """
    api: Literal["completions", "chat"] = "completions"
    """Which of the server's endpoints is asked; chat is for models that have no other."""
    samples_per_request: _Count = 1
    """Most completions of one prompt asked for in one request (`n`). A server that bills by tokens
    bills the prompt once a request; one that refuses so many is asked for fewer."""
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    """Most requests a minute to each server; null sends them as fast as they are answered."""
    dollars_per_million_tokens: (
        tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]] | None
    ) = None
    """The server's prices, of prompts and of completions, from which the cost is estimated."""
    api_key_variable: str = "OPENAI_API_KEY"
    """Environment variable that holds the server's key; the key itself is written nowhere."""
    revision: str | None = None
    """Commit or tag of a hub model; null takes its main branch."""
    trust_remote_code: bool = False
    """Whether a model that brings its own Python code may run it, with all your rights."""
    weights: Literal["safetensors", "any"] = "safetensors"
    """Whether weights may be pickled too, which can run code when they are loaded."""
    context_tokens: Annotated[int, Field(ge=64)] | None = None
    """Tokens of prompt and completion together; null takes the model's own limit, at most 2,048."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Precision of sampling; auto is bfloat16 on a chip that computes in it, else float32."""
    device: str = "auto"
    """auto, cpu, cuda, cuda:1, mps, ..."""
    batch_size: _Count = 128
    """Samples that are drawn together, fewer where memory runs out; of a server, requests that are
    under way together at each address."""

    @property
    def servers(self) -> tuple[str, ...]:
        """Give the addresses of `server`; none where this process samples."""
        if self.server is None:
            return ()
        return (self.server,) if isinstance(self.server, str) else self.server


class ProposeConfig(_Section):
    """How the model invents puzzles (section 3.1 of the paper)."""

    model: ModelConfig | None = None
    """Another model that proposes, the same in every round; null takes the one that learns."""
    num_proposals: PerRound = 1000
    """Completions a round; with `num_pairs`, the most that are tried."""
    num_pairs: PerRound | None = None
    """Where set, a round ends with the shard that brings this many unique verified pairs."""
    temperature: Annotated[float, Field(ge=0)] = 0.9
    """Sampling temperature."""
    max_new_tokens: _Count = 200
    """Longest puzzle, in tokens."""
    num_samples: _Count = 4
    """Completions of each prompt; fewer mean more variety, more mean more speed."""
    shard_size: _Count = 256
    """Proposals that go through propose, filter, solve and judge together: the unit of resuming."""


class FilterConfig(_Section):
    """Which proposals are kept (appendix C of the paper)."""

    mode: Literal["strict", "paper"] = "strict"
    """`paper` filters as the released code does: 5% of the proposals skip the checks of type and
    triviality, an f that raises NameError or returns what only counts as true is solved, and
    near-duplicates stay."""
    max_containment: Annotated[float, Field(gt=0, le=1)] = 0.75
    """Drop a proposal that shares this part of the shorter's 5-token runs with a held-out puzzle.

    One that differs from it in constants only is kept: a new instance of a known family.
    """
    fuel: _Count = 2_000_000_000
    """Instructions for one trivial answer."""


class SolveConfig(_Section):
    """How the model tries its own puzzles."""

    model: ModelConfig | None = None
    """Another model that solves, the same in every round; null takes the one that learns."""
    num_attempts: _Count = 8
    """Attempts a puzzle; `a` in the paper."""
    temperature: Annotated[float, Field(ge=0)] = 0.9
    """Sampling temperature."""
    max_new_tokens: _Count = 150
    """Longest solution, in tokens, in solving and in evaluation; functions of HumanEval have 512
    unless this is set, at most a quarter of the context and no less than 150."""
    num_few_shot: Annotated[int, Field(ge=0)] = 5
    """Train puzzles that are shown with their reference solutions before the one to solve."""


class JudgeConfig(_Section):
    """The limits of the judge, and where it works."""

    fuel: _Count = 4_000_000_000
    """Instructions for g, and again for f, in rounds."""
    evaluation_fuel: _Count = 20_000_000_000
    """The same in evaluation, about a second of native work."""
    memory_bytes: Annotated[int, Field(ge=2**26)] = 2**30
    """Memory of one instance."""
    mode: Mode = "screen"
    """Attempts at one puzzle in one instance first, or each alone; both accept the same.

    Evaluation always judges each alone.
    """
    num_workers: _Count = 2
    """Processes that judge."""
    backend: Backend = "loky"
    """Where they run: on this machine, or on a Ray or Dask cluster."""
    address: str | None = None
    """Address of that cluster; null starts one on this machine."""


class CurateConfig(_Section):
    """Which pairs are trained on."""

    verdicts: Literal["verified", "unverified", "wrong"] = "verified"
    """Pairs that passed; or, to compare, `m` random candidates of each puzzle whatever their
    verdict (section 4.2 of the paper), or of those that failed."""
    max_solutions: _Count = 8
    """Distinct solutions kept of one puzzle, shortest first; `m` in the paper."""
    max_pairs: PerRound | None = None
    """Most pairs of a round; null keeps all."""
    choose: Literal["random", "middle_first"] = "random"
    """Which pairs `max_pairs` keeps: any, or first those of puzzles solved about half the time,
    in that order, which `finetune.order: as_curated` keeps."""
    drop_always_solved: bool = False
    """Leave out puzzles that every attempt solved."""


class DecontaminateConfig(_Section):
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


class LoraConfig(_Section):
    """Low-rank adapters (PEFT)."""

    rank: _Count = 16
    """Rank of the update."""
    alpha: _Count = 32
    """Scale of the update is alpha / rank."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Dropout before the adapter."""
    target_modules: str | tuple[str, ...] = "all-linear"
    """Names of the layers that get an adapter."""


class FinetuneConfig(_Section):
    """How the generator learns from the verified pairs."""

    method: Literal["full", "lora"] = "full"
    """Train all weights, or low-rank adapters."""
    start: Literal["base", "previous"] = "base"
    """Train from the base model on all rounds' examples, or from the previous on the new ones."""
    learning_rate: Annotated[float, Field(gt=0)] = 5e-6
    """Peak learning rate of AdamW."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    """Weight decay of AdamW."""
    epochs: _Count = 1
    """Passes over the examples."""
    order: Literal["shuffled", "as_curated"] = "shuffled"
    """Order of the blocks in each epoch; `as_curated` keeps that of the examples file."""
    batch_size: _Count = 4
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
    gradient_accumulation_steps: _Count = 1
    """Parts in which a step's blocks go through the model one after another, to need less memory;
    the gradient is that of the whole step."""
    gradient_checkpointing: bool = False
    """Whether activations are computed again in the backward pass instead of being kept."""
    held_back: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of the puzzles whose examples are not learnt but give `held_back_loss` after each
    epoch."""
    checkpoint_steps: _Count = 200
    """Steps between checkpoints, from which training goes on when it was cut short, with the same
    losses."""
    tracker: str | None = None
    """A tracker of accelerate that is told the losses too: tensorboard, wandb, trackio, mlflow,
    ..., whose package is installed."""
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    """Gradients are clipped to this norm."""
    lora: LoraConfig = LoraConfig()


class EvaluateConfig(_Section):
    """How Pass@k is measured on the held-out puzzles."""

    num_samples: _Count = 16
    """Samples a puzzle; `n`."""
    temperature: Annotated[float, Field(gt=0)] = 0.8
    """Sampling temperature; the greedy solution is drawn and reported apart."""
    k: Annotated[tuple[_Count, ...], Field(min_length=1)] = (1, 16)
    """The k of Pass@k; none may exceed num_samples."""
    epochs: Literal["last", "all", "dev"] = "last"
    """Which epochs of fine-tuning are measured on the held-out puzzles: the last, every one, or
    the one that was best on the dev puzzles by Pass@1, which the next round then starts from."""
    shard_size: _Count = 32
    """Puzzles that are evaluated together: the unit of resuming."""


class DiversityConfig(_Section):
    """How the variety of a round's puzzles is measured."""

    embeddings: bool = True
    """Whether the base model embeds them, for the map and the distance to earlier rounds."""
    max_embedded: _Count = 2000
    """Puzzles of a round that are embedded, drawn at random."""
    warn_below: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Warn where a measure falls below this share of the round before's."""


class AblateConfig(_Section):
    """What `selftrain ablate` compares: each arm trains the base model on its own data.

    An arm is one round; `rounds`, `finetune.start` and `verifier` say nothing here.
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
    num_seeds: _Count = 3
    """Repetitions; each with puzzles, choice of data, training and evaluation of its own."""
    pool: Literal["each_seed", "shared"] = "each_seed"
    """Whether each seed proposes and solves puzzles of its own, or all take those of the first."""
    train_tokens: _Count | None = None
    """Tokens each arm trains on; null takes what the scarcest arm has. It may be changed until the
    first arm is trained."""
    keep_models: bool = True
    """Whether the arms' weights stay once they are measured; false removes them, not the log."""
    generators: tuple[ModelConfig, ...] = ()
    """Models whose data train the base model, as in Table 1 of the paper; empty is itself."""


class VerifierConfig(_Section):
    """A learned verifier (LEVER, Ni et al. 2023): what it is, what it reads, how it learns.

    The defaults of learning are the paper's, section 4.1 and appendix A, but for `tasks_per_step`,
    `candidates_per_step` and `check_every`, which are ours.
    """

    enabled: bool = False
    """Whether each round of a run trains one on the round's own verdicts."""
    use: Literal["watch", "judge", "keep"] = "watch"
    """What the verifier of the round before decides in a round: nothing, its worth is measured;
    `judge`, in which order a puzzle's candidates are judged, until `curate.max_solutions`
    distinct ones passed; `keep`, which of the solutions that passed are kept, likeliest first, as
    `judge` does too."""
    explore: Annotated[float, Field(gt=0, le=1)] = 0.25
    """With `judge`, the share of puzzles all of whose candidates are judged whatever the verifier
    says: what it learns from and is measured on, since no choice of its own has touched them."""
    model: ModelConfig = ModelConfig()
    """Encoder, encoder-decoder or decoder of transformers that it starts from."""
    output: Literal["auto", "head", "yes_no"] = "auto"
    """A head of two labels, or `yes` against `no` at the first step of a decoder; auto is the
    latter for an encoder-decoder, a head for others."""
    method: Literal["full", "lora"] = "full"
    """Train all weights, or low-rank adapters and the head."""
    lora: LoraConfig = LoraConfig()
    results: Literal["value", "type", "none"] = "value"
    """What is read of a program's result: the value, its type alone, or nothing."""
    programs: bool = True
    """Whether the program is read."""
    gold: bool = True
    """Whether a task's gold program, where it has one, is added to its candidates to learn from."""
    max_tokens: Annotated[int, Field(ge=64)] = 512
    """Tokens of task, program and result together. Where they are more, the task is cut first, to a
    quarter of what the result leaves, then the program; the result is shown shorter only beyond
    half a row."""
    learning_rate: Annotated[float, Field(gt=0)] = 5e-5
    """Peak learning rate of AdamW."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.1
    """Weight decay of AdamW."""
    steps: _Count = 10_000
    """Optimizer steps."""
    warmup_steps: Annotated[int, Field(ge=0)] = 100
    """Steps in which the learning rate rises from zero, at most a quarter of `steps`; it falls
    linearly after that."""
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    """Gradients are clipped to this norm."""
    tasks_per_step: _Count = 8
    """Tasks a step."""
    candidates_per_step: _Count = 8
    """Candidates of each of these tasks a step, drawn anew each time; 4 to 20 in the paper."""
    check_every: _Count = 500
    """Steps between looks at the dev tasks; the weights with the lowest loss there are kept."""
    likelihood: Literal["sum", "mean"] = "sum"
    """Whether the joint score takes the sum of a program's token log-probabilities, or their mean,
    as the paper does for GSM8k alone."""
    groups: bool = True
    """Whether programs of the same result pool their joint scores."""
    calibrator: Literal["platt", "temperature", "isotonic"] = "platt"
    """What is fitted on the dev tasks to make its probabilities those of being right."""


class LeverConfig(_Section):
    """What `selftrain lever` learns from and is measured on.

    A source of tasks is `puzzles`, those of this configuration, tried by `model` with the checker
    withheld; `run:FOLDER`, what a run tried; `humaneval:FILE`, `mbpp:FILE`, `questions:FILE`, in
    these formats; `pairs:FILE`, programs that are right, set against those of other puzzles; or a
    file of tasks. Of a file whose rows name a `split`, each takes its own.
    """

    train: str = "puzzles"
    """Tasks that the verifier learns from."""
    dev: str | None = None
    """Tasks that it is chosen and calibrated on; null sets `num_dev` of the train tasks aside."""
    test: str = "puzzles"
    """Tasks that rankings are measured on."""
    num_dev: _Count = 40
    """Train tasks set aside where `dev` is null."""
    dev_families: Literal["apart", "shared"] = "apart"
    """Whether these are whole families, so that dev asks for new ones as the strictest test would;
    or single tasks, so that it asks for new instances of known families, where the test does."""
    num_samples: _Count = 32
    """Candidates drawn of a task that comes without any; those with equal text are one."""
    temperature: Annotated[float, Field(gt=0)] = 0.8
    """Their sampling temperature; 0.6 for Codex, 0.8 for others in the paper."""
    logprobs: Literal["given", "model"] = "given"
    """Where log-probabilities of candidates come from: whoever drew them, or `model`, which reads
    each candidate once more, at temperature 1."""
    arms: Annotated[
        tuple[Literal["full", "no-execution", "type-only", "no-program", "no-gold"], ...],
        Field(min_length=1),
    ] = ("full", "no-execution")
    """Verifiers that are trained and compared; the first is the one that is laid open."""
    train_sizes: tuple[_Count, ...] = ()
    """Candidates a task to train further verifiers on, to see what more of them bring."""
    max_risk: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Share of wrong choices that is accepted: on the dev tasks a threshold is chosen by it, above
    which a choice is made at all."""


class LimitsConfig(_Section):
    """When a run stops by itself, to be resumed by the same command."""

    hours: Annotated[float, Field(gt=0)] | None = None
    """Hours this process may work."""
    disk_gb: Annotated[float, Field(gt=0)] | None = None
    """Gigabytes (1e9 bytes) the run directory may hold."""


class Config(_Section):
    """A whole experiment."""

    seed: Annotated[int, Field(ge=0)] = 0
    """Every draw of the run comes from this."""
    rounds: Annotated[int, Field(ge=0)] = 3
    """Rounds of self-training after the evaluation of the base model."""
    puzzles: PuzzlesConfig = PuzzlesConfig()
    model: ModelConfig = ModelConfig()
    propose: ProposeConfig = ProposeConfig()
    filter: FilterConfig = FilterConfig()
    solve: SolveConfig = SolveConfig()
    judge: JudgeConfig = JudgeConfig()
    curate: CurateConfig = CurateConfig()
    decontaminate: DecontaminateConfig = DecontaminateConfig()
    finetune: FinetuneConfig = FinetuneConfig()
    evaluate: EvaluateConfig = EvaluateConfig()
    diversity: DiversityConfig = DiversityConfig()
    ablate: AblateConfig = AblateConfig()
    verifier: VerifierConfig = VerifierConfig()
    lever: LeverConfig = LeverConfig()
    limits: LimitsConfig = LimitsConfig()


def of_round(value: PerRound, round_number: int) -> int:
    """Give a setting's value in a round, counted from 1."""
    if isinstance(value, int):
        return value
    return value[min(round_number, len(value)) - 1]
