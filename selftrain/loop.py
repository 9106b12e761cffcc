"""One round of self-training is seven calls: propose, filter, solve, judge, curate, fine-tune, evaluate.

This follows Haluptzok, Bowers and Kalai, "Language Models Can Teach Themselves to Program Better" (2022). The first four
calls run shard by shard; `stage` does what a finished shard needs not do again. What a stage is lies in the file of its
name.
"""

from collections.abc import Iterator

from selftrain.config import of_round
from selftrain.curate import curate
from selftrain.evaluate import evaluate
from selftrain.experiment import Experiment
from selftrain.filter import filter_proposals, remember
from selftrain.finetune_stage import fine_tune_round
from selftrain.judge import judge_candidates
from selftrain.propose import propose
from selftrain.run_directory import RoundDirectory
from selftrain.solve import solve
