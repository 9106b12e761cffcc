"""A gate with little time, and what it says of a candidate, by invariant."""

from collections.abc import Callable

import pytest

from judge import Limits
from selftrain.config import JudgeConfig, RefineConfig
from selftrain.judge import Judging
from selftrain.refine.gate.evidence import Evidence
from selftrain.refine.gate.gate import Gate
from selftrain.refine.tasks.task import RefineTask

JUDGING = Judging(Limits(fuel=1_000_000_000), "strict", False, JudgeConfig(num_workers=1))


@pytest.fixture(scope="session")
def gate() -> Gate:
    return Gate(JUDGING, RefineConfig().allowed_imports)


@pytest.fixture
def find(gate: Gate) -> Callable[[RefineTask, str], dict[str, Evidence]]:
    """Give each invariant's evidence of one candidate."""

    def look(task: RefineTask, source: str) -> dict[str, Evidence]:
        (report,) = gate.examine([(task, source)])
        return {one.invariant: one for one in report.evidence}

    return look


@pytest.fixture
def failed(
    find: Callable[[RefineTask, str], dict[str, Evidence]],
) -> Callable[[RefineTask, str], dict[str, str]]:
    """Give the details of the invariants that fail."""

    def look(task: RefineTask, source: str) -> dict[str, str]:
        found = find(task, source)
        return {name: one.detail for name, one in found.items() if one.status == "failed"}

    return look
