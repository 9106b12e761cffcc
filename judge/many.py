"""Judges many pairs: in order, streamed, each distinct pair of a batch once, on several cores.

A worker is a process of joblib's loky, started fresh (never forked from a process that may hold
an engine), which loads the compiled guest from the cache. A verdict does not depend on how many
there are. Memory stays flat: a batch is read, judged and handed out before the next one is read.
"""

import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from judge.pair import judge
from judge.records import DEFAULT_LIMITS, JudgeError, Limits, Verdict

if TYPE_CHECKING:
    from joblib import Parallel

BATCH_PAIRS = 512
"""Pairs a worker in a batch."""
CHUNK_PAIRS = 8
"""Pairs in one message to a worker: few, so that an endless loop delays few others."""
MAX_ATTEMPTS = 3
"""How often a batch is tried whose workers die."""

WATCH_SECONDS = 1.0
"""How often a worker looks whether its parent is still there."""

Pair = tuple[str, str]


def judge_many(
    pairs: Iterable[Pair], limits: Limits = DEFAULT_LIMITS, num_workers: int = 1
) -> Iterator[Verdict]:
    """Yield the verdict of each (f, g), in order; raise JudgeError if the judge cannot run."""
    if num_workers < 1:
        raise ValueError(f"num_workers is {num_workers}; it must be at least 1")
    num_workers = min(num_workers, os.cpu_count() or 1)
    source = iter(pairs)
    if num_workers == 1:
        while batch := list(islice(source, BATCH_PAIRS)):
            known: dict[Pair | str, Verdict] = {}
            for pair in batch:
                if key(pair) not in known:
                    known[key(pair)] = judge(*pair, limits)
                yield known[key(pair)]
        return
    yield from judge_in_workers(source, limits, num_workers)


def judge_in_workers(source: Iterator[Pair], limits: Limits, num_workers: int) -> Iterator[Verdict]:
    """Judge batch after batch in worker processes."""
    from joblib import Parallel

    from judge.engine import guest

    # Built here, once, rather than by every worker.
    guest()
    with Parallel(num_workers, backend="loky", initializer=end_with_parent) as parallel:
        while batch := list(islice(source, BATCH_PAIRS * num_workers)):
            distinct = {key(pair): pair for pair in batch}
            verdicts = judge_batch(parallel, list(distinct.values()), limits)
            known = dict(zip(distinct, verdicts, strict=True))
            yield from [known[key(pair)] for pair in batch]


def key(pair: Pair) -> Pair | str:
    """Say when two pairs are one: a row of JSON can hold lists, which have no hash."""
    return pair if all(isinstance(source, str) for source in pair) else repr(pair)


def judge_batch(parallel: "Parallel", distinct: list[Pair], limits: Limits) -> list[Verdict]:
    """Judge the pairs of one batch, again where a worker died on the way."""
    from joblib import delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    chunks = [distinct[at : at + CHUNK_PAIRS] for at in range(0, len(distinct), CHUNK_PAIRS)]
    for _ in range(MAX_ATTEMPTS):
        try:
            judged = parallel(delayed(judge_chunk)(chunk, limits) for chunk in chunks)
        except BrokenProcessPool as error:
            reason = error
            continue
        return [verdict for chunk in judged for verdict in chunk]
    raise JudgeError(
        f"workers of the judge died {MAX_ATTEMPTS} times in a batch of {len(distinct)} pairs: "
        f"{reason}. Is memory short? Try fewer workers"
    ) from reason


def judge_chunk(chunk: list[Pair], limits: Limits) -> list[Verdict]:
    """Judge a few pairs; this runs in a worker."""
    return [judge(f, g, limits) for f, g in chunk]


def end_with_parent() -> None:
    """Let this worker end soon after its parent does; loky's would wait for minutes or for ever.

    Ctrl-C reaches it too, but it is the parent's to answer.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
