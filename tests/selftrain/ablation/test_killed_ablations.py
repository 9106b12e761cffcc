"""Kill −9 in any stage of an ablation, and the same command again: the bytes of an undisturbed one."""

from dataclasses import replace
from pathlib import Path

from ablation.ablations import SMALL, shown
from ablation.killed_ablations import POINTS
from killing import run_program
from scripted import few_held_out, write_puzzles

SETTINGS = (
    "ablate.arms=[base, verified, wrong]",
    "ablate.num_seeds=2",
    "propose.num_proposals=12",
    "propose.shard_size=6",
    "solve.num_attempts=3",
)


def test_an_ablation_killed_in_every_stage_ends_with_the_same_bytes(
    tmp_path: Path, tiny_model: Path
) -> None:
    # Without reference solutions, which each of many starts would judge.
    bare = [
        write_puzzles(tmp_path / name, [replace(puzzle, solutions=()) for puzzle in puzzles])
        for name, puzzles in (("train.jsonl", shown()), ("held_out.jsonl", few_held_out()))
    ]
    settings = [
        *SMALL,
        *SETTINGS,
        f"puzzles.train={bare[0]}",
        f"puzzles.held_out={bare[1]}",
        f"model.name={tiny_model}",
    ]
    program = Path(__file__).with_name("killed_ablations.py")
    result = run_program(program, tmp_path, *settings)
    assert result["killed_at"] == list(POINTS.values())
    assert (result["again"], result["differing"]) == (0, [])
    assert {
        "1-pools/seed-1/3-candidates.jsonl",
        "2-data/seed-0/wrong.jsonl",
        "3-arms/verified/seed-1/5-model/model.safetensors",
        "3-arms/wrong/seed-0/6-eval.jsonl",
        "ablation.html",
        "results.jsonl",
    } <= set(result["files"])
