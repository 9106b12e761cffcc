"""What is said where a cluster cannot be used, the same for Ray and for Dask.

Not here: a cluster (ray.py, dask.py).
"""

import socket

from judge.records import JudgeError
from judge.workers.pool import in_short

ANSWER_SECONDS = 15.0
"""How long a cluster may take to answer, and to show that it has workers."""


def missing(backend: str, module: str) -> JudgeError:
    """Return what to raise where an optional dependency is not there."""
    return JudgeError(
        f"judge.backend is {backend}, but {module} is not installed; "
        f"run `pip install selftrain[{backend}]`"
    )


def unreachable(address: str, error: Exception) -> JudgeError:
    """Return what to raise where a cluster does not answer."""
    return JudgeError(
        f"judge.address is {address}, but no cluster answers there: {in_short(error)}. Is it "
        "running, and may this machine reach it?"
    )


def reach(address: str) -> None:
    """Raise JudgeError unless something listens there; Ray and Dask would wait for long."""
    host, _, port = address.rpartition("//")[2].partition("/")[0].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS).close()
    except (OSError, ValueError) as error:
        raise unreachable(address, error) from error
