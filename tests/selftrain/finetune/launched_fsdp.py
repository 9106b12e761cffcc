"""A training whose weights lie in shares, by configs/accelerate/fsdp.yaml but on a CPU. A program.

    accelerate launch --config_file configs/accelerate/fsdp.yaml launched_fsdp.py MODEL FOLDER

accelerate has FSDP for chips only, though torch's runs by gloo: here it takes the CPU for one.
"""

import os
import sys
from pathlib import Path

import torch.distributed
from accelerate.state import DistributedType, PartialState

if __name__ == "__main__":
    os.environ["ACCELERATE_TORCH_DEVICE"] = "cpu"
    torch.distributed.init_process_group("gloo")
    PartialState._prepare_backend = lambda *_: ("gloo", DistributedType.MULTI_GPU)
    from launched_training import train_case

    for case in ("in parts", "adapter"):
        train_case(sys.argv[1], Path(sys.argv[2]), case)
