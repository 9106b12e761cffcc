"""The Accelerator of a training, of a generator's or a verifier's: one after another in a process.

Where a model lies is decided when it is loaded (models.py); how processes find each other, in
processes/.
"""

from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import GradientAccumulationPlugin


def make_accelerator(
    device: torch.device,
    *,
    bfloat16: bool = False,
    tracker: str | None = None,
    tracker_folder: Path | None = None,
) -> Accelerator:
    """Make one for a model that lies on `device`; what the training before it chose is forgotten.

    Weights stay in float32; with `bfloat16` they are computed with in that.
    """
    # accelerate keeps precision, device and FSDP as long as the process lives, and raises where
    # another precision is asked for. That processes have met is torch's to know, and stays.
    AcceleratorState._reset_state(reset_partial_state=True)
    if device.type == "cuda":
        torch.cuda.set_device(device)  # else accelerate would move the model to the first one
    return Accelerator(
        cpu=device.type == "cpu",
        mixed_precision="bf16" if bfloat16 else "no",
        # A step's parts are weighted where it is cut up; else accelerate would divide by what
        # ACCELERATE_GRADIENT_ACCUMULATION_STEPS says.
        gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=1),
        # The schedule is stepped once a step, however many processes there are.
        step_scheduler_with_optimizer=False,
        log_with=tracker,
        project_dir=None if tracker_folder is None else str(tracker_folder),
    )
