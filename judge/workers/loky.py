"""Workers that are processes of this machine, started and watched by joblib's loky.

They start fresh, never forked from a process that may hold an engine. Not here: other machines
(ray.py, dask.py).
"""

import os
from contextlib import closing
from functools import partial

from joblib import Parallel
from joblib.externals.loky.process_executor import BrokenProcessPool

from judge.workers.pool import Workers
from judge.workers.worker import end_with_parent


def loky_workers(num_workers: int) -> closing[Workers]:
    """Start workers when they are first needed, no more than this machine has processors."""
    open_pool = partial(
        Parallel,
        min(num_workers, os.cpu_count() or 1),
        backend="loky",
        batch_size=1,
        initializer=end_with_parent,
        initargs=(os.getpid(),),
    )
    return closing(Workers(open_pool, (BrokenProcessPool,)))
